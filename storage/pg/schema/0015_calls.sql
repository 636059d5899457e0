-- The calls to Riot that the leader lets go for members to make, one for each row of River of kind farsight.call, whose
-- id it has. A member begins one at most, before it expires. The last day's are kept, without address and answer.
drop table fs_permit;
create table fs_call (
	id      bigint  primary key,
	epoch   bigint  not null,                -- the term in which it was let go
	job     bigint  not null,                -- whose work it is; 0 = no job's
	host    text    not null,
	method  text    not null,
	path    text    not null,                -- '' once its answer was read: it may name a player
	key_fp  text    not null,                -- a fingerprint of the key that it is counted for
	granted timestamptz not null default clock_timestamp(),
	expires timestamptz not null default clock_timestamp() + interval '2 seconds',
	member  text    not null default '',
	begun   timestamptz,
	ended   timestamptz,
	how     text    not null default '',     -- it ended: answered, unused, lost
	status  integer not null default 0,
	headers json,
	body    bytea,                           -- packed as the headers say; null once it was read
	class   text    not null default '',     -- of the failure
	said    text    not null default ''      -- by the member, of the failure
);
create index fs_call_open on fs_call (epoch) where ended is null;
create index fs_call_granted on fs_call (granted);
