-- A member that cannot reach Riot makes no calls until it can: since when it cannot. And how many
-- attempts it carries out that no permit was written down for: as the leader does of its own.
alter table fs_member add cut_off timestamptz, add in_hand integer not null default 0;
