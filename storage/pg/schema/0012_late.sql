-- How many results a member has brought whose jobs had moved on: it stood still, or was cut off.
alter table fs_member add late bigint not null default 0;
