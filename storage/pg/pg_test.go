package pg

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/jackc/pgx/v5"

	"github.com/farsight-console/farsight/engine"
	"github.com/farsight-console/farsight/engine/local"
	"github.com/farsight-console/farsight/internal/leak"
	"github.com/farsight-console/farsight/internal/pgtest"
	"github.com/farsight-console/farsight/internal/scratch"
)

func TestMain(m *testing.M) {
	scratch.AtOnce(4)
	leak.Main(scratch.OnDisk(m))
}

func must(t testing.TB, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}

// open opens a schema for the length of the test.
func open(t testing.TB, at string) *DB {
	t.Helper()
	db, err := Open(t.Context(), Options{URL: at})
	must(t, err)
	t.Cleanup(func() { must(t, db.Close()) })
	return db
}

func insert(t testing.TB, db *DB, specs ...engine.Spec) (ids []engine.JobID) {
	t.Helper()
	must(t, db.Write(t.Context(), func(tx engine.Tx) error {
		out, err := tx.Enqueue(specs...)
		ids = nil
		for _, e := range out {
			ids = append(ids, e.ID)
		}
		return err
	}))
	return ids
}

func spec(key string, parents ...engine.GroupID) engine.Spec {
	return engine.Spec{Kind: "match.fetch", Queue: "q", Key: key, Parents: parents}
}

func jobOf(t testing.TB, db *DB, id engine.JobID) engine.Job {
	t.Helper()
	d, err := db.Detail(t.Context(), engine.JobQuery{ID: id})
	must(t, err)
	return d.Job.Job
}

// The database's first error is what Write says, whatever becomes of it in the function, and
// nothing of the transaction is stored.
func TestTheFirstErrorIsKept(t *testing.T) {
	db := open(t, pgtest.Schema(t))
	for name, says := range map[string]error{"swallowed": nil, "replaced": engine.ErrRefused} {
		err := db.Write(t.Context(), func(tx engine.Tx) error {
			_, err := tx.Enqueue(spec("a"))
			must(t, err)
			_, _ = values[engine.JobID](own(tx), "select id from nowhere")
			if _, err := db.Job(tx, "a1"); err == nil || errors.Is(err, engine.ErrNotFound) {
				t.Errorf("%s: read on after the error: %v", name, err)
			}
			return says
		})
		if err == nil || !strings.Contains(err.Error(), "nowhere") {
			t.Errorf("%s: Write = %v", name, err)
		}
	}
	if _, err := db.Detail(t.Context(), engine.JobQuery{Key: "a"}); !errors.Is(err, engine.ErrNotFound) {
		t.Errorf("the job is there: %v", err)
	}
}

// Who loses the connection before the commit runs again; what was sent is gone.
func TestALostConnectionRunsAgain(t *testing.T) {
	at := pgtest.Schema(t)
	db := open(t, at)
	runs := 0
	must(t, db.Write(t.Context(), func(tx engine.Tx) error {
		_, err := tx.Enqueue(spec("a"))
		if runs++; runs < 3 {
			do(t, at, fmt.Sprint("select pg_terminate_backend(", own(tx).conn.PgConn().PID(), ", 5000)"))
			_, err = tx.Enqueue(spec("b"))
		}
		return err
	}))
	jobs, _, total, err := db.Jobs(t.Context(), engine.JobsQuery{})
	if err != nil || total != 1 || runs != 3 || jobs[0].Key != "a" {
		t.Errorf("%d runs, %+v, %v", runs, jobs, err)
	}
}

// A panic of fn's passes through, and its connection is not left in a transaction.
func TestAPanicLeavesNoTrace(t *testing.T) {
	db := open(t, pgtest.Schema(t))
	for range usualConns + 1 {
		func() {
			defer func() { _ = recover() }()
			_ = db.Write(t.Context(), func(tx engine.Tx) error {
				_, err := tx.Enqueue(spec("a"))
				must(t, err)
				panic("at the disco")
			})
		}()
	}
	insert(t, db, spec("b"))
	if _, err := db.Detail(t.Context(), engine.JobQuery{Key: "a"}); !errors.Is(err, engine.ErrNotFound) {
		t.Errorf("the job is there: %v", err)
	}
}

