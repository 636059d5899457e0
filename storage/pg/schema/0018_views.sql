-- What other programs read. The views' names and columns stay as they are (docs/sql.md); these tables below them may
-- change with any version. They have what the views show of fs_row, and are written with it: k is the key of the row
-- there that a row here is of, by which it goes when that changes.

create table fs_match (
	k                        bytea primary key,
	id                       text collate "C",
	status                   text,
	attempts                 integer,
	fetched_at               timestamptz,
	last_attempt_at          timestamptz,
	last_error               text,
	last_class               text,
	timeline_status          text,
	timeline_attempts        integer,
	timeline_fetched_at      timestamptz,
	timeline_last_attempt_at timestamptz,
	timeline_last_error      text,
	timeline_last_class      text,
	played                   timestamptz,
	duration_us              bigint,
	queue_id                 integer,
	mode                     text,
	patch                    text,
	aborted                  boolean,
	remake                   boolean,
	participants             integer,
	listed                   timestamptz
);
create index fs_match_id on fs_match (id);
create index fs_match_played on fs_match (played);

-- Of one match: k is the match's there, too.
create table fs_seat (
	k        bytea not null,
	index    integer,
	puuid    text,
	riot_id  text,
	champion text,
	team     integer,
	won      boolean,
	kills    integer,
	deaths   integer,
	assists  integer
);
create index fs_seat_match on fs_seat (k);
create index fs_seat_puuid on fs_seat (puuid);

create table fs_account (
	k          bytea primary key,
	id         text collate "C",
	riot_id    text,
	platform   text,
	tracked    boolean,
	tags       json,
	policy     json,
	status     text,
	run        text,
	created    timestamptz,
	updated    timestamptz,
	last_sync  timestamptz,
	last_error text,
	puuid      text
);
create index fs_account_id on fs_account (id);

create table fs_player (
	k        bytea primary key,
	id       text collate "C",
	riot_id  text,
	platform text,
	puuid    text
);
create index fs_player_id on fs_player (id);

create table fs_puuid (
	k       bytea primary key,
	puuid   text,
	account text collate "C"
);
create index fs_puuid_puuid on fs_puuid (puuid);
create index fs_puuid_account on fs_puuid (account);

create table fs_run (
	k         bytea primary key,
	id        text collate "C",
	account   text collate "C",
	job       bigint,
	mode      text,
	timelines text,
	phase     text,
	result    text,
	error     text,
	listed    integer,
	had       integer,
	lost      integer,
	too_old   integer,
	triggered timestamptz,
	started   timestamptz,
	finished  timestamptz,
	asked_by  text
);
create index fs_run_id on fs_run (id);
create index fs_run_account on fs_run (account);

-- What the job of a run has called itself, its number being k, and its groups, with the number of the group behind it.
create table fs_run_calls (
	k         bytea primary key,
	calls     integer,
	throttled integer
);
create table fs_group (
	k         bytea primary key,
	total     integer,
	done      integer,
	calls     integer,
	throttled integer
);

create table fs_rank (
	k        bytea primary key,
	account  text collate "C",
	queue    text collate "C",
	at       timestamptz,
	unranked boolean,
	tier     text,
	division text,
	points   integer,
	wins     integer,
	losses   integer
);
create index fs_rank_account on fs_rank (account, queue, at);

