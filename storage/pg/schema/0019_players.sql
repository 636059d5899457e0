-- The players of collections, for the view of them. Who was there before this version comes when listed again.

alter table fs_player add column collection text collate "C", add column found timestamptz;

create table fs_collection (
	k    bytea primary key,
	id   text collate "C",
	name text
);
