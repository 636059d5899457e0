-- Accounts, their runs and their matches. Ids are compared by their bytes, as in every store of
-- ours.

create table fs_account (
	id         text collate "C" primary key,
	game_name  text not null,
	tag_line   text not null,
	platform   text not null,
	puuids     json not null, -- by key project
	resolved   timestamptz,
	tracked    boolean not null,
	tags       json not null,
	policy     json not null,
	status     text not null,
	run        text not null,
	coverage   json not null,
	created    timestamptz,
	updated    timestamptz,
	last_sync  timestamptz,
	last_error text not null,
	home       boolean not null,
	name_key   text not null, -- name and tag as they are compared
	tag_key    text not null,
	search_key text not null  -- the Riot ID in lower case
);
create index fs_account_name on fs_account (name_key, tag_key);

create table fs_puuid (
	puuid   text primary key,
	account text collate "C" not null
);
create index fs_puuid_account on fs_puuid (account);

-- What Riot last answered for a Riot ID.
create table fs_puuid_cache (
	project text not null,
	name    text not null,
	tag     text not null,
	puuid   text not null,
	until   timestamptz,
	primary key (project, name, tag)
);

create table fs_run (
	id                text collate "C" primary key,
	account           text collate "C" not null,
	job               bigint,
	mode              text    not null,
	count             integer not null,
	floor             timestamptz,
	timelines         text    not null,
	filter            text    not null,
	force             boolean not null,
	before            text    not null,
	phase             text    not null,
	anchor            timestamptz,
	list              integer not null,
	list_from         integer not null,
	start             integer not null,
	pages             integer not null,
	staged            integer not null,
	old_part          boolean not null,
	listed            integer not null,
	had               integer not null,
	too_old           integer not null,
	timelines_had     integer not null,
	timelines_too_old integer not null,
	timelines_none    integer not null,
	lost              integer not null,
	timelines_lost    integer not null,
	left_alone        integer not null,
	timelines_left    integer not null,
	triggered         timestamptz,
	started           timestamptz,
	finished          timestamptz,
	closed            timestamptz,
	resumed           integer not null,
	resumed_at        integer not null,
	result            text    not null,
	error             text    not null,
	asked_by          text    not null,
	own_calls         integer not null default 0, -- of the job's own attempts: its children count in their groups
	own_throttled     integer not null default 0
) with (fillfactor = 70);
create index fs_run_job on fs_run (job);

create table fs_staged (
	run     text collate "C" not null,
	n       bigint generated always as identity,
	match   text collate "C" not null,
	too_old boolean not null,
	primary key (run, match)
);

create table fs_coverage (
	owner       text collate "C" not null, -- an account, or a run in the making
	list        text not null,
	head        text not null,
	head_at     timestamptz,
	floor       timestamptz,
	reached_end boolean not null,
	timelines   text not null,
	primary key (owner, list)
);

create table fs_cache (
	account text collate "C" not null,
	list    text not null,
	at      timestamptz,
	floor   timestamptz,
	whole   boolean not null,
	ids     json not null,
	primary key (account, list)
);

create table fs_tag_policy (
	tag    text primary key,
	policy json not null
);

-- The order of the feeds: by transaction and then by number. A transaction that is older than
-- all that are under way can add nothing any more, so what it has done is read, and nothing
-- comes before it later. By the number alone a reader would miss what is committed late.
create sequence fs_feed;

create table fs_match (
	id                       text collate "C" primary key,
	status                   text    not null,
	attempts                 integer not null,
	fetched_at               timestamptz,
	last_attempt_at          timestamptz,
	last_error               text    not null,
	last_class               text    not null,
	month                    text    not null,
	codec                    text    not null,
	size                     bigint  not null,
	raw_len                  bigint  not null,
	crc                      bigint  not null,
	cancelled                smallint not null,
	timeline_status          text    not null,
	timeline_attempts        integer not null,
	timeline_fetched_at      timestamptz,
	timeline_last_attempt_at timestamptz,
	timeline_last_error      text    not null,
	timeline_last_class      text    not null,
	timeline_month           text    not null,
	timeline_codec           text    not null,
	timeline_size            bigint  not null,
	timeline_raw_len         bigint  not null,
	timeline_crc             bigint  not null,
	timeline_cancelled       smallint not null,
	played                   timestamptz,
	duration_us              bigint  not null,
	queue_id                 integer not null,
	mode                     text    not null,
	patch                    text    not null,
	aborted                  boolean not null,
	remake                   boolean not null,
	participants             integer not null,
	listed                   timestamptz,
	feed_xid                 xid8 default pg_current_xact_id(),
	feed_id                  bigint default nextval('fs_feed'),
	timeline_xid             xid8,
	timeline_id              bigint,
	seats_xid                xid8,
	seats_id                 bigint
) with (fillfactor = 80);
create index fs_match_feed on fs_match (feed_xid, feed_id);
create index fs_match_timeline_feed on fs_match (timeline_xid, timeline_id) where timeline_xid is not null;
create index fs_match_seats_feed on fs_match (seats_xid, seats_id) where seats_xid is not null;
create index fs_match_failed on fs_match (status, last_attempt_at) where status in ('temporary_failure', 'permanently_unfetchable');

create table fs_seat (
	match    text collate "C" not null,
	index    integer not null,
	puuid    text    not null,
	riot_id  text    not null,
	champion text    not null,
	team     integer not null,
	won      boolean not null,
	kills    integer not null,
	deaths   integer not null,
	assists  integer not null,
	primary key (match, index)
);
create index fs_seat_puuid on fs_seat (puuid);

-- A match in the list of an account, and when it was played.
create table fs_listing (
	account text collate "C" not null,
	match   text collate "C" not null,
	played  timestamptz,
	primary key (account, match)
);
create index fs_listing_match on fs_listing (match);

create table fs_gap (
	match   text collate "C" not null,
	run     text collate "C" not null,
	part    text collate "C" not null,
	account text not null,
	job     text not null,
	left_alone boolean not null,
	primary key (match, run, part)
);

-- Riot's answers, as they arrived. They are compressed already.
create table fs_payload (
	match   text collate "C" not null,
	part    text   not null,
	month   text   not null,
	codec   text   not null,
	size    bigint not null,
	raw_len bigint not null,
	crc     bigint not null,
	body    bytea  not null,
	primary key (match, part)
);
alter table fs_payload alter column body set storage external;

create table fs_rank (
	account  text collate "C" not null,
	queue    text collate "C" not null,
	at       timestamptz not null,
	unranked boolean not null,
	tier     text    not null,
	division text    not null,
	points   integer not null,
	wins     integer not null,
	losses   integer not null,
	unsure   boolean not null,
	feed_xid xid8 default pg_current_xact_id(),
	feed_id  bigint default nextval('fs_feed'),
	primary key (account, queue, at)
);
create index fs_rank_feed on fs_rank (feed_xid, feed_id);

create table fs_report (
	account text collate "C" primary key,
	report  json not null
);
create table fs_weekly (
	week   text collate "C" primary key, -- its Monday
	report json not null
);

alter table fs_job_ended add column feed_xid xid8 default pg_current_xact_id(), add column feed_id bigint default nextval('fs_feed');
create index fs_job_ended_feed on fs_job_ended (feed_xid, feed_id);

-- Who keeps a cursor of a feed keeps with it which store it is of.
insert into fs_state (name, blob) values ('instance', convert_to(gen_random_uuid()::text, 'UTF8'));