// What PostgreSQL takes as no text is stored all the same: a name from outside must not end an
// engine.
func TestTextThatIsNoText(t *testing.T) {
	db := open(t, pgtest.Schema(t))
	id := insert(t, db, spec("a\x00b\xff"))[0]
	must(t, db.Write(t.Context(), func(tx engine.Tx) error {
		j, err := db.JobByKey(tx, "a\x00b\xff")
		must(t, err)
		j.Rev++
		j.State, j.LastError = engine.Retryable, "\x00\xc3"
		return db.SaveJob(tx, j)
	}))
	if j := jobOf(t, db, id); j.Key != "a\uFFFDb\uFFFD" || j.LastError != "\uFFFD\uFFFD" {
		t.Errorf("%q, %q", j.Key, j.LastError)
	}
	if again := insert(t, db, spec("a\x00b\xff"))[0]; again != id {
		t.Errorf("the key is held by %s and by %s", id, again)
	}
}

// Of many who write one job at once each has decided by the one before, and what is published
// has that order.
func TestChangesComeInTheOrderOfTheirDecisions(t *testing.T) {
	db := open(t, pgtest.Schema(t))
	id := insert(t, db, spec("a"))[0]
	var mu sync.Mutex
	var seen []engine.Revision
	var last atomic.Uint64
	db.OnCommit(func(seq uint64, changes []engine.Change) {
		mu.Lock()
		defer mu.Unlock()
		if last.Swap(seq) >= seq {
			t.Errorf("version %d after %d", seq, last.Load())
		}
		seen = append(seen, changes[0].Job.Rev)
	})
	const writers, each = 8, 25
	var all sync.WaitGroup
	for range writers {
		all.Go(func() {
			for range each {
				err := db.Write(context.Background(), func(tx engine.Tx) error {
					j, err := db.Job(tx, id)
					j.Rev++
					return errors.Join(err, db.SaveJob(tx, j))
				})
				if err != nil {
					t.Error(err)
				}
			}
		})
	}
	all.Wait()
	for i, rev := range seen {
		if int(rev) != i+2 {
			t.Fatalf("change %d is of revision %d", i, rev)
		}
	}
	if len(seen) != writers*each {
		t.Errorf("%d changes", len(seen))
	}
}

// Of many who insert a key at once one does, and the others are told.
func TestOneHolderOfAKey(t *testing.T) {
	at := pgtest.Schema(t)
	dbs := []*DB{open(t, at), open(t, at)}
	var all sync.WaitGroup
	var inserted atomic.Int64
	for i := range 40 {
		all.Go(func() {
			var out []engine.Enqueued
			err := dbs[i%2].Write(context.Background(), func(tx engine.Tx) (err error) {
				out, err = tx.Enqueue(spec(fmt.Sprint("key ", i/8)), spec(fmt.Sprint("other ", i)))
				return err
			})
			if err != nil {
				t.Error(err)
			} else if !out[0].Duplicate {
				inserted.Add(1)
			}
		})
	}
	all.Wait()
	if inserted.Load() != 5 {
		t.Errorf("5 keys were inserted %d times", inserted.Load())
	}
}

