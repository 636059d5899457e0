package pg

import (
	"context"
	"time"

	"github.com/jackc/pgx/v5"
)

// whichCluster names the server's data, and their history: 7421840112342-00000001-16412. A copy that is
// restored from a dump has another first part, one that was set back to an earlier state or that
// has taken the place of a lost server another second one; what pg_restore made anew another third one.
const whichCluster = "select system_identifier || '-' || substr(pg_walfile_name(pg_current_wal_lsn()), 1, 8) || '-' || 'fs_store'::regclass::oid from pg_control_system()"

// otherStore has whoever carries the log out begin anew, since it may have commits that are no more, and makes cursors that
// others keep those of another store.
const otherStore = "update fs_store set instance = gen_random_uuid()::text, cluster = $1, copied = clock_timestamp()"

// Settle makes a store of its own of a copy: of one that was restored, and of a server that has taken
// the place of a lost one, whose last commits it may lack. Whoever has been elected calls it on its own
// connection before it leads: engine.ErrRefused of a store that was moved since it was opened.
func (db *DB) Settle(ctx context.Context, c *pgx.Conn) error {
	if err := settleIn(ctx, c); err != nil {
		return err
	}
	if err := refuseMoving(ctx, c, db.schema); err != nil {
		return err
	}
	var copied *time.Time
	err := c.QueryRow(ctx, "select copied from fs_store").Scan(&copied)
	if err == nil && copied != nil {
		db.copied.Store(copied)
	}
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
// two that settle at once the second waits for the row and finds it settled.
func settleIn(ctx context.Context, c *pgx.Conn) error {
	return pgx.BeginFunc(ctx, c, func(tx pgx.Tx) error {
		var here, last string
		if err := tx.QueryRow(ctx, whichCluster).Scan(&here); err != nil {
			return err
		}
		// The lock keeps nobody waiting, and a server that takes no writes refuses it.
		err := tx.QueryRow(ctx, "select cluster from fs_store for key share").Scan(&last)
		if err != nil || here == last {
			return err
		}
		if err = tx.QueryRow(ctx, "select cluster from fs_store for no key update").Scan(&last); err != nil || here == last {
			return err
		}
		if last == "" {
			_, err = tx.Exec(ctx, "update fs_store set cluster = $1", here)
		} else {
			_, err = tx.Exec(ctx, otherStore, here)
		}
		return err
	})
}
