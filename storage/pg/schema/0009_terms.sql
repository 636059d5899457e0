-- Who has led, and how long: the last hundred terms.
create table fs_term (
	epoch  bigint  primary key,
	holder text    not null,
	host   text    not null,
	since  timestamptz not null,
	until  timestamptz,                   -- null while it goes on
	lapsed boolean not null default false -- it was not given back: its member was gone
);
