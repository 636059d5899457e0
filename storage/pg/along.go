package pg

import (
	"context"
	"errors"
	"fmt"
	"net"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgconn"
	"github.com/jackc/pgx/v5/pgxpool"

	"github.com/farsight-console/farsight/engine"
)

// Packages beside this one have tables of their own in the schema, and write them in its
// transactions.

// Along carries out what needs the transaction itself, in a writing one. It may neither commit nor
// roll back, and must close what it opens. An error of the database is the transaction's.
func Along(tx engine.Tx, do func(ctx context.Context, tx pgx.Tx) error) error {
	t := own(tx)
	t.dirty = true
	if err := t.flush(); err != nil {
		return err
	}
	ctx, cancel := context.WithTimeout(t.ctx, t.answer)
	defer cancel()
	err := do(ctx, inner{t.conn})
	if _, theirs := errors.AsType[*pgconn.PgError](err); theirs || t.conn.IsClosed() {
		t.fail(err)
	}
	if t.err != nil {
		return t.err
	}
	return err
}

// inner is a transaction that somebody else ends.
type inner struct{ *conn }

type conn = pgx.Conn

// errNotYours is for whoever would end a transaction of the store's.
var errNotYours = errors.New("the transaction is ended by whoever has begun it")

func (inner) Begin(context.Context) (pgx.Tx, error) { return nil, errNotYours }
func (inner) Commit(context.Context) error          { return errNotYours }
func (inner) Rollback(context.Context) error        { return errNotYours }
func (inner) LargeObjects() pgx.LargeObjects        { panic(errNotYours) }
func (i inner) Conn() *pgx.Conn                     { return i.conn }

// Schema is the name of the schema.
func (db *DB) Schema() string { return db.schema }

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
