-- The processes that work on one schema, and which of them leads.

-- One row. Its key is what writers of a term hold on to: epoch changes with each election and with
-- nothing else. A beat is a renewal: who sees none for long enough by a stopwatch of its own may
-- take over, whatever the clocks say.
create table fs_fleet (
	epoch   bigint primary key,
	holder  text   not null,
	beat    bigint not null,
	since   timestamptz not null default clock_timestamp(),
	expires timestamptz not null
) with (fillfactor = 10);
create unique index fs_fleet_one on fs_fleet ((true));
insert into fs_fleet (epoch, holder, beat, expires) values (0, '', 0, '-infinity');

create table fs_member (
	id       text    primary key, -- random, of one start of a program
	host     text    not null,
	version  text    not null,
	key_fp   text    not null,    -- a fingerprint of its API key, which is in no table
	may_lead boolean not null,
	ahead_ms bigint  not null,    -- by how much its clock is ahead of the database's
	since    timestamptz not null default clock_timestamp(),
	seen     timestamptz not null default clock_timestamp()
) with (fillfactor = 50);
