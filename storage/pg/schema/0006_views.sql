-- What other programs read: names and columns as in exports, which stay as they are. Tables may
-- change with any version.

-- The id of a job as people write it: a letter for the number of digits, and the digits.
create function fs_id(n bigint) returns text language sql immutable parallel safe
	as $$ select chr(96 + length(n::text)) || n $$;

create view matches as
	select m.id as match_id, status, attempts, played, nullif(duration_us, 0) * interval '1 microsecond' as duration, queue_id, mode, patch,
		participants, remake, aborted, fetched_at, last_attempt_at, last_error, last_class, timeline_status, listed,
		p.codec, p.size as bytes, p.raw_len as raw_bytes, p.body as payload
	from fs_match m left join fs_payload p on p.match = m.id and p.part = 'match';

create view timelines as
	select m.id as match_id, timeline_status as status, timeline_attempts as attempts, played, timeline_fetched_at as fetched_at,
		timeline_last_attempt_at as last_attempt_at, timeline_last_error as last_error, timeline_last_class as last_class,
		p.codec, p.size as bytes, p.raw_len as raw_bytes, p.body as payload
	from fs_match m left join fs_payload p on p.match = m.id and p.part = 'timeline';

create view participants as
	select s.match as match_id, index, s.puuid, riot_id, a.account as account_id, champion, team, won, kills, deaths, assists, m.played, m.queue_id, m.mode
	from fs_seat s join fs_match m on m.id = s.match left join fs_puuid a on a.puuid = s.puuid;

create view accounts as
	select id as account_id, game_name || '#' || tag_line as riot_id, platform, tracked, tags, policy, status, run as run_id,
		created, updated, last_sync, last_error
	from fs_account;

create view runs as
	select r.id as run_id, account as account_id, fs_id(job) as job_id, mode, timelines as timelines_wanted, phase, result, error, listed, had,
		lost, too_old, coalesce(m.total, 0) as matches, coalesce(m.done, 0) as matches_stored, coalesce(t.total, 0) as timelines, coalesce(t.done, 0) as timelines_stored,
		own_calls + coalesce(m.calls, 0) + coalesce(t.calls, 0) as calls, own_throttled + coalesce(m.throttled, 0) + coalesce(t.throttled, 0) as rate_limited,
		triggered, started, finished, asked_by as by
	from fs_run r left join fs_group m on m.parent = r.job and m.grp = 1 left join fs_group t on t.parent = r.job and t.grp = 2;

create view ranks as
	select account as account_id, queue, at, unranked, tier, division, points, wins, losses from fs_rank where not unsure;

create view jobs as
	select fs_id(id) as id, kind, queue, key, owner, state, hold, due, priority, phase, round, tries, attempts, holds, args, class, last_error,
		asked_by as by, bytes, created, started, finished from fs_job
	union all
	select fs_id(id), kind, queue, key, owner, state, hold, due, priority, phase, round, tries, attempts, holds, args, class, last_error,
		asked_by, bytes, created, started, finished from fs_job_ended;

create view attempts as
	select fs_id(job) as job_id, owner, kind, number, round, try, phase, started, ended, verb, nullif(hold, '') as hold, class, error, status,
		queued_us * interval '1 microsecond' as queued, paced_us * interval '1 microsecond' as paced, limiter_us * interval '1 microsecond' as limiter,
		http_us * interval '1 microsecond' as http, next, decision
	from fs_attempt;

create view calls as
	select job_id, owner, kind, started, ended, status, class, error, queued, paced, limiter, http from attempts where status <> 0 or http > interval '0';

create view reports as select account as account_id, report from fs_report;

-- Who reads them, if this role may make one. It may read nothing else, and write nothing.
do $$ begin
	create role farsight_reader nologin;
exception when duplicate_object or unique_violation or insufficient_privilege then null;
end $$;
do $$ begin
	if exists (select from pg_roles where rolname = 'farsight_reader') then
		execute format('grant usage on schema %I to farsight_reader', current_schema());
		grant select on matches, timelines, participants, accounts, runs, ranks, jobs, attempts, calls, reports to farsight_reader;
	end if;
end $$;
