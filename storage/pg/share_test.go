package pg

import (
	"errors"
	"testing"

	"github.com/farsight-console/farsight/internal/pgtest"
	"github.com/farsight-console/farsight/storage/internal/disk"
)

// The first one makes the schema, whatever was in it, the others get its note, and the last one
// deletes it; a session that has ended is none of them any more.
func TestASchemaForAsLongAsAnybodyNeedsIt(t *testing.T) {
	t.Parallel()
	at := pgtest.Schema(t)
	old, err := Open(t.Context(), Options{URL: at})
	must(t, err)
	do(t, at, "insert into fs_row (tb, k, v) values ('of before', 'x', 'x')")
	must(t, old.Close())
	join := func(own string) (*Sharing, string) {
		t.Helper()
		s, note, err := Share(t.Context(), at, []byte(own))
		must(t, err)
		return s, string(note)
	}
	a, noteA := join("a")
	b, noteB := join("b")
	if noteA != "a" || noteB != "a" {
		t.Errorf("the notes are %q and %q", noteA, noteB)
	}
	db, err := Open(t.Context(), Options{URL: at})
	must(t, err)
	n := 0
	must(t, db.pool.QueryRow(t.Context(), "select count(*) from fs_row").Scan(&n))
	if n != 0 {
		t.Errorf("it has %d rows of before", n)
	}
	must(t, db.Close())
	must(t, a.Leave(t.Context()))
	c, noteC := join("c")
	if noteC != "a" {
		t.Errorf("without the first one the note is %q", noteC)
	}
	hangUp(b.c) // as of a process that is killed
	must(t, b.Leave(t.Context()))
	must(t, c.Leave(t.Context()))
	d, noteD := join("d")
	if noteD != "d" {
		t.Errorf("the last one has left %q", noteD)
	}
	must(t, d.Leave(t.Context()))
}

// An engine that has no part in it is left alone.
func TestASchemaOfAnEngineIsNotShared(t *testing.T) {
	t.Parallel()
	at := pgtest.Schema(t)
	db, err := Open(t.Context(), Options{URL: at})
	must(t, err)
	defer func() { must(t, db.Close()) }()
	_, err = db.pool.Exec(t.Context(), "insert into fs_member (id, host, version, key_fp, may_lead, ahead_ms, seen) values ('1-a', 'here', '1', '', true, 0, clock_timestamp() + interval '1 hour')")
	must(t, err)
	beats := func() error {
		_, err := db.pool.Exec(t.Context(), "update fs_member set seen = seen + interval '1 second'")
		return err
	}
	done, end := make(chan error), make(chan struct{})
	go func() {
		var err error
		for open := true; open && err == nil; err = beats() {
			select {
			case <-end:
				open = false
			default:
			}
		}
		done <- err
	}()
	_, _, err = Share(t.Context(), at, []byte("x"))
	if _, held := errors.AsType[*disk.ErrHeld](err); !held {
		t.Errorf("Share = %v", err)
	}
	close(end)
	must(t, <-done)
}
