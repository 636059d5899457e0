package pg

import (
	"errors"
	"fmt"
	"math/rand/v2"
)

// errUnknown: it is unknown whether a commit was carried out, and the database is away.
var errUnknown = errors.New("unknown whether it was committed")

// A connection that is lost at a commit tells nobody what became of it. So each transaction
// leaves a token in the row of its connection:
//
//	 connection          | token               | at
//	---------------------+---------------------+----------------------------
//	 farsight 5f3a9c0148 | 4751997750760398084 | 2026-11-23 07:04:11.52+00
//
// If the token is there when the connection has gone and its transaction has ended, it was
// committed; and a database that was set back to an older state says of it what is true of that.
const (
	leaveToken = `insert into fs_commit (connection, token) values ($1, $2)
on conflict (connection) do update set token = excluded.token, at = clock_timestamp()`

	// Its row is locked by the transaction in doubt for as long as that goes on.
	readToken = `insert into fs_commit as c (connection, token) values ($1, 0)
on conflict (connection) do update set token = c.token returning token`

	// A server may not have noticed yet that a connection is gone, and wait for its commit.
	endConnection = `select pg_terminate_backend(pid) from pg_stat_activity
where application_name = $1 and pid <> pg_backend_pid() and usename = current_user`

	// dropTokens is for connections that have ended.
	dropTokens = `delete from fs_commit where at < clock_timestamp() - interval '30 days'`
)

// leaveToken lets others see later whether the transaction was committed.
func (t *txn) leaveToken() error {
	t.token = rand.Int64()
	t.exec(leaveToken, t.connection(), t.token)
	return t.err
}

// connectionName is where a connection keeps its name, which PostgreSQL shows as its
// application_name.
const connectionName = "name"

// connection is the name of the transaction's connection, which none else has.
func (t *txn) connection() string {
	return t.conn.PgConn().CustomData()[connectionName].(string)
}

// commit ends a transaction, and says whether it was committed even if that was not answered: then
// the token tells, which is in the transaction, so it is there if and only if the rest is.
func (db *DB) commit(t *txn) error {
	err := t.alone("commit")
	if err == nil || Refused(err) {
		return err
	}
	_ = t.conn.Close(t.ctx)
	t.release() // else all that there are may wait for one on which to ask
	there, bad := db.wasCommitted(t)
	switch {
	case bad != nil:
		return fmt.Errorf("%w: %w", errUnknown, errors.Join(err, bad))
	case there:
		return nil
	}
	return fmt.Errorf("%w: %w", errLost, err)
}

// wasCommitted waits for the end of a transaction whose connection is gone, and says which it was.
func (db *DB) wasCommitted(t *txn) (was bool, err error) {
	err = db.again(t.ctx, anotherWon, func() (bool, error) {
		return false, db.in(t.ctx, "", func(r *txn) error {
			r.queued.Queue("begin")
			r.queued.Queue(endConnection, t.connection())
			token, _, err := value[int64](r, readToken, t.connection())
			was = token == t.token
			r.rollback()
			return err
		})
	})
	return was, err
}
