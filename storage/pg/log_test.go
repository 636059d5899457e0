package pg

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"path/filepath"
	"testing"
	"time"

	"github.com/farsight-console/farsight/internal/pgtest"
	"github.com/farsight-console/farsight/storage"
)

// elect begins a term that goes on until the next one.
func elect(t testing.TB, db *DB) (term int64) {
	t.Helper()
	must(t, db.pool.QueryRow(t.Context(), "update fs_fleet set epoch = epoch + 1, expires = 'infinity' returning epoch").Scan(&term))
	return term
}

// Who leads no more adds nothing; a commit whose answer was lost is there once; its number is of one commit alone.
func TestH14d_ALogHasOneWriter(t *testing.T) {
	t.Parallel()
	db := open(t, pgtest.Schema(t))
	l, ctx := db.Log(), t.Context()
	first := elect(t, db)
	c := storage.Commit{Seq: 1, Rows: []byte("a"), Changes: []byte("[]")}
	for range 2 { // the second time as after a lost answer
		must(t, l.Append(ctx, first, c))
	}
	second := elect(t, db)
	for seq := range uint64(2) {
		if err := l.Append(ctx, first, storage.Commit{Seq: seq + 1, Changes: []byte("[]"), Rows: []byte("late")}); !errors.Is(err, ErrDeposed) {
			t.Errorf("commit %d of the term before: %v", seq+1, err)
		}
	}
	for why, wrong := range map[string]storage.Commit{"a number that another has used": c, "a gap before it": {Seq: 7, Rows: c.Rows, Changes: c.Changes}} {
		if err := l.Append(ctx, second, wrong); !errors.Is(err, ErrDeposed) {
			t.Errorf("%s: %v", why, err)
		}
	}
	must(t, l.Append(ctx, second, storage.Commit{Seq: 2, Rows: []byte("b"), Changes: []byte("[]")}))
	if err := l.Append(ctx, second, storage.Commit{Seq: 2, Rows: []byte("c"), Changes: []byte("[]")}); !errors.Is(err, ErrDeposed) {
		t.Errorf("another commit of the same number and term: %v", err)
	}
	var at storage.Place
	must(t, db.pool.QueryRow(ctx, "select instance from fs_store").Scan(&at.Instance))
	var got []byte
	must(t, l.After(ctx, at, func(c storage.Commit) error { got = append(got, c.Rows...); return nil }))
	if string(got) != "ab" {
		t.Errorf("the log has %q", got)
	}
	for name, at := range map[string]storage.Place{"ahead": {Instance: at.Instance, Seq: 3}, "another": {Instance: "another"}} {
		if err := l.After(ctx, at, nil); !errors.Is(err, storage.ErrTrimmed) {
			t.Errorf("%s: %v", name, err)
		}
	}
}

// The rows of a schema follow the log, and whoever joins has them: also when the log begins behind them.
func TestH14e_RowsFollowTheLog(t *testing.T) {
	t.Parallel()
	db, dir := open(t, pgtest.Schema(t)), t.TempDir()
	l := db.Log()
	join := func(name string) *storage.DB {
		s, err := storage.Open(storage.Options{Dir: filepath.Join(dir, name), Shared: l})
		must(t, err)
		ctx, stop := context.WithCancel(context.Background())
		done := make(chan error, 1)
		go func() { done <- s.Serve(ctx) }()
		t.Cleanup(func() { stop(); must(t, errors.Join(<-done, s.Close())) })
		return s
	}
	term := elect(t, db)
	leads, behind := join("leads"), join("behind")
	must(t, leads.Lead(t.Context(), term, func() {}))
	for i := range 300 {
		must(t, leads.SaveState(t.Context(), fmt.Sprint("state ", i%7), bytes.Repeat([]byte{byte(i)}, 100)))
	}
	ctx, stop := context.WithCancel(t.Context())
	followed := make(chan error, 1)
	go func() { followed <- l.Follow(ctx, term, func(error) {}) }()
	for seq := uint64(0); seq < leads.Seq(); time.Sleep(time.Millisecond) {
		must(t, db.pool.QueryRow(ctx, "select seq from fs_store").Scan(&seq))
	}
	stop()
	must(t, <-followed)
	if _, err := db.pool.Exec(t.Context(), "delete from fs_log"); err != nil {
		t.Fatal(err)
	}
	late := join("late")
	for behind.Seq() < leads.Seq() {
		time.Sleep(time.Millisecond)
	}
	for name, s := range map[string]*storage.DB{"behind": behind, "late": late} {
		for i := range 7 {
			want, err := leads.LoadState(t.Context(), fmt.Sprint("state ", i))
			must(t, err)
			if got, err := s.LoadState(t.Context(), fmt.Sprint("state ", i)); err != nil || len(got) != 100 || !bytes.Equal(got, want) {
				t.Errorf("%s: state %d is %x, %v", name, i, got, err)
			}
		}
	}
	if err := l.Follow(t.Context(), term-1, func(error) {}); !errors.Is(err, ErrDeposed) {
		t.Errorf("the rows of a term that is over: %v", err)
	}
}

// Commits are read by their bytes: those that are large do not lie in memory together.
func TestH14g_LargeCommitsComeInParts(t *testing.T) {
	t.Parallel()
	db := open(t, pgtest.Schema(t))
	l, ctx := db.Log(), t.Context()
	term := elect(t, db)
	large := bytes.Repeat([]byte{1}, commitBytes/2)
	for seq := range uint64(4) {
		must(t, l.Append(ctx, term, storage.Commit{Seq: seq + 1, Rows: large, Changes: []byte("[]")}))
	}
	for after, want := range []int{2, 2, 2, 1} {
		var n int
		must(t, db.pool.QueryRow(ctx, "select count(*) from ("+selectCommits+") part", after, carriedCommits, commitBytes).Scan(&n))
		if n != want {
			t.Errorf("%d commits behind %d, not %d", n, after, want)
		}
	}
	at := storage.Place{}
	must(t, db.pool.QueryRow(ctx, "select instance from fs_store").Scan(&at.Instance))
	must(t, l.After(ctx, at, func(c storage.Commit) error { at.Seq = c.Seq; return nil }))
	if at.Seq != 4 {
		t.Errorf("the log was told up to commit %d", at.Seq)
	}
}

// The rows are in the form that a file of this version has: who changes that brings them to it by a version of the schema,
// too, and then says so here.
func TestH14c_TheFormOfRowsIsTheSchemas(t *testing.T) {
	t.Parallel()
	s, _ := leading(t, open(t, pgtest.Schema(t)))
	if f, err := s.Facts(t.Context()); err != nil || f.Known != 9 || Version() != 19 {
		t.Errorf("files are of version %d, schemas of %d; %v", f.Known, Version(), err)
	}
}
