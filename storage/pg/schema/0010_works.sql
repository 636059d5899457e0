-- A member may make no calls for who leads: serve --no-work.
alter table fs_member add works boolean not null default true;
