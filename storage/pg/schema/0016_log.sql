-- The log of a store that several processes share, and its rows as of some commit of it.
create table fs_store (
	alone    boolean primary key default true check (alone),
	instance text not null,
	seq      bigint not null default 0
);
insert into fs_store (instance) select coalesce((select convert_from(blob, 'UTF8') from fs_state where name = 'instance'), gen_random_uuid()::text);

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