-- A live job in three parts, and an ended one in one; k is its number.
create table fs_job_state (
	k        bytea primary key,
	id       bigint,
	state    text,
	hold     text,
	due      timestamptz,
	phase    integer,
	round    integer,
	tries    integer,
	attempts integer,
	holds    integer,
	asked_by text,
	bytes    bigint,
	started  timestamptz,
	finished timestamptz
);
create table fs_job_spec (
	k        bytea primary key,
	kind     text,
	queue    text,
	key      text,
	owner    text,
	priority smallint,
	args     json,
	created  timestamptz
);
create table fs_job_error (
	k          bytea primary key,
	class      text,
	last_error text
);
create table fs_job_ended (
	k          bytea primary key,
	id         bigint,
	kind       text,
	queue      text,
	key        text,
	owner      text,
	state      text,
	hold       text,
	due        timestamptz,
	priority   smallint,
	phase      integer,
	round      integer,
	tries      integer,
	attempts   integer,
	holds      integer,
	args       json,
	class      text,
	last_error text,
	asked_by   text,
	bytes      bigint,
	created    timestamptz,
	started    timestamptz,
	finished   timestamptz
);
create index fs_job_ended_state on fs_job_ended (state, finished) where state <> 'completed';

create table fs_attempt (
	k          bytea primary key,
	job        bigint,
	number     integer,
	round      integer,
	try        integer,
	phase      integer,
	started    timestamptz,
	ended      timestamptz,
	verb       text,
	hold       text,
	class      text,
	error      text,
	status     integer,
	queued_us  bigint,
	paced_us   bigint,
	limiter_us bigint,
	http_us    bigint,
	next       timestamptz,
	decision   text
);
create index fs_attempt_ended on fs_attempt (ended);

create table fs_report (
	k       bytea primary key,
	account text collate "C",
	report  json
);

-- The id of a job as people write it: a letter for the number of digits, and the digits.
create function fs_id(n bigint) returns text language sql immutable parallel safe
	as $$ select chr(96 + length(n::text)) || n $$;

create view timelines as
	select m.id as match_id, timeline_status as status, timeline_attempts as attempts, played, timeline_fetched_at as fetched_at,
		timeline_last_attempt_at as last_attempt_at, timeline_last_error as last_error, timeline_last_class as last_class,
		p.codec, p.size as bytes, p.raw_len as raw_bytes, p.body as payload
	from fs_match m left join fs_payload p on p.match = m.id and p.part = 'timeline';

create view accounts as
	select id as account_id, riot_id, platform, tracked, tags, policy, status, run as run_id, created, updated, last_sync, last_error
	from fs_account;

-- Players of collections have runs, too, and are no accounts.
create view runs as
	select r.id as run_id, account as account_id, fs_id(job) as job_id, mode, timelines as timelines_wanted, phase, result, error, listed, had,
		lost, too_old, coalesce(m.total, 0) as matches, coalesce(m.done, 0) as matches_stored, coalesce(t.total, 0) as timelines,
		coalesce(t.done, 0) as timelines_stored, coalesce(o.calls, 0) + coalesce(m.calls, 0) + coalesce(t.calls, 0) as calls,
		coalesce(o.throttled, 0) + coalesce(m.throttled, 0) + coalesce(t.throttled, 0) as rate_limited,
		triggered, started, finished, asked_by as by
	from fs_run r left join fs_run_calls o on o.k = int8send(r.job) left join fs_group m on m.k = int8send(r.job) || '\x01'
		left join fs_group t on t.k = int8send(r.job) || '\x02'
	where exists (select from fs_account a where a.id = r.account);

create view attempts as
	select fs_id(a.job) as job_id, coalesce(l.owner, e.owner, '') as owner, coalesce(l.kind, e.kind, '') as kind, a.number, a.round, a.try, a.phase,
		a.started, a.ended, a.verb, nullif(a.hold, '') as hold, a.class, a.error, a.status, a.queued_us * interval '1 microsecond' as queued,
		a.paced_us * interval '1 microsecond' as paced, a.limiter_us * interval '1 microsecond' as limiter,
		a.http_us * interval '1 microsecond' as http, a.next, a.decision
	from fs_attempt a left join fs_job_spec l on l.k = int8send(a.job) left join fs_job_ended e on e.k = int8send(a.job);

create view calls as
	select job_id, owner, kind, started, ended, status, class, error, queued, paced, limiter, http from attempts where status <> 0 or http > interval '0';

create view reports as select account as account_id, report from fs_report;
