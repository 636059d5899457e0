package pg

import (
	"context"
	"embed"
	"errors"
	"fmt"
	"io/fs"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgconn"

	"github.com/farsight-console/farsight/engine"
)

// The schema, a file per version: 0001_jobs.sql leads from nothing to version 1.
//
//go:embed schema/*.sql
var files embed.FS

// migrate makes the schema if it is not there, and carries out what it lacks, each version in a
// transaction of its own. Who opens it meanwhile waits. A later version's schema is refused.
func migrate(ctx context.Context, c *pgx.Conn, schema string) error {
	names, err := fs.Glob(files, "schema/*.sql") // sorted
	if err != nil {
		return err
	}
	if err := begin(ctx, c, schema); err != nil {
		return unreachable(err)
	}
	for {
		have, err := step(ctx, c, schema, names)
		if err != nil {
			return unreachable(fmt.Errorf("bring schema %s from version %d to %d: %w", schema, have, have+1, err))
		}
		if have > len(names) {
			return engine.Problemf(engine.ErrRefused, "use the program that wrote it, or a later one",
				"schema %s is of version %d, this program knows %d", schema, have, len(names))
		}
		if have == len(names) {
			return nil
		}
	}
}

// begin makes the schema and the table that says which version it is.
func begin(ctx context.Context, c *pgx.Conn, schema string) error {
	return pgx.BeginFunc(ctx, c, func(tx pgx.Tx) error {
		if err := takeTurn(ctx, tx, schema); err != nil {
			return err
		}
		var there bool
		if err := tx.QueryRow(ctx, "select to_regclass('fs_schema') is not null").Scan(&there); err != nil || there {
			return err
		}
		_, err := tx.Exec(ctx, "create schema if not exists "+pgx.Identifier{schema}.Sanitize())
		if err == nil {
			_, err = tx.Exec(ctx, "create table fs_schema (version integer primary key, since timestamptz not null default clock_timestamp())")
		}
		return err
	})
}

// step carries out the next version, if there is one, and gives the one that was there.
func step(ctx context.Context, c *pgx.Conn, schema string, names []string) (have int, err error) {
	err = pgx.BeginFunc(ctx, c, func(tx pgx.Tx) error {
		err := errors.Join(takeTurn(ctx, tx, schema), tx.QueryRow(ctx, "select coalesce(max(version), 0) from fs_schema").Scan(&have))
		if err != nil || have >= len(names) {
			return err
		}
		sql, err := files.ReadFile(names[have])
		if err != nil {
			return err
		}
		if _, err := tx.Exec(ctx, string(sql)); err != nil {
			return err
		}
		_, err = tx.Exec(ctx, "insert into fs_schema (version) values ($1)", have+1)
		return err
	})
	return have, err
}

// takeTurn lets one at a time change a schema.
func takeTurn(ctx context.Context, tx pgx.Tx, schema string) error {
	_, err := tx.Exec(ctx, "select pg_advisory_xact_lock(hashtextextended('farsight.'||$1, 0))", schema)
	return err
}

// unreachable says why a database cannot be used. The text of an error of the connection names
// host, user and database, and no password.
func unreachable(err error) error {
	if e, ok := errors.AsType[*pgconn.PgError](err); ok {
		switch e.Code {
		case "42501": // insufficient_privilege
			return engine.Problemf(engine.ErrRefused, "grant it create on the database, or all on the schema and its tables",
				"the role may not do what the store needs: %s", e.Message)
		case "28P01", "28000": // invalid_password, invalid_authorization_specification
			return engine.Problemf(engine.ErrRefused, "look at PGPASSFILE, PGSERVICEFILE and pg_hba.conf", "the database lets nobody in so: %s", e.Message)
		}
	}
	return fmt.Errorf("the database cannot be reached: %w", err)
}
