-- A remake ended before it began: it is neither won nor lost, although Riot lets one team win it.
create or replace view participants as
	select s.match as match_id, index, s.puuid, riot_id, a.account as account_id, champion, team, case when not m.remake then won end as won, kills, deaths, assists, m.played, m.queue_id, m.mode
	from fs_seat s join fs_match m on m.id = s.match left join fs_puuid a on a.puuid = s.puuid;
