package pg

import (
	"context"
	"embed"
	"fmt"
	"io/fs"
	"strings"
	"time"

	"github.com/jackc/pgx/v5"

	"github.com/farsight-console/farsight/engine"
)

// The schema, a file per version: 0017_store.sql leads from nothing to version 17.
//
//go:embed schema/*.sql
var files embed.FS

// versions are the names of those files in their order.
var versions, _ = fs.Glob(files, "schema/0*.sql")

// before is the last version of a schema that this program cannot read: each row had a place of its own in a table.
const before = 16

// Version is that of the schema which this program reads and writes.
func Version() int { return before + len(versions) }

// migrate makes the schema if it is not there, and carries out what it lacks, each version in a
// transaction of its own. Who opens it meanwhile waits. A later version's schema is refused.
func migrate(ctx context.Context, c *pgx.Conn, schema string) error {
	if err := begin(ctx, c, schema); err != nil {
		return unreachable(err)
	}
	have, err := versionOf(ctx, c)
	if err != nil {
		return unreachable(err)
	}
	for have == 0 || have > before && have < Version() {
		if have, err = step(ctx, c, schema); err != nil {
			return unreachable(fmt.Errorf("bring schema %s from version %d to %d: %w", schema, have, have+1, err))
		}
	}
	if err := readable(schema, have, Version()); err != nil {
		return err
	}
	return unreachable(detachIn(ctx, c))
}

// readable refuses a schema of another version than the one that this program knows.
func readable(schema string, have, known int) error {
	switch {
	case have > 0 && have <= before:
		return engine.Problemf(engine.ErrRefused, "go on with the program that wrote it, or name another schema and have everything fetched again",
			"schema %s is of version %d, of before the first release, which this program cannot read", schema, have)
	case have > known:
		return engine.Problemf(engine.ErrRefused, "use the program that wrote it, or a later one",
			"schema %s is of version %d, this program knows %d", schema, have, known)
	case have < known:
		return engine.Problemf(engine.ErrRefused, "start an engine on it once, such as `farsight serve`, which brings it up to date",
			"schema %s is of version %d, this program reads %d", schema, have, known)
	}
	return nil
}

// checkSchema refuses a schema that is not there, of another version, or not whole.
func checkSchema(ctx context.Context, c *pgx.Conn, schema string) error {
	if err := lookAt(ctx, c, schema); err != nil {
		return err
	}
	return refuseMoving(ctx, c, schema)
}

// lookAt refuses a schema that is not there, or of another version.
func lookAt(ctx context.Context, c *pgx.Conn, schema string) error {
	there, err := has(ctx, c, "fs_schema")
	if err != nil {
		return unreachable(err)
	}
	if !there {
		return fmt.Errorf("schema %s: %w", schema, fs.ErrNotExist)
	}
	have, err := versionOf(ctx, c)
	if err != nil {
		return unreachable(err)
	}
	return readable(schema, have, Version())
}

// bringUp is migrate of a schema that is whole.
func bringUp(ctx context.Context, c *pgx.Conn, schema string) error {
	if err := migrate(ctx, c, schema); err != nil {
		return err
	}
	return refuseMoving(ctx, c, schema)
}

// begin makes the schema and the table that says which version it is:
//
//	 version | since
//	---------+----------------------------
//	      17 | 2026-11-21 09:12:44.01+00
//	      18 | 2026-11-21 09:12:44.09+00
func begin(ctx context.Context, c *pgx.Conn, schema string) error {
	return pgx.BeginFunc(ctx, c, func(tx pgx.Tx) error {
		if err := takeTurn(ctx, tx, schema); err != nil {
			return err
		}
		there, err := has(ctx, tx, "fs_schema")
		if err != nil || there {
			return err
		}
		if err = makeSchema(ctx, tx, schema); err == nil {
			_, err = tx.Exec(ctx, `create table fs_schema (
	version integer primary key, since timestamptz not null default clock_timestamp())`)
		}
		return err
	})
}

// makeSchema makes a schema that is not there. "if not exists" asks for the right to make one even where
// another role has made it, and granted all on it.
func makeSchema(ctx context.Context, tx pgx.Tx, schema string) error {
	name := pgx.Identifier{schema}.Sanitize()
	var there bool
	err := tx.QueryRow(ctx, "select to_regnamespace($1) is not null", name).Scan(&there)
	if err == nil && !there {
		_, err = tx.Exec(ctx, "create schema "+name)
	}
	return err
}

