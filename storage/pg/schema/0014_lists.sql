-- What of a list is proven, and when it was last read from its head to its end.
alter table fs_run add ends integer not null default 0, add looks integer not null default 0,
	add again boolean not null default false, add mingled boolean not null default false,
	add unaskable integer not null default 0, add whole boolean not null default false;
alter table fs_staged add list integer not null default 0;
alter table fs_coverage add walked timestamptz;
