-- A store that several processes share: a log of commits, its rows as of some commit of it, and the payloads.

create table fs_store (
	alone    boolean primary key default true check (alone),
	instance text   not null default gen_random_uuid()::text, -- another one after the server was set back
	seq      bigint not null default 0,                       -- the commit that the rows are of
	cluster  text   not null default '',                      -- the server's data, and their history
	copied   timestamptz,                                     -- when another server was met last
	closed   text   not null default '',                      -- why no engine may work on it, what to do, and who has closed it
	note     bytea                                            -- of a demo, for those who join it
);
insert into fs_store default values;

create table fs_log (
	seq     bigint primary key,
	term    bigint not null,
	at      timestamptz not null default clock_timestamp(),
	rows    bytea not null,
	changes bytea not null
);
alter table fs_log alter column rows set storage external, alter column changes set storage external;

create table fs_row (
	tb text collate "C",
	k  bytea,
	v  bytea not null,
	primary key (tb, k)
);

create table fs_number (
	tb text primary key,
	n  bigint not null
);

create table fs_payload (
	match   text collate "C" not null,
	part    text   not null,
	month   text   not null,
	codec   text   not null,
	size    bigint not null,
	raw_len bigint not null,
	crc     bigint not null,
	body    bytea,
	json    json,
	primary key (match, part)
);
create index fs_payload_month on fs_payload (month);
alter table fs_payload alter column body set storage external;
-- Matches as JSON that can be asked for in SQL: text for text what Riot sent. Packed by lz4 one takes
-- 16 KB instead of 10; by PostgreSQL's own method it would be 31, and ten times slower to write, so a
-- server without lz4 keeps them as they arrived, like timelines, which would take 75 KB instead of 42.
do $$ begin
	alter table fs_payload alter column json set compression lz4;
exception when feature_not_supported then null;
end $$;

-- The processes that work on the store, and which of them leads.

-- One row. Its key is what writers of a term hold on to: epoch changes with each election and with
-- nothing else. A beat is a renewal: who sees none for long enough by a stopwatch of its own may
-- take over, whatever the clocks say.
create table fs_fleet (
	epoch    bigint primary key,
	holder   text   not null,
	beat     bigint not null,
	since    timestamptz not null default clock_timestamp(),
	expires  timestamptz not null,
	led_with text   not null default '' -- a fingerprint of the key that the fleet works with
) with (fillfactor = 10);
create unique index fs_fleet_one on fs_fleet ((true));
insert into fs_fleet (epoch, holder, beat, expires) values (0, '', 0, '-infinity');

create table fs_member (
	id       text    primary key, -- random, of one start of a program
	host     text    not null,
	version  text    not null,
	key_fp   text    not null,    -- a fingerprint of its API key, which is in no table
	may_lead boolean not null,
	works    boolean not null default true, -- it makes calls for who leads
	ahead_ms bigint  not null,    -- by how much its clock is ahead of the database's
	cut_off  timestamptz,         -- since when it cannot reach Riot
	in_hand  integer not null default 0, -- attempts that it carries out whose calls nobody else makes
	late     bigint  not null default 0, -- results it has brought whose jobs had moved on
	since    timestamptz not null default clock_timestamp(),
	seen     timestamptz not null default clock_timestamp()
) with (fillfactor = 50);

-- Who has led, and how long: the last hundred terms.
create table fs_term (
	epoch  bigint  primary key,
	holder text    not null,
	host   text    not null,
	since  timestamptz not null,
	until  timestamptz,                   -- null while it goes on
	lapsed boolean not null default false -- it was not given back: its member was gone
);

-- The calls to Riot that the leader lets go for members to make, one for each row of River of kind farsight.call, whose
-- id it has. A member begins one at most, before it expires. The last day's are kept, without address and answer.
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
