-- The views that have the columns of exports (docs/data.md), behind those of their own. {{matches}} and {{participants}}
-- are those columns, made with their tables by told.go. Carried out again with each version.

create or replace view matches as
	select m.id as match_id, status, attempts, played, nullif(duration_us, 0) * interval '1 microsecond' as duration, queue_id, mode, patch,
		participants, remake, aborted, fetched_at, last_attempt_at, last_error, last_class, timeline_status, listed,
		p.codec, p.size as bytes, p.raw_len as raw_bytes, p.body as payload, p.json, {{matches}}
	from fs_match m left join fs_payload p on p.match = m.id and p.part = 'match' left join fs_told_matches told on told.match_id = m.id;

-- A remake ended before it began: it is neither won nor lost, although Riot lets one team win it.
create or replace view participants as
	select m.id as match_id, s.index, s.puuid, riot_id, a.account as account_id, champion, team, case when not m.remake then won end as won,
		kills, deaths, assists, m.played, m.queue_id, m.mode, team as team_id, {{participants}}
	from fs_seat s join fs_match m on m.k = s.k left join fs_puuid a on a.puuid = s.puuid
		left join fs_told_participants told on told.match_id = m.id and told.index = s.index;

create or replace view ranks as
	select r.account as account_id, queue, at, unranked, tier, division, points, wins, losses, coalesce(a.riot_id, p.riot_id) as riot_id,
		coalesce(a.platform, p.platform) as platform, nullif(coalesce(a.puuid, p.puuid), '') as puuid
	from fs_rank r left join fs_account a on a.id = r.account left join fs_player p on p.id = r.account;

create or replace view players as
	select p.id as account_id, nullif(p.riot_id, '') as riot_id, p.platform, p.puuid, c.name as collection, p.found as found_at
	from fs_player p left join fs_collection c on c.id = p.collection where p.puuid <> '';

create or replace view jobs as
	select fs_id(id) as id, kind, queue, key, owner, state, hold, due, priority, phase, round, tries, attempts, holds, args,
		coalesce(class, '') as class, coalesce(last_error, '') as last_error, asked_by as by, bytes, created, started, finished,
		fs_id(id) as job_id, coalesce(crashes, 0) as crashes, created as created_at, started as started_at, finished as finished_at
	from fs_job_state join fs_job_spec using (k) left join fs_job_error using (k)
	union all
	select fs_id(id), kind, queue, key, owner, state, hold, due, priority, phase, round, tries, attempts, holds, args, class, last_error,
		asked_by, bytes, created, started, finished, fs_id(id), coalesce(crashes, 0), created, started, finished from fs_job_ended;

-- What Riot told goes with its payload, and before another one comes in its place.
create or replace function fs_untell() returns trigger language plpgsql set search_path from current as $$ begin
	delete from fs_told_matches where match_id = old.match;
	delete from fs_told_participants where match_id = old.match;
	return coalesce(new, old);
end $$;

create or replace trigger fs_untell before update or delete on fs_payload for each row when (old.part = 'match') execute function fs_untell();

-- Who reads them, if this role may make one. It may read nothing else, and write nothing.
do $$ begin
	create role farsight_reader nologin;
exception when duplicate_object or unique_violation or insufficient_privilege then null;
end $$;
do $$ begin
	if exists (select from pg_roles where rolname = 'farsight_reader') then
		execute format('grant usage on schema %I to farsight_reader', current_schema());
		grant select on matches, timelines, participants, accounts, runs, ranks, players, jobs, attempts, calls, reports to farsight_reader;
	end if;
end $$;
