package pg

import (
	"context"
	"errors"
	"fmt"
	"net"
	"strconv"
	"strings"
	"sync/atomic"
	"time"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgconn"
	"github.com/jackc/pgx/v5/pgxpool"

	"github.com/farsight-console/farsight/engine"
	"github.com/farsight-console/farsight/engine/await"
	"github.com/farsight-console/farsight/storage/internal/disk"
)

// DB is an open schema. Its methods may be called by many goroutines at once.
type DB struct {
	pool *pgxpool.Pool
	// queryable: the server packs JSON so well that matches are stored as that.
	queryable    bool
	schema, name string
	life         context.Context // ends with Abandon
	abandon      context.CancelCauseFunc
	copied       atomic.Pointer[time.Time]
}

// ErrDeposed says that who wrote does not lead the fleet any more. Nothing was written.
var ErrDeposed = disk.ErrDeposed

// fence holds the one row of the fleet until the transaction ends. An election changes its key:
// so it waits for every transaction of the term before, and those that come later find nothing.
// The renewals of a term change only what is no key, and wait for nobody.
const fence = "select from fs_fleet where epoch = $1 and expires > clock_timestamp() for key share"

const (
	// connectPatience is for a server that does not answer.
	connectPatience = 10 * time.Second
	// statementPatience is for one statement, with what it waits for.
	statementPatience = 30 * time.Second
	// answerPatience is more than the server takes for an answer: one that does not come says something of the network.
	answerPatience = statementPatience + 5*time.Second
	// serverPatience is for a server that is lost, until it is there again.
	serverPatience = 30 * time.Second
	// forEver is for what the pool would do by itself now and then: a connection is used as long as it lasts.
	forEver = 100 * 365 * 24 * time.Hour
	// lostPause is between two tries of a server that is lost.
	lostPause = 200 * time.Millisecond
)

// Abandon ends the store as a crash would: all connections are cut. It does not block. The demo shows a crash with it.
func (db *DB) Abandon(why error) { db.abandon(why) }

// Close ends all connections, also those in use: what goes on there fails.
func (db *DB) Close() error {
	db.abandon(engine.ErrShutdown)
	db.pool.Close()
	return nil
}

// Ask runs questions in a transaction that sees one state of the database. It begins again where the connection is lost,
// for as long as a server takes to begin anew.
func (db *DB) Ask(ctx context.Context, ask func(tx pgx.Tx) error) error {
	for began := time.Now(); ; {
		err := pgx.BeginTxFunc(ctx, db.pool, pgx.TxOptions{IsoLevel: pgx.RepeatableRead, AccessMode: pgx.ReadOnly}, ask)
		if cut := context.Cause(db.life); err != nil && cut != nil {
			return cut
		}
		if err == nil || Refused(err) || time.Since(began) > serverPatience || !await.Pause(ctx, lostPause) {
			return err
		}
		db.pool.Reset() // the others have most likely gone the same way
	}
}

// Schema is the name of the schema.
func (db *DB) Schema() string { return db.schema }

// Name says which store it is, as people read it: schema farsight of lol on db.example.
func (db *DB) Name() string { return db.name }

// Connect gives a connection to the schema outside of the pool.
func (db *DB) Connect(ctx context.Context) (*pgx.Conn, error) {
	return connect(ctx, db.pool.Config().ConnConfig)
}

// Pool gives connections to the schema beside those of the store. Whoever asks for them closes it.
func (db *DB) Pool(ctx context.Context, conns int32) (*pgxpool.Pool, error) {
	conf := db.pool.Config()
	conf.MaxConns = conns
	pool, err := pgxpool.NewWithConfig(ctx, conf)
	if err != nil {
		return nil, fmt.Errorf("make connections: %w", err)
	}
	return pool, nil
}

// hangUp closes a connection, with a patience of its own.
func hangUp(c *pgx.Conn) {
	ctx, cancel := context.WithTimeout(context.Background(), time.Second)
	defer cancel()
	_ = c.Close(ctx)
}

// Holder says which member leads, as *disk.ErrHeld; nil = none. Its id begins with the number of
// its process: 4711-9f3c.
func (db *DB) Holder(ctx context.Context) error {
	held := &disk.ErrHeld{Store: db.Name(), Do: "give the command where a member runs, with its data directory"}
	var id string
	err := db.Ask(ctx, func(tx pgx.Tx) error {
		return tx.QueryRow(ctx, `select holder, coalesce(host, '?'), f.since from fs_fleet f left join fs_member on id = holder
where expires > clock_timestamp()`).Scan(&id, &held.Host, &held.Since)
	})
	if errors.Is(err, pgx.ErrNoRows) {
		return nil
	}
	if err != nil {
		return err
	}
	pid, _, _ := strings.Cut(id, "-")
	held.PID, _ = strconv.Atoi(pid)
	return held
}

// mortal lets connections end with the store, in the middle of whatever they do, as those of a process
// that is killed. A transaction that went on would keep the others from electing who leads next.
func (db *DB) mortal(conf *pgx.ConnConfig) {
	dial := conf.DialFunc
	conf.DialFunc = func(ctx context.Context, network, addr string) (net.Conn, error) {
		if err := context.Cause(db.life); err != nil {
			return nil, err
		}
		c, err := dial(ctx, network, addr)
		if err != nil {
			return nil, err
		}
		return mortalConn{c, context.AfterFunc(db.life, func() { _ = c.Close() })}, nil
	}
}

// mortalConn is closed at the end of a life, which holds it no longer than it is open.
type mortalConn struct {
	net.Conn
	forget func() bool
}

// Close implements net.Conn.
func (c mortalConn) Close() error {
	c.forget()
	return c.Conn.Close()
}

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

// noWrites is such an error. Callers see it as disk.ErrDiskFull: the same write may be tried again.
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

// passing reports whether the reason of a refusal passes by itself, such as a deadlock: the same may be asked again.
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

// advise says of an error of the database what to do about it, if that is known.
// An error that the server has answered with is about the statement: advice on how to reach the
// server would lead astray.
func advise(ctx context.Context, err error) error {
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
