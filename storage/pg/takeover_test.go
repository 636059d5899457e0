package pg

import (
	"context"
	"errors"
	"math/rand/v2"
	"os"
	"reflect"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/farsight-console/farsight/engine"
	"github.com/farsight-console/farsight/internal/pgtest"
	"github.com/farsight-console/farsight/storage"
	"github.com/farsight-console/farsight/storage/internal/both"
)

// Whatever is stored in a directory, a schema that takes its place says the same.
func TestASchemaThatTookOverSaysTheSame(t *testing.T) {
	at := pgtest.Schema(t)
	eachTwin(t, func(w *twins) {
		ctx, r := context.WithoutCancel(t.Context()), rand.New(rand.NewPCG(13, 9))
		for w.round = range 150 {
			for _, step := range []func(*rand.Rand){w.play, w.share, w.change} {
				step(r) // each at an instant of its own, as attempts come in the order of their ends
				time.Sleep(time.Duration(1+r.IntN(1800_000)) * time.Millisecond)
			}
		}
		copied := w.copied(t.TempDir())
		from, err := storage.OpenHandover(storage.Options{Dir: copied})
		must(t, err)
		told := map[string]int64{}
		took, err := TakeOver(ctx, Options{URL: at}, from, func(what string, done, total int64) {
			if told[what] = done; done > total {
				t.Errorf("%s: %d of %d", what, done, total)
			}
		})
		must(t, err)
		if took.Rows < 500 || took.Payloads == 0 || took.Resumed || told["copy"] == 0 || told["compare"] == 0 {
			t.Errorf("%+v, told %v", took, told)
		}
		must(t, from.Close())
		db, err := Open(ctx, Options{URL: at})
		must(t, err)
		if report, err := db.Check(ctx); err != nil || !report.Sound() || report.Orphans > 0 {
			t.Error(report, err)
		}
		moved := &twins{t: t, both: [2]store{w.both[0], db}, jobs: w.jobs, round: w.round}
		for range 4 { // pages of several sizes
			moved.askOfJobs(r)
			moved.askOfTheLeague(r)
		}
		// And it goes on alike: no number is given out twice.
		for range 2 {
			for _, s := range moved.both {
				s.OnCommit(func(uint64, []engine.Change) {})
			}
			moved.play(r)
			time.Sleep(time.Minute)
			moved.change(r)
			moved.askOfJobs(r)
		}
		must(t, db.Close())
		if _, err := storage.Open(storage.Options{Dir: copied}); err == nil || !strings.Contains(err.Error(), "was moved to schema t") {
			t.Errorf("the directory is opened: %v", err)
		}
	})
}

// Every kind of record that a directory has comes into a table, and every table has records or is
// one of the server's own.
func TestEveryRecordHasItsTable(t *testing.T) {
	dir := t.TempDir() + "/data"
	disk, err := storage.Open(storage.Options{Dir: dir})
	must(t, err)
	must(t, disk.Close())
	from, err := storage.OpenHandover(storage.Options{Dir: dir})
	must(t, err)
	all, err := from.Collections(t.Context())
	must(t, err)
	must(t, from.Close())
	handed := []reflect.Type{reflect.TypeFor[both.Payload]()} // of each month, of which there is none
	for _, c := range all {
		handed = append(handed, c.Of)
	}
	tables := []string{
		"fs_schema", "fs_commit", "fs_fleet", "fs_member", "fs_call", "fs_term", // of those who work on it
		"fs_counter",                                // recounted
		"fs_log", "fs_number", "fs_row", "fs_store", // of the store that follows a log
	}
	for of, tk := range takers() {
		if tables = append(tables, strings.Replace(tk.table, takenAttempts, "fs_attempt", 1)); !slices.Contains(handed, of) {
			t.Errorf("nobody hands over a %v", of)
		}
	}
	for _, of := range handed {
		if _, known := takers()[of]; !known {
			t.Errorf("no table takes a %v", of)
		}
	}
	slices.Sort(tables)
	db := open(t, pgtest.Schema(t))
	var there []string
	must(t, db.view(t.Context(), func(x *txn) error {
		there = x.strings("select relname::text from pg_class where relkind = 'r' and relnamespace = current_schema()::regnamespace order by relname collate \"C\"")
		return x.err
	}))
	if !slices.Equal(tables, there) {
		t.Errorf("tables that are filled or follow:\n%v\nthat are there:\n%v", tables, there)
	}
}

// copied is the directory as it is now.
func (w *twins) copied(to string) string {
	to += "/copied"
	must(w.t, os.CopyFS(to, os.DirFS(w.dir)))
	return to
}

// halfway is a source whose rows are each a chunk, and which is given up after some of them.
type halfway struct {
	*storage.Handover
	left int
}

