package pg

import (
	"context"
	"errors"
	"fmt"
	"strings"

	"github.com/jackc/pgx/v5/pgconn"

	"github.com/farsight-console/farsight/engine"
	"github.com/farsight-console/farsight/storage/internal/disk"
)

// unreachable says why a database cannot be used; nil of nil. The text of an error of the
// connection names host, user and database, and no password.
func unreachable(err error) error {
	if err == nil {
		return nil
	}
	if e, ok := errors.AsType[*pgconn.PgError](err); ok {
		if r, known := refusals[e.Code]; known {
			return engine.Problemf(engine.ErrRefused, r.do, "%s: %s", r.what, e.Message)
		}
		if behindPooler(e) {
			return noSessions(e.Message)
		}
	}
	return fmt.Errorf("the database cannot be reached: see whether its address is right, and the server runs and lets this machine in: %w", err)
}

// refusals are what the server refuses and what to do about it, by its code (SQLSTATE).
var refusals = map[string]struct{ what, do string }{
	"42501": {"the role may not do what the store needs",
		"grant it create on the database, or all on the schema and its tables"},
	"28P01":  {letsNobodyIn, lookAtFiles}, // the password is wrong
	"28000":  {letsNobodyIn, lookAtFiles}, // pg_hba.conf has no line for it
	"3D000":  {"the server has no such database", "make it with createdb, or name another one"},
	"53300":  {"the server takes no more connections", "raise max_connections, or end some of them"},
	diskFull: {takesNoWrites, giveRoom},
	readOnly: {takesNoWrites, giveRoom},
}

const (
	letsNobodyIn  = "the database lets nobody in so"
	lookAtFiles   = "look at PGPASSFILE, PGSERVICEFILE and pg_hba.conf"
	takesNoWrites = "the database takes no writes"
	giveRoom      = "give the server's disk more room, or name the server that takes writes"
)

// behindPooler reports whether an error is what a pooler makes of sessions that are not passed on.
func behindPooler(e *pgconn.PgError) bool {
	switch e.Code {
	case "08P01": // protocol_violation: PgBouncer takes no search_path unless it is told to
		return strings.Contains(e.Message, "startup parameter")
	case "42P05", "26000": // a prepared statement is there already, or not there: of another connection
		return true
	}
	return false
}

// noSessions refuses a pooler, and says what gave it away.
func noSessions(how string) error {
	return engine.Problemf(engine.ErrRefused,
		"give the address of the server itself, or set the pooler to sessions (pool_mode = session) and the role to this search_path",
		"a pooler stands before the database that does not pass sessions on as they are, which LISTEN and the locks of a session need: %s", how)
}

// What a server says that takes no writes: disk_full, read_only_sql_transaction.
const (
	diskFull = "53100"
	readOnly = "25006"
)

// noRoom marks the error of such a server: the same write may be tried again later.
func noRoom(err error) error {
	if e, ok := errors.AsType[*pgconn.PgError](err); ok && (e.Code == diskFull || e.Code == readOnly) {
		return noWrites{e}
	}
	return err
}

// noWrites is such an error. To whoever asks it is that of a disk that is full.
type noWrites struct{ *pgconn.PgError }

func (e noWrites) Error() string { return takesNoWrites + ": " + e.PgError.Error() }

// Closed says why the server takes none.
func (e noWrites) Closed() string {
	if e.Code == diskFull {
		return "out of room on its disk"
	}
	return "read-only"
}

func (e noWrites) Unwrap() []error { return []error{e.PgError, disk.ErrDiskFull} }

// passing reports whether a refusal is one of a moment, as of two that met: the same may be asked again.
func passing(err error) bool {
	e, ok := errors.AsType[*pgconn.PgError](err)
	return ok && (e.Code == "40P01" || e.Code == "40001" || e.Code == "53200" || e.Code == "57014") // deadlock, serialization, memory, cancelled
}

// Refused reports whether an error is a clear no of a server that goes on. FATAL, as of one that shuts down (57P01), may
// come after what was asked was carried out, and counts as no answer.
func Refused(err error) bool {
	said, ok := errors.AsType[*pgconn.PgError](err)
	return ok && said.SeverityUnlocalized == "ERROR"
}

// said says of an error of the database what to do about it, if that is known.
// An error that the server has answered with is about the statement: advice on how to reach the
// server would lead astray.
func said(ctx context.Context, err error) error {
	if _, known := errors.AsType[*engine.Problem](err); err == nil || known || ctx.Err() != nil {
		return err
	}
	told := unreachable(err)
	if _, known := errors.AsType[*engine.Problem](told); !known {
		if _, answered := errors.AsType[*pgconn.PgError](err); answered {
			return err
		}
	}
	return told
}
