-- Matches as JSON that can be asked for in SQL: text for text what Riot sent. Packed by lz4 one takes
-- 16 KB instead of 10; by PostgreSQL's own method it would be 31, and ten times slower to write, so a
-- server without lz4 keeps them as they arrived, like timelines, which would take 75 KB instead of 42.
alter table fs_payload add column json json, alter column body drop not null;
do $$ begin
	alter table fs_payload alter column json set compression lz4;
exception when feature_not_supported then null;
end $$;

create or replace view matches as
	select m.id as match_id, status, attempts, played, nullif(duration_us, 0) * interval '1 microsecond' as duration, queue_id, mode, patch,
		participants, remake, aborted, fetched_at, last_attempt_at, last_error, last_class, timeline_status, listed,
		p.codec, p.size as bytes, p.raw_len as raw_bytes, p.body as payload, p.json
	from fs_match m left join fs_payload p on p.match = m.id and p.part = 'match';