var errEnough = errors.New("enough")

func (h *halfway) Each(ctx context.Context, collection string, after []byte, take func(any), more func(int) bool) ([]byte, error) {
	if h.left--; h.left < 0 {
		return nil, errEnough
	}
	return h.Handover.Each(ctx, collection, after, take, func(n int) bool {
		more(n)
		return false
	})
}

// A copy that is cut off, wherever that is, goes on; nobody opens the schema before its end. It goes
// on from no other directory, and begins anew when the directory has changed.
func TestATakeOverGoesOn(t *testing.T) {
	at, ctx, kept, dir := pgtest.Schema(t), t.Context(), t.TempDir(), ""
	eachTwin(t, func(w *twins) {
		w.rounds(25, rand.New(rand.NewPCG(13, 10)), func(r *rand.Rand) { w.play(r); w.change(r) }, func(*rand.Rand) {})
		dir = w.copied(kept)
	})
	quiet := func(string, int64, int64) {}
	takeOver := func(dir string, chunks int) (Taken, error) {
		t.Helper()
		from, err := storage.OpenHandover(storage.Options{Dir: dir})
		must(t, err)
		defer func() { must(t, from.Close()) }()
		return TakeOver(ctx, Options{URL: at}, &halfway{from, chunks}, quiet)
	}
	for chunks := 3; chunks < 40; chunks += 12 {
		if r, err := takeOver(dir, chunks); !errors.Is(err, errEnough) || r.Resumed != (chunks > 3) {
			t.Fatal(r, err)
		}
		_, err := Open(ctx, Options{URL: at})
		refused(t, err, engine.ErrRefused, "has not got all that is stored in "+dir)
		_, err = OpenReadOnly(ctx, Options{URL: at})
		refused(t, err, engine.ErrRefused, "let `farsight migrate` of that end")
	}
	other := t.TempDir() + "/other"
	must(t, os.CopyFS(other, os.DirFS(dir)))
	_, err := takeOver(other, 1000)
	refused(t, err, engine.ErrRefused, "has a copy of "+dir+" under way")
	disk, err := storage.Open(storage.Options{Dir: dir})
	must(t, err)
	must(t, disk.Close())
	if r, err := takeOver(dir, 20); !errors.Is(err, errEnough) || r.Resumed {
		t.Errorf("of a directory that was opened meanwhile: %+v, %v", r, err)
	}
	r, err := takeOver(dir, 10_000)
	must(t, err)
	if !r.Resumed {
		t.Errorf("at last: %+v", r)
	}
	_, err = takeOver(other, 10_000)
	refused(t, err, engine.ErrRefused, "has what Farsight has stored there")
	db := open(t, at)
	if report, err := db.Check(ctx); err != nil || !report.Sound() {
		t.Error(report, err)
	}
	if _, err := storage.Open(storage.Options{Dir: dir}); err == nil || !strings.Contains(err.Error(), "was moved to schema t") {
		t.Errorf("the directory is opened: %v", err)
	}
}

// A schema that has something else is refused, and stays as it is; so is a role without rights, also
// by a trial. A trial changes nothing.
func TestWhereNothingIsTakenOver(t *testing.T) {
	ctx, dir := t.Context(), t.TempDir()+"/data"
	disk, err := storage.Open(storage.Options{Dir: dir})
	must(t, err)
	must(t, disk.Close())
	from, err := storage.OpenHandover(storage.Options{Dir: dir})
	must(t, err)
	defer func() { must(t, from.Close()) }()
	at := pgtest.Schema(t)
	if r, err := WouldTakeOver(ctx, Options{URL: at}, from); err != nil || !r.DryRun || r.Resumed {
		t.Errorf("a trial: %+v, %v", r, err)
	}
	schema, _ := Place(at)
	do(t, at, "create schema "+schema)
	do(t, at, "create table cooking (recipe text)")
	for _, try := range []func(o Options) error{
		func(o Options) error { _, err := WouldTakeOver(ctx, o, from); return err },
		func(o Options) error { _, err := TakeOver(ctx, o, from, nil); return err },
	} {
		refused(t, try(Options{URL: at}), engine.ErrRefused, "has tables of another program: name an empty one")
		refused(t, try(Options{URL: "nonsense"}), engine.ErrInvalid, "write postgres://user@host/database")
	}
	do(t, at, "drop schema "+schema+" cascade")
	role := schema + "_nobody"
	do(t, at, "create role "+role+" login")
	defer do(t, at, "drop role "+role)
	_, err = WouldTakeOver(ctx, Options{URL: strings.Replace(at, "user=farsight", "user="+role, 1)}, from)
	refused(t, err, engine.ErrRefused, "the role may not do what the store needs")
}
