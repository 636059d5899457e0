package pg

import (
	"errors"
	"fmt"
	"strings"

	"github.com/jackc/pgx/v5/pgconn"

	"github.com/farsight-console/farsight/engine"
	"github.com/farsight-console/farsight/storage/internal/both"
)

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
		case "3D000": // invalid_catalog_name
			return engine.Problemf(engine.ErrRefused, "make it with createdb, or name another one", "the server has no such database: %s", e.Message)
		case "53300": // too_many_connections
			return engine.Problemf(engine.ErrRefused, "raise max_connections, or end some of them", "the server takes no more connections: %s", e.Message)
		case "08P01": // protocol_violation: PgBouncer takes no search_path unless it is told to
			if strings.Contains(e.Message, "startup parameter") {
				return noSessions(e.Message)
			}
		case "42P05", "26000": // a prepared statement is there already, or not there: of another connection
			return noSessions(e.Message)
		}
		if full(e) {
			return engine.Problemf(engine.ErrRefused, "give the server's disk more room, or name the server that takes writes", "the database takes no writes: %s", e.Message)
		}
	}
	return fmt.Errorf("the database cannot be reached: see whether its address is right, and the server runs and lets this machine in: %w", err)
}

// noSessions refuses a pooler, and says what gave it away.
func noSessions(how string) error {
	return engine.Problemf(engine.ErrRefused, "give the address of the server itself, or set the pooler to sessions (pool_mode = session) and the role to this search_path",
		"a pooler stands before the database that does not pass sessions on as they are, which LISTEN and the locks of a session need: %s", how)
}

const diskFull = "53100"

// full reports whether the server takes no writes for now: its disk is full, or it is a server
// that only reads, as a standby does until it is promoted.
func full(e *pgconn.PgError) bool {
	return e.Code == diskFull || e.Code == "25006" // read_only_sql_transaction
}

// noRoom marks the error of such a server: the same write may be tried again later.
func noRoom(err error) error {
	if e, ok := errors.AsType[*pgconn.PgError](err); ok && full(e) {
		return noWrites{e}
	}
	return err
}

// noWrites is such an error. To whoever asks it is that of a disk that is full.
type noWrites struct{ *pgconn.PgError }

func (e noWrites) Error() string { return "the database takes no writes: " + e.PgError.Error() }

// Closed says why the server takes none.
func (e noWrites) Closed() string {
	if e.Code == diskFull {
		return "out of room on its disk"
	}
	return "read-only"
}

func (e noWrites) Unwrap() []error { return []error{e.PgError, both.ErrDiskFull} }
