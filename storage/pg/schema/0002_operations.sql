-- What operators do and when things recur.

create sequence fs_audit_seq;
create table fs_audit (
	seq        bigint  primary key,
	at         timestamptz,
	by_user    text    not null,
	by_session text    not null,
	by_via     text    not null,
	op         text    not null,
	target     text    not null,
	reason     text    not null,
	result     text    not null,
	matched    integer not null,
	applied    integer not null,
	moved      json    not null -- what it has changed, before and after: for undo, and for people
);

create table fs_schedule (
	name  text primary key,
	state json not null
);

-- Planned runs that were recorded: none is recorded twice, by whichever member.
create table fs_tick (
	id       text primary key,
	schedule text not null,
	at       timestamptz not null
);
create index fs_tick_schedule on fs_tick (schedule, at, id);
