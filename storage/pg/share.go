package pg

import (
	"context"
	"errors"
	"fmt"

	"github.com/jackc/pgx/v5"

	"github.com/farsight-console/farsight/storage/internal/disk"
)

// Sharing is the part that one process has in a schema which is there for as long as any of them
// needs it: the first one makes it anew, the last one deletes it. The server knows who they are by
// the sessions that hold a lock, so one that is killed is none any more.
type Sharing struct {
	at     string
	schema string
	c      *pgx.Conn
}

const (
	// shareLock is held by every process that has a part, for share, and for a moment alone by the one
	// that makes or deletes the schema.
	shareLock = "hashtextextended('farsight.share.'||$1, 0)"
	unshare   = "select pg_advisory_unlock_shared(" + shareLock + ")"
)

// Share gives the note that the first of those has left who use a schema: its own to the first.
// Errors are those of Open, and *disk.ErrHeld beside an engine that has no part in it.
func Share(ctx context.Context, at string, own []byte) (s *Sharing, note []byte, err error) {
	conf, err := config(Options{URL: at})
	if err != nil {
		return nil, nil, err
	}
	s = &Sharing{at: at, schema: schemaIn(conf.ConnConfig)}
	if err := s.connect(ctx); err != nil {
		return nil, nil, err
	}
	for note == nil && err == nil { // who has made it may be about to delete it
		note, err = s.join(ctx, own)
	}
	if err != nil {
		hangUp(s.c)
		if !isHeld(err) {
			err = advise(ctx, err)
		}
		return nil, nil, err
	}
	return s, note, nil
}

// connect makes the session that holds the lock: it is not of a pool, which would give it to others.
func (s *Sharing) connect(ctx context.Context) error {
	conf, err := config(Options{URL: s.at})
	if err != nil {
		return err
	}
	conf.ConnConfig.RuntimeParams["statement_timeout"] = "0" // it waits for whoever makes the schema
	if s.c, err = connect(ctx, conf.ConnConfig); err != nil {
		return unreachable(err)
	}
	return nil
}

// join gives no note when there is nothing to join any more. Who is alone makes the schema while it
// holds the lock alone, and then keeps a share of it; the others wait for that.
func (s *Sharing) join(ctx context.Context, own []byte) (note []byte, err error) {
	alone, err := s.alone(ctx)
	if err != nil {
		return nil, err
	}
	var held error // without a part in it: by others that the server has forgotten, or by an engine
	if alone {
		if err = s.anew(ctx, own); isHeld(err) {
			held, err = err, nil
		}
	}
	if err == nil {
		err = s.do(ctx, "select pg_advisory_lock_shared("+shareLock+")")
	}
	if alone && err == nil {
		err = s.do(ctx, "select pg_advisory_unlock("+shareLock+")")
	}
	if err == nil {
		note, err = s.note(ctx)
	}
	if note == nil && err == nil {
		err = errors.Join(s.do(ctx, unshare), held)
	}
	return note, err
}

// note is that of who has made the schema; nil = it is not there.
func (s *Sharing) note(ctx context.Context) (note []byte, err error) {
	there, err := has(ctx, s.c, "fs_store")
	if err == nil && there {
		err = s.c.QueryRow(ctx, "select note from fs_store").Scan(&note)
	}
	return note, err
}

// alone takes the schema if no other process has a part in it. It does not wait.
func (s *Sharing) alone(ctx context.Context) (mine bool, err error) {
	err = s.c.QueryRow(ctx, "select pg_try_advisory_lock("+shareLock+")", s.schema).Scan(&mine)
	return mine, err
}

// do carries out a statement about the schema, whose name is its only argument.
func (s *Sharing) do(ctx context.Context, sql string) error {
	_, err := s.c.Exec(ctx, sql, s.schema)
	return err
}

// anew makes the schema, whatever was in it, with a note.
func (s *Sharing) anew(ctx context.Context, note []byte) error {
	if err := drop(ctx, s.at); err != nil {
		return err
	}
	db, err := Open(ctx, Options{URL: s.at})
	if err != nil {
		return err
	}
	_, err = db.pool.Exec(ctx, "update fs_store set note = $1", note)
	return errors.Join(err, db.Close())
}

// Leave gives this part up. The last one deletes the schema.
func (s *Sharing) Leave(ctx context.Context) error {
	defer func() { hangUp(s.c) }()
	if err := s.do(ctx, unshare); err != nil { // the session is gone, and with it the lock
		hangUp(s.c)
		if err := s.connect(ctx); err != nil {
			return fmt.Errorf("schema %s is left as it is: %w", s.schema, err)
		}
	}
	last, err := s.alone(ctx)
	if err != nil || !last {
		return err
	}
	if err = drop(ctx, s.at); isHeld(err) {
		return nil // it is for them to delete
	}
	return err
}

// isHeld reports whether an error says that an engine works on the schema.
func isHeld(err error) bool {
	_, held := errors.AsType[*disk.ErrHeld](err)
	return held
}