// Once a member has paused a queue, no other one starts its jobs, although nobody has told it; and
// the pause is not acknowledged before claims are decided that were begun before it.
func TestF2_APauseHoldsInOtherMembers(t *testing.T) {
	at := pgtest.Schema(t)
	mine, theirs := open(t, at+"&idle_in_transaction_session_timeout=0"), open(t, at)
	pause := func() error {
		return theirs.Write(context.Background(), func(tx engine.Tx) error {
			return theirs.SetQueue(tx, engine.QueueState{Name: "q", Paused: true, Since: time.Now(), Reason: "look"})
		})
	}
	acknowledged := make(chan error, 1)
	once := sync.OnceFunc(func() {
		go func() { acknowledged <- pause() }()
		for waiting := int64(0); waiting == 0; { // until it waits for the lock
			must(t, theirs.view(t.Context(), func(tx *txn) (err error) {
				waiting, _, err = value[int64](tx, "select count(*) from pg_stat_activity where wait_event_type = 'Lock' and query like '%fs_queue%'")
				return err
			}))
		}
	})
	must(t, mine.Write(t.Context(), func(tx engine.Tx) error {
		q, err := mine.Queue(tx, "q")
		once()
		if q.Paused || len(acknowledged) > 0 {
			t.Errorf("%+v, acknowledged %d times", q, len(acknowledged))
		}
		return err
	}))
	must(t, <-acknowledged)

	ran := make(chan engine.JobID, 10)
	b, err := local.New(local.Options{Store: mine, Boot: "one", Policies: engine.DefaultPolicies(), Kinds: []engine.KindSpec{{
		Kind: "match.fetch", Policy: engine.PolicyMatch, Handler: func(_ context.Context, r engine.Run) engine.Outcome {
			ran <- r.Job.ID
			return engine.Done(nil)
		}}}})
	must(t, err)
	mine.OnCommit(b.Apply)
	other := spec("other")
	other.Queue = "other"
	must(t, theirs.Write(t.Context(), func(tx engine.Tx) error {
		return theirs.SetQueue(tx, engine.QueueState{Name: "q", Since: time.Now()})
	}))
	ctx, stop := context.WithCancel(context.Background())
	ended := make(chan error)
	go func() { ended <- b.Run(ctx) }()
	first := insert(t, mine, spec("first"))[0] // so that it has read the queues as they were
	if id := <-ran; id != first {
		t.Errorf("%s ran", id)
	}
	must(t, pause())
	held := insert(t, mine, spec("held"), other)
	if id := <-ran; id != held[1] {
		t.Errorf("job %s ran of the paused queue", id)
	}
	stop()
	must(t, <-ended)
	if j := jobOf(t, mine, held[0]); j.State != engine.Available || j.Attempts != 0 || len(ran) > 0 {
		t.Errorf("%+v, %d more ran", j, len(ran))
	}
}

// The last two children of a family end at once in two members: one of them finds the family
// settled, and the sums are those of the children.
func TestF5_TheLastTwoChildrenSettleOnce(t *testing.T) {
	at := pgtest.Schema(t)
	dbs := []*DB{open(t, at), open(t, at)}
	for round := range 30 {
		parent := insert(t, dbs[0], spec(fmt.Sprint("parent ", round)))[0]
		g := engine.GroupID{Parent: parent, Group: 1}
		kids := insert(t, dbs[0], spec(fmt.Sprint("one ", round), g), spec(fmt.Sprint("two ", round), g))
		var all sync.WaitGroup
		var settled atomic.Int64
		for i, id := range kids {
			all.Go(func() {
				last := false
				err := dbs[i].Write(context.Background(), func(tx engine.Tx) error {
					j, err := dbs[i].Job(tx, id)
					if err != nil {
						return err
					}
					j.Rev++
					j.State = engine.Completed
					if err := dbs[i].SaveJob(tx, j); err != nil {
						return err
					}
					groups, err := dbs[i].Mark(tx, id, engine.MarkDone, 1, 0)
					last = len(groups) == 1 && groups[0].Settled()
					return err
				})
				if err != nil {
					t.Error(err)
				}
				if last {
					settled.Add(1)
				}
			})
		}
		all.Wait()
		if settled.Load() != 1 {
			t.Errorf("round %d: settled %d times", round, settled.Load())
		}
	}
	if r, err := dbs[1].Check(t.Context()); err != nil || !r.Sound() {
		t.Error(r.Findings, err)
	}
}

// Several programs that open a new schema at once make it once; one of a later version is
// refused, and stays as it is.
func TestTheSchemaIsMadeOnce(t *testing.T) {
	at := pgtest.Schema(t)
	var all sync.WaitGroup
	for range 6 {
		all.Go(func() {
			db, err := Open(context.Background(), Options{URL: at})
			if err != nil {
				t.Error(err)
				return
			}
			_ = db.Close()
		})
	}
	all.Wait()
	do(t, at, "insert into fs_schema (version) select max(version) + 7 from fs_schema")
	_, err := Open(t.Context(), Options{URL: at})
	refused(t, err, engine.ErrRefused, fmt.Sprintf("is of version %d, this program knows %d", Version()+7, Version()))
}

func do(t testing.TB, at string, statements ...string) {
	t.Helper()
	c, err := pgx.Connect(t.Context(), at)
	must(t, err)
	defer c.Close(context.Background())
	for _, sql := range statements {
		_, err := c.Exec(t.Context(), sql)
		must(t, err)
	}
}

func refused(t testing.TB, err, code error, words string) {
	t.Helper()
	p, ok := errors.AsType[*engine.Problem](err)
	if !ok || !errors.Is(p, code) || !strings.Contains(p.Error(), words) {
		t.Errorf("error = %v, want %v with %q", err, code, words)
	}
}
