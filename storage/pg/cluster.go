package pg

import (
	"context"
	"errors"
	"time"

	"github.com/jackc/pgx/v5"
)

// whichCluster names the server's data, and their history: 7421840112342-00000001. A copy that is
// restored from a dump has another first part, one that was set back to an earlier state or that
// has taken the place of a lost server another second one.
const whichCluster = "select system_identifier || '-' || substr(pg_walfile_name(pg_current_wal_lsn()), 1, 8) from pg_control_system()"

// newInstance makes cursors that others keep those of another store: they may be of what is no
// more.
const newInstance = "update fs_state set blob = convert_to(gen_random_uuid()::text, 'UTF8') where name = 'instance'"

// otherLog has whoever carries the log out begin anew: it may have commits that are no more.
const otherLog = "update fs_store set instance = gen_random_uuid()::text"

// comeFirst are the feeds' places that this server has not reached. Their rows would be told of
// only when it does, and not before what comes next: they go to the beginning, where nobody has
// read yet.
var comeFirst = []string{
	"update fs_match set feed_xid = '3' where feed_xid >= pg_current_xact_id()",
	"update fs_match set timeline_xid = '3' where timeline_xid >= pg_current_xact_id()",
	"update fs_match set seats_xid = '3' where seats_xid >= pg_current_xact_id()",
	"update fs_rank set feed_xid = '3' where feed_xid >= pg_current_xact_id()",
	"update fs_job_ended set feed_xid = '3' where feed_xid >= pg_current_xact_id()",
}

// noteCopy is for those who lead later.
const noteCopy = `insert into fs_state (name, blob) values ('copied', convert_to(clock_timestamp()::text, 'UTF8'))
on conflict (name) do update set blob = excluded.blob`

// What was called and when is not known for certain of a copy: the limits' windows count as full.
const windowsAreFull = `insert into fs_state (name, blob) values ('limiter', '{}')
on conflict (name) do update set blob = excluded.blob`

// Settle makes a store of its own of a copy: of one that was restored, and of a server that has taken
// the place of a lost one, whose last commits it may lack. Whoever is to lead calls it on its own
// connection before it does.
func (db *DB) Settle(ctx context.Context, c *pgx.Conn) error {
	if err := settleIn(ctx, c); err != nil {
		return err
	}
	var copied time.Time
	err := c.QueryRow(ctx, "select convert_from(blob, 'UTF8')::timestamptz from fs_state where name = 'copied'").Scan((*instant)(&copied))
	if errors.Is(err, pgx.ErrNoRows) {
		return nil
	}
	db.copied.Store(&copied)
	return err
}

// Copied is when Settle has last made a store of its own of a copy; the zero time = never, or nobody
// has looked.
func (db *DB) Copied() (at time.Time) {
	if c := db.copied.Load(); c != nil {
		at = *c
	}
	return at
}

// settleIn compares where the schema is with where it was: nothing is done where it has stayed. Of
// two that settle at once the second waits for the row 'cluster' and finds it settled.
func settleIn(ctx context.Context, c *pgx.Conn) error {
	return pgx.BeginFunc(ctx, c, func(tx pgx.Tx) error {
		var here, last string
		if err := tx.QueryRow(ctx, whichCluster).Scan(&here); err != nil {
			return err
		}
		err := tx.QueryRow(ctx, `insert into fs_state as s (name, blob) values ('cluster', convert_to($1, 'UTF8'))
on conflict (name) do update set blob = s.blob returning convert_from(blob, 'UTF8')`, here).Scan(&last)
		if err != nil || here == last {
			return err
		}
		for _, sql := range append(comeFirst, newInstance, otherLog, windowsAreFull, noteCopy) {
			if _, err := tx.Exec(ctx, sql); err != nil {
				return err
			}
		}
		_, err = tx.Exec(ctx, "update fs_state set blob = convert_to($1, 'UTF8') where name = 'cluster'", here)
		return err
	})
}
