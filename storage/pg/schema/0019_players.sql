-- Players of collections, and what exports tell of jobs. A row of before this version has it when it changes.

alter table fs_player add column collection text collate "C", add column found timestamptz;
alter table fs_job_state add column crashes integer;
alter table fs_job_ended add column crashes integer;

create table fs_collection (
	k    bytea primary key,
	id   text collate "C",
	name text
);
