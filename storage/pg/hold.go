package pg

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"strconv"
	"strings"
	"sync"
	"time"

	"github.com/jackc/pgx/v5"

	"github.com/farsight-console/farsight/engine"
	"github.com/farsight-console/farsight/engine/await"
	"github.com/farsight-console/farsight/engine/wall"
	"github.com/farsight-console/farsight/storage/internal/both"
)

// One engine at a time works on a schema. It holds a lock of a session of its own, whose
// application_name says who it is:
//
//	farsight engine 4711 on db-worker-1
//
// The server frees the lock when the session ends, as it does with the process however that ends.
const (
	holderName = "farsight engine %d on %s"
	takeHold   = "select pg_try_advisory_lock(hashtextextended('farsight.engine.'||$1, 0))"
	// whoHolds finds the session that has the lock: its key is in two halves.
	whoHolds = `select a.application_name, a.backend_start from pg_locks l join pg_stat_activity a using (pid)
where l.locktype = 'advisory' and l.granted and l.database = (select oid from pg_database where datname = current_database())
	and l.classid = (hashtextextended('farsight.engine.'||$1, 0) >> 32 & 4294967295)::oid
	and l.objid = (hashtextextended('farsight.engine.'||$1, 0) & 4294967295)::oid`

	// holdLook is how often the session is asked whether it is still there.
	holdLook = 5 * time.Second
	// holdPatience is for a server to notice that a process has ended.
	holdPatience = 2 * time.Second
	// stateOpening is the name in table fs_state of what is told of the last opening.
	stateOpening = "opening"
)

// opening is what is stored of one.
type opening struct {
	ID     string    `json:"id"`
	Opened time.Time `json:"opened"`
	Closed time.Time `json:"closed,omitzero"` // in order
}

// Hold takes the schema for an engine of this process alone, and records that it was opened.
// *both.ErrHeld says who has it. Serve keeps it, Close gives it back.
func (db *DB) Hold(ctx context.Context) error {
	if err := db.takeHold(ctx); err != nil {
		return err
	}
	blob, err := db.LoadState(ctx, stateOpening)
	if err != nil {
		return err
	}
	var last opening
	known := json.Unmarshal(blob, &last) == nil
	now := wall.Now()
	db.boot = both.Boot{ID: fmt.Sprintf("%016x", now.UnixNano()), Opened: now, New: blob == nil, Last: last.Closed, Clean: blob == nil || known && !last.Closed.IsZero()}
	return db.saveOpening(ctx, opening{ID: db.boot.ID, Opened: now})
}

func (db *DB) saveOpening(ctx context.Context, o opening) error {
	blob, err := json.Marshal(o)
	if err != nil {
		return err
	}
	return db.SaveState(ctx, stateOpening, blob)
}

func (db *DB) takeHold(ctx context.Context) error {
	host, err := os.Hostname()
	if err != nil {
		host = "this host"
	}
	c, err := db.connectAs(ctx, fmt.Sprintf(holderName, os.Getpid(), host))
	if err != nil {
		return unreachable(err)
	}
	mine, err := lockSchema(ctx, c, db.schema)
	if err != nil {
		return errors.Join(err, c.Close(ctx))
	}
	if !mine {
		_ = c.Close(ctx)
		if err := db.Holder(ctx); err != nil {
			return err
		}
		return &both.ErrHeld{Store: db.Name()} // until just now
	}
	db.holder = c
	return nil
}

// connectAs makes a connection of its own with a name. A host that is gone says nothing: the server
// is to find out within seconds.
func (db *DB) connectAs(ctx context.Context, name string) (*pgx.Conn, error) {
	ctx, cancel := context.WithTimeout(ctx, connectPatience)
	defer cancel()
	conf := db.pool.Config().ConnConfig
	conf.RuntimeParams["application_name"] = name
	for name, value := range map[string]string{"tcp_keepalives_idle": "5", "tcp_keepalives_interval": "2", "tcp_keepalives_count": "3"} {
		conf.RuntimeParams[name] = value
	}
	return pgx.ConnectConfig(ctx, conf)
}

// lockSchema takes the lock for a session; false = another has it.
func lockSchema(ctx context.Context, c *pgx.Conn, schema string) (mine bool, err error) {
	for began := time.Now(); ; {
		if err := c.QueryRow(ctx, takeHold, schema).Scan(&mine); err != nil {
			return false, unreachable(err)
		}
		if mine || time.Since(began) > holdPatience || !await.Pause(ctx, 100*time.Millisecond) {
			return mine, nil
		}
	}
}

// heldBy reads who holds the schema, as far as the server tells; false when nobody does.
func (t *txn) heldBy(held *both.ErrHeld) (there bool, err error) {
	var name string
	there, err = t.one([]any{(*text)(&name), (*instant)(&held.Since)}, whoHolds, t.db.schema)
	words := strings.SplitN(strings.TrimPrefix(name, "farsight engine "), " ", 3)
	if pid, bad := strconv.Atoi(words[0]); bad == nil && len(words) == 3 {
		held.PID, held.Host = pid, words[2]
	}
	return there, err
}

// Boot tells about the opening of the schema by Hold; the zero Boot without it.
func (db *DB) Boot() both.Boot { return db.boot }

// Serve hears of all commits, of other processes too, and keeps the hold if there is one, until
// ctx ends, and returns nil. It ends early with an error when another process has taken the schema
// meanwhile: then this one must stop.
func (db *DB) Serve(ctx context.Context) error {
	ctx, stop := context.WithCancel(ctx)
	var listening sync.WaitGroup
	listening.Go(func() { db.listen(ctx) })
	defer listening.Wait()
	defer stop()
	defer context.AfterFunc(db.life, stop)()
	for await.Pause(ctx, holdLook) {
		if err := db.keepHold(ctx); err != nil {
			return err
		}
	}
	return context.Cause(db.life)
}

// keepHold asks the session for a sign of life, and takes the lock anew where it is lost. A
// server that does not answer is waited for: nothing can be written meanwhile.
func (db *DB) keepHold(ctx context.Context) error {
	if db.holder == nil || signOfLife(ctx, db.holder) == nil {
		return nil
	}
	hangUp(db.holder)
	err := db.takeHold(ctx)
	if _, another := errors.AsType[*both.ErrHeld](err); another {
		return err
	}
	return nil
}

// Close gives the hold back and ends all connections. It waits for those that are in use.
func (db *DB) Close() error {
	err := db.letGo()
	db.abandon(engine.ErrShutdown)
	db.pool.Close()
	return err
}

// letGo ends the hold, and notes that it was ended in order.
func (db *DB) letGo() error {
	c := db.holder
	if db.holder = nil; c == nil {
		return nil
	}
	ctx, cancel := context.WithTimeout(context.Background(), connectPatience)
	defer cancel()
	var err error
	if db.life.Err() == nil {
		err = db.saveOpening(ctx, opening{ID: db.boot.ID, Opened: db.boot.Opened, Closed: wall.Now()})
	}
	_, _ = c.Exec(ctx, "select pg_advisory_unlock_all()") // else the next one waits until the server sees that the session ends
	return errors.Join(err, c.Close(ctx))
}

// Abandon ends the store as a crash would: nothing more is committed, Serve returns why, and Close
// leaves no mark that it was closed in order. It does not block. The demo shows a crash with it.
func (db *DB) Abandon(why error) { db.abandon(why) }
