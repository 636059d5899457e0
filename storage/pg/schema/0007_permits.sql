-- The calls to Riot that the leader lets go for members to make: each is a job at the revision of
-- its claim. A member begins one at most, before it expires. The last day's are kept.
create table fs_permit (
	job        bigint  not null,
	rev        bigint  not null,
	epoch      bigint  not null,  -- the term in which it was let go
	host       text    not null,
	method     text    not null,
	key_fp     text    not null,  -- a fingerprint of the key that the call is counted for
	granted    timestamptz not null default clock_timestamp(),
	expires    timestamptz not null default clock_timestamp() + interval '5 seconds',
	member     text    not null default '',
	begun      timestamptz,
	ended      timestamptz,
	how        text    not null default '', -- it ended: answered, unused, lost
	ago_us     bigint  not null default 0,  -- answered: from the first byte to the report, by the member's stopwatch
	status     integer not null default 0,
	headers    json,                        -- those that tell of limits
	class      text    not null default '',
	latency_us bigint  not null default 0,
	bytes      bigint  not null default 0,
	primary key (job, rev)
) with (fillfactor = 70);
create index fs_permit_open on fs_permit (granted) where ended is null;
create index fs_permit_granted on fs_permit (granted);
