package pg

import (
	"context"
	"strconv"
	"strings"
	"time"

	"github.com/farsight-console/farsight/storage/internal/both"
)

// WriteTimes gives the p95 of the commits of the last minute; empty when there were none.
func (db *DB) WriteTimes(now time.Time) map[string]time.Duration {
	out := map[string]time.Duration{}
	if d, ok := db.commits.P95(now); ok {
		out["state"] = d
	}
	return out
}

// WriteSums gives the sums of the commits since the start.
func (db *DB) WriteSums() map[string]both.WriteSum {
	return map[string]both.WriteSum{"state": db.commits.Sum()}
}

// Sizes are how large the tables of the schema are, with their indexes. What is free on the
// server's disk it tells nobody.
func (db *DB) Sizes() (s both.Sizes, err error) {
	ctx, cancel := context.WithTimeout(context.Background(), connectPatience)
	defer cancel()
	err = db.view(ctx, func(t *txn) error {
		_, err := t.one([]any{&s.State, &s.Payloads}, `select coalesce(sum(size) filter (where relname <> 'fs_payload'), 0)::bigint,
	coalesce(sum(size) filter (where relname = 'fs_payload'), 0)::bigint
from (
	select relname, pg_total_relation_size(oid) as size from pg_class
	where relkind = 'r' and relnamespace = current_schema()::regnamespace
) of`)
		return err
	})
	return s, err
}

// Forecast tells what is in use, and nothing of the disk.
func (db *DB) Forecast(context.Context) (both.Forecast, error) {
	s, err := db.Sizes()
	return both.Forecast{Used: s.State + s.Payloads}, err
}

// Holder says which member leads, as *both.ErrHeld; nil = none. Its id begins with the number of
// its process: 4711-9f3c.
func (db *DB) Holder(ctx context.Context) error {
	held := &both.ErrHeld{Store: db.Name(), Do: "give the command where a member runs, with its data directory"}
	var there bool
	var id string
	err := db.view(ctx, func(t *txn) (err error) {
		there, err = t.one([]any{(*text)(&id), (*text)(&held.Host), (*instant)(&held.Since)},
			`select holder, coalesce(host, '?'), f.since from fs_fleet f left join fs_member on id = holder
where expires > clock_timestamp()`)
		return err
	})
	if err != nil || !there {
		return err
	}
	pid, _, _ := strings.Cut(id, "-")
	held.PID, _ = strconv.Atoi(pid)
	return held
}

// Facts reads what the store says of itself.
func (db *DB) Facts(ctx context.Context) (f both.StoreFacts, err error) {
	f.Known = Version()
	err = db.view(ctx, func(t *txn) error {
		_, err := t.one([]any{&f.Schema, (*instant)(&f.Created), (*text)(&f.Instance)}, `select
	(select max(version) from fs_schema), (select min(since) from fs_schema),
	(select convert_from(blob, 'UTF8') from fs_state where name = 'instance')`)
		return err
	})
	return f, err
}