// step carries out the next version, if there is one, and gives the one that was there.
func step(ctx context.Context, c *pgx.Conn, schema string) (have int, err error) {
	err = pgx.BeginFunc(ctx, c, func(tx pgx.Tx) error {
		if err := takeTurn(ctx, tx, schema); err != nil {
			return err
		}
		if have, err = versionOf(ctx, tx); err != nil || have >= Version() {
			return err
		}
		sql, err := files.ReadFile(versions[max(have-before, 0)])
		if err != nil {
			return err
		}
		if _, err := tx.Exec(ctx, string(sql)); err != nil {
			return err
		}
		if have = max(have, before) + 1; have == Version() {
			if err := createViews(ctx, tx); err != nil {
				return err
			}
		}
		if err := endTerm(ctx, tx); err != nil {
			return err
		}
		_, err = tx.Exec(ctx, "insert into fs_schema (version) values ($1)", have)
		return err
	})
	return have, err
}

// endTerm keeps a program that knows only the versions before from writing on as the leader: the
// fence of each of its commits finds its term over. In a new schema there is no fleet yet.
func endTerm(ctx context.Context, tx pgx.Tx) error {
	there, err := has(ctx, tx, "fs_fleet")
	if err == nil && there {
		_, err = tx.Exec(ctx, "update fs_fleet set epoch = epoch + 1, holder = '', expires = '-infinity'")
	}
	return err
}

// asker is a connection, or a transaction on one.
type asker interface {
	QueryRow(ctx context.Context, sql string, args ...any) pgx.Row
}

// has reports whether the schema has a table.
func has(ctx context.Context, c asker, table string) (there bool, err error) {
	err = c.QueryRow(ctx, "select to_regclass($1) is not null", table).Scan(&there)
	return there, err
}

// versionOf is the version of the schema; 0 = it was begun, and has no tables yet.
func versionOf(ctx context.Context, c asker) (have int, err error) {
	err = c.QueryRow(ctx, "select coalesce(max(version), 0) from fs_schema").Scan(&have)
	return have, err
}

// takeTurn lets one at a time change a schema. The lock is of a transaction, so that nobody has to
// give it back.
func takeTurn(ctx context.Context, tx pgx.Tx, schema string) error {
	_, err := tx.Exec(ctx, "select pg_advisory_xact_lock(hashtextextended('farsight.'||$1, 0))", schema)
	return err
}

// refuseMoving refuses a schema that has not got all that it is to have, or whose place a directory has taken.
func refuseMoving(ctx context.Context, c asker, schema string) error {
	var closed string
	err := c.QueryRow(ctx, "select closed from fs_store").Scan(&closed)
	if err != nil || closed == "" {
		return unreachable(err)
	}
	return closedFor(schema, closed)
}

// closedFor is fs_store.closed as a refusal: its lines are why, and what to do.
func closedFor(schema, closed string) error {
	why, do, _ := strings.Cut(closed, "\n")
	do, _, _ = strings.Cut(do, "\n")
	return engine.Problemf(engine.ErrRefused, do, "schema %s %s", schema, why)
}

// whichCluster names the server's data, and their history: 7421840112342-00000001-16412. A copy that is
// restored from a dump has another first part, one that was set back to an earlier state or that
// has taken the place of a lost server another second one; what pg_restore made anew another third one.
const whichCluster = "select system_identifier || '-' || substr(pg_walfile_name(pg_current_wal_lsn()), 1, 8) || '-' || 'fs_store'::regclass::oid from pg_control_system()"

// otherStore has whoever carries the log out begin anew, since it may have commits that are no more, and makes cursors that
// others keep those of another store.
const otherStore = "update fs_store set instance = gen_random_uuid()::text, cluster = $1, copied = clock_timestamp()"

// DetachCopy makes a store of its own of a copy: of one that was restored, and of a server that has taken
// the place of a lost one, whose last commits it may lack. Whoever has been elected calls it on its own
// connection before it leads: engine.ErrRefused of a store that was moved since it was opened.
func (db *DB) DetachCopy(ctx context.Context, c *pgx.Conn) error {
	if err := detachIn(ctx, c); err != nil {
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

// Copied is when DetachCopy has last made a store of its own of a copy; the zero time = never, or nobody
// has looked.
func (db *DB) Copied() (at time.Time) {
	if c := db.copied.Load(); c != nil {
		at = *c
	}
	return at
}

// detachIn compares where the schema is with where it was: nothing is done where it has stayed. Of
// two at once the second waits for the row and finds it detached.
func detachIn(ctx context.Context, c *pgx.Conn) error {
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
