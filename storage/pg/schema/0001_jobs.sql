-- Jobs, their families and what is told of them. States, holds, verbs and marks are words, as
-- everywhere where people read them; an instant that is not known is null, a text never is.

-- The live ones: a few thousand rows that change with every move, so pages keep room for the
-- next version of a row beside this one.
create sequence fs_job_id;
create table fs_job (
	id           bigint      primary key,
	rev          bigint      not null,
	kind         text        not null,
	queue        text        not null,
	key          text        not null,
	lock         text        not null,
	owner        text        not null,
	args         json,
	priority     smallint    not null,
	policy       text        not null,
	state        text        not null,
	hold         text        not null,
	due          timestamptz,
	front        boolean     not null,
	phase        integer     not null,
	round        integer     not null,
	tries        integer     not null,
	attempts     integer     not null,
	holds        integer     not null,
	crashes      integer     not null,
	has_parents  boolean     not null,
	waits_for    integer     not null,
	cancel_asked boolean     not null,
	boot         text        not null,
	worker       integer     not null,
	asked_by     text        not null,
	bytes        bigint      not null,
	class        text        not null,
	last_error   text        not null,
	created      timestamptz,
	started      timestamptz,
	finished     timestamptz,
	failed       json
) with (fillfactor = 70);
create unique index fs_job_key on fs_job (key) where key <> '';
create index fs_job_owner on fs_job (owner, id) where owner <> '';

create table fs_job_ended (like fs_job, primary key (id));
create index fs_job_ended_key on fs_job_ended (key, id) where key <> '';
create index fs_job_ended_owner on fs_job_ended (owner, id) where owner <> '';
create index fs_job_ended_state on fs_job_ended (state, queue, id) where state <> 'completed';

-- One closed attempt; number 0 is a hold. External ids are looked for of calls alone: there is
-- one per call to Riot, and nobody asks for an old one.
create table fs_attempt (
	id         bigint      generated always as identity primary key,
	job        bigint      not null,
	owner      text        not null,
	kind       text        not null,
	number     integer     not null,
	round      integer     not null,
	try        integer     not null,
	phase      integer     not null,
	rev        bigint      not null,
	started    timestamptz,
	ended      timestamptz,
	verb       text        not null,
	hold       text        not null,
	class      text        not null,
	error      text        not null,
	external   text        not null,
	status     integer     not null,
	queued_us  bigint      not null,
	paced_us   bigint      not null,
	limiter_us bigint      not null,
	http_us    bigint      not null,
	next       timestamptz,
	decision   text        not null,
	worker     integer     not null
);
create index fs_attempt_job on fs_attempt (job, id);
create index fs_attempt_owner on fs_attempt (owner, id) where owner <> '';
create index fs_attempt_call on fs_attempt (external) where kind = 'alert.call';

-- A parent's child, and the sums of a parent's children: a cache, which a recount must equal.
-- Marks: 0 open, 1 retrying, 2 done, 3 dead, 4 cancelled.
create table fs_mark (
	parent    bigint   not null,
	grp       smallint not null,
	child     bigint   not null,
	mark      smallint not null,
	calls     integer  not null default 0,
	throttled integer  not null default 0,
	primary key (parent, grp, child)
) with (fillfactor = 80);
create index fs_mark_child on fs_mark (child);

create table fs_group (
	parent    bigint   not null,
	grp       smallint not null,
	total     integer  not null,
	open      integer  not null,
	retrying  integer  not null,
	done      integer  not null,
	dead      integer  not null,
	cancelled integer  not null,
	calls     integer  not null default 0,
	throttled integer  not null default 0,
	primary key (parent, grp)
) with (fillfactor = 50);

create table fs_queue (
	name       text    primary key,
	paused     boolean not null,
	by_user    text    not null,
	by_session text    not null,
	by_via     text    not null,
	since      timestamptz,
	reason     text    not null
);

-- The last transitions of anything that has an id, in their order, which is not that of clocks.
create table fs_history (
	of         text   not null,
	seq        bigint not null,
	at         timestamptz,
	from_state text   not null,
	to_state   text   not null,
	reason     text   not null,
	actor      text   not null,
	primary key (of, seq)
);

-- Sums of what ended on a UTC day, in parts, so that those who write at once wait for nobody.
create table fs_day (
	day       text     not null,
	slot      smallint not null,
	completed bigint   not null,
	discarded bigint   not null,
	cancelled bigint   not null,
	attempts  bigint   not null,
	retries   bigint   not null,
	won       bigint   not null,
	primary key (day, slot)
) with (fillfactor = 50);

-- Counters, in parts as the days are.
create table fs_counter (
	name text     not null,
	slot smallint not null,
	n    bigint   not null,
	primary key (name, slot)
) with (fillfactor = 50);

-- Small named blobs, such as the limiter's state; and rows that could not be read, as they were.
create table fs_state (
	name text  primary key,
	blob bytea not null
);
