-- What says of a transaction whose connection was lost at its commit what became of it: the last
-- one of each connection leaves its token.
create table fs_commit (
	connection text   primary key,
	token      bigint not null,
	at         timestamptz not null default clock_timestamp()
) with (fillfactor = 50);
