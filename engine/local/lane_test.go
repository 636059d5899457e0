package local_test

import (
	"context"
	"fmt"
	"maps"
	"slices"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/farsight-console/farsight/engine"
	"github.com/farsight-console/farsight/engine/backendtest/memstore"
	"github.com/farsight-console/farsight/engine/local"
)

// gate is an admitter whose lanes are shut until an instant. A job's lane is the
// text before the colon of its key.
type gate struct {
	mu       sync.Mutex
	shut     map[string]time.Time
	perTurn  map[string]time.Duration // a permit shuts the lane for so long
	asked    int
	reserved map[engine.JobID]bool
	backlog  map[string]int
	changed  chan struct{}
	untried  string // the lane that is down and has nobody who tries it
}

func newGate() *gate {
	return &gate{
		shut: map[string]time.Time{}, perTurn: map[string]time.Duration{}, reserved: map[engine.JobID]bool{},
		backlog: map[string]int{}, changed: make(chan struct{}, 1),
	}
}

func (g *gate) Lane(j engine.Job) string {
	for i, r := range j.Key {
		if r == ':' {
			return j.Key[:i]
		}
	}
	return ""
}

func (g *gate) Admit(j engine.Job) engine.Admission {
	g.mu.Lock()
	defer g.mu.Unlock()
	g.asked++
	lane := g.Lane(j)
	if until := g.shut[lane]; until.After(time.Now()) {
		return engine.Admission{Until: until, Reason: "app:" + lane + " 100/100"}
	}
	if d := g.perTurn[lane]; d > 0 {
		g.shut[lane] = time.Now().Add(d)
	}
	if g.reserved[j.ID] {
		panic("admitted twice")
	}
	if g.reserved[j.ID] = true; g.untried == lane {
		g.untried = ""
	}
	return engine.Admission{OK: true}
}

func (g *gate) Withdraw(id engine.JobID) {
	g.mu.Lock()
	defer g.mu.Unlock()
	delete(g.reserved, id)
}

func (g *gate) Changed() <-chan struct{} { return g.changed }

func (*gate) Released() []engine.Hold { return nil }

func (g *gate) Untried(lane string) bool {
	g.mu.Lock()
	defer g.mu.Unlock()
	return lane == g.untried
}

func (g *gate) Backlog(lane string, jobs int) {
	g.mu.Lock()
	defer g.mu.Unlock()
	g.backlog[lane] = jobs
}

// told gives the backlog of each lane as the engine told it.
func (g *gate) told() map[string]int {
	g.mu.Lock()
	defer g.mu.Unlock()
	return maps.Clone(g.backlog)
}

func (g *gate) timesAsked() int {
	g.mu.Lock()
	defer g.mu.Unlock()
	return g.asked
}

func (g *gate) close(lane string, d time.Duration) {
	g.mu.Lock()
	defer g.mu.Unlock()
	g.shut[lane] = time.Now().Add(d)
}

// bench is a backend on the model, for what only this backend has.
type bench struct {
	t     testing.TB
	s     *memstore.Store
	b     *local.Backend
	stop  context.CancelFunc
	ended chan error

	mu    sync.Mutex
	order []string // keys as they began
	began map[string]time.Time
	notes []string
}

const (
	fetch  engine.Kind  = "match.fetch"
	fullQ  engine.Queue = "ingest.summoner.full"
	lateQ  engine.Queue = "ingest.summoner.latest"
	second              = time.Second
)

func newBench(t testing.TB, o local.Options, h engine.Handler) *bench {
	t.Helper()
	be := &bench{t: t, s: memstore.New(), began: map[string]time.Time{}}
	o.Store, o.Boot, o.Policies = be.s, "boot", engine.DefaultPolicies()
	o.OnNote = func(n engine.Note) { be.mu.Lock(); be.notes = append(be.notes, n.Text); be.mu.Unlock() }
	if len(o.Kinds) == 0 {
		o.Kinds = []engine.KindSpec{{Kind: fetch, Policy: engine.PolicyMatch}}
	}
	o.Kinds[0].Handler = func(ctx context.Context, r engine.Run) engine.Outcome {
		be.mu.Lock()
		be.order = append(be.order, r.Job.Key)
		be.began[r.Job.Key] = time.Now()
		be.mu.Unlock()
		return h(ctx, r)
	}
	b, err := local.New(o)
	if err != nil {
		t.Fatal(err)
	}
	be.b = b
	be.s.OnCommit(b.Apply)
	return be
}

func (be *bench) run() *bench {
	ctx, cancel := context.WithCancel(context.Background())
	be.stop, be.ended = cancel, make(chan error, 1)
	go func() { be.ended <- be.b.Run(ctx) }()
	synctest.Wait()
	return be
}

func (be *bench) down() {
	be.t.Helper()
	be.stop()
	if err := <-be.ended; err != nil {
		be.t.Errorf("Run = %v", err)
	}
}

func (be *bench) add(specs ...engine.Spec) []engine.JobID {
	be.t.Helper()
	for i := range specs {
		specs[i].Kind = fetch
		if specs[i].Queue == "" {
			specs[i].Queue = fullQ
		}
	}
	out, err := be.b.Insert(context.Background(), specs...)
	if err != nil {
		be.t.Fatal(err)
	}
	var ids []engine.JobID
	for _, e := range out {
		ids = append(ids, e.ID)
	}
	return ids
}

func (be *bench) job(id engine.JobID) engine.Job {
	be.t.Helper()
	d, err := be.s.Detail(context.Background(), engine.JobQuery{ID: id})
	if err != nil {
		be.t.Fatal(err)
	}
	return d.Job.Job
}

func (be *bench) want(id engine.JobID, s engine.State) engine.Job {
	be.t.Helper()
	synctest.Wait()
	j := be.job(id)
	if j.State != s {
		be.t.Errorf("job %s (%s) is %s, want %s", id, j.Key, j.State, s)
	}
	return j
}

func (be *bench) started() []string {
	be.mu.Lock()
	defer be.mu.Unlock()
	return slices.Clone(be.order)
}

func quick(context.Context, engine.Run) engine.Outcome { return engine.Done(nil) }

func keyed(key string) engine.Spec { return engine.Spec{Key: key} }

// One bucket frozen for ten minutes: other lanes and queues flow, waiting costs
// no write, due retries become available on time, and the lane starts within a
// second of the reset.
func TestP10_FrozenLaneBlocksNothingElse(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		g := newGate()
		be := newBench(t, local.Options{Admitter: g}, func(_ context.Context, r engine.Run) engine.Outcome {
			if r.Job.Key == "europe:retry" && r.Job.Tries == 1 {
				return engine.Retry(fmt.Errorf("503"))
			}
			return engine.Done(nil)
		}).run()
		retry := be.add(keyed("europe:retry"))[0]
		be.want(retry, engine.Retryable)
		g.close("europe", 10*time.Minute)
		reset := time.Now().Add(10 * time.Minute)
		frozen := be.add(keyed("europe:1"), keyed("europe:2"), keyed("europe:3"))
		be.add(keyed("asia:1"), keyed("none"), engine.Spec{Key: "asia:2", Queue: lateQ})
		time.Sleep(time.Minute)
		if got := be.started(); len(got) != 4 {
			t.Errorf("began while europe is frozen: %v", got)
		}
		if j := be.want(retry, engine.Available); j.Tries != 1 {
			t.Errorf("the due retry has %d tries", j.Tries)
		}
		j := be.want(frozen[1], engine.Available)
		if why, until, place := be.b.Why(j); why != "app:europe 100/100" || place != 2 || j.Rev != 1 {
			t.Errorf("reason %q until %v, place %d, revision %d", why, until, place, j.Rev)
		}
		if _, until, _ := be.b.Why(be.job(frozen[0])); !until.Equal(reset) {
			t.Errorf("the head waits until %v, want %v", until, reset)
		}
		if backlog := g.told(); backlog["europe"] != 4 || backlog["asia"] != 0 {
			t.Errorf("backlog %v, want 4 in europe", backlog)
		}
		time.Sleep(time.Until(reset) + second)
		for _, id := range append(frozen, retry) {
			be.want(id, engine.Completed)
		}
		for _, key := range []string{"europe:1", "europe:3"} {
			if at := be.began[key]; at.Before(reset) || at.Sub(reset) > second {
				t.Errorf("%s began %s after the reset", key, at.Sub(reset))
			}
		}
		if len(g.reserved) != 0 {
			t.Errorf("reservations are left: %v", g.reserved)
		}
		be.down()
	})
}

func TestLaneIsAskedAgainWhenChanged(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		g := newGate()
		be := newBench(t, local.Options{Admitter: g}, quick).run()
		g.close("europe", time.Hour)
		id := be.add(keyed("europe:1"))[0]
		be.want(id, engine.Available)
		asked := g.timesAsked()
		time.Sleep(10 * time.Minute)
		if n := g.timesAsked() - asked; n != 0 {
			t.Errorf("a refused lane was asked %d times more before its instant", n)
		}
		g.close("europe", 0)
		g.changed <- struct{}{}
		be.want(id, engine.Completed)
		be.down()
	})
}

// An operator's job is asked for at once although the lane's head was refused.
func TestOperatorsJobPassesARefusedHead(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		g := newGate()
		be := newBench(t, local.Options{Admitter: g, Workers: func() int { return 1 }}, quick).run()
		g.close("europe", time.Hour)
		be.add(keyed("europe:bulk"))
		synctest.Wait()
		g.close("europe", 0) // the reserve: this lane lets an operator through
		id := be.add(engine.Spec{Key: "europe:op", Priority: engine.PriorityOperator})[0]
		be.want(id, engine.Completed)
		if got := be.started(); got[0] != "europe:op" {
			t.Errorf("order %v", got)
		}
		be.down()
	})
}

// Owners take turns; priority goes before turns.
func TestFairSharesAndPriorities(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		be := newBench(t, local.Options{Workers: func() int { return 1 }}, quick)
		for _, owner := range []string{"a", "b", "c"} {
			for i := range map[string]int{"a": 4, "b": 2, "c": 1}[owner] {
				be.add2(engine.Spec{Key: fmt.Sprint(owner, i), Owner: owner})
			}
		}
		be.add2(engine.Spec{Key: "low", Owner: "d", Priority: engine.PriorityLow})
		be.add2(engine.Spec{Key: "high", Owner: "a", Priority: engine.PriorityHigh})
		be.run()
		want := []string{"high", "a0", "b0", "c0", "a1", "b1", "a2", "a3", "low"}
		if got := be.started(); !slices.Equal(got, want) {
			t.Errorf("order %v, want %v", got, want)
		}
		be.down()
	})
}

// Of a lane that is down one job goes before its rank, whatever the rank, and no second one.
func TestI7_OneJobTriesALaneBeforeItsRank(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		g := newGate()
		be := newBench(t, local.Options{Admitter: g, Workers: func() int { return 1 }}, func(context.Context, engine.Run) engine.Outcome {
			time.Sleep(second)
			return engine.Done(nil)
		})
		for i := range 6 {
			be.add2(engine.Spec{Key: fmt.Sprint("match:", i)})
			be.add2(engine.Spec{Key: fmt.Sprint("timeline:", i), Priority: engine.PriorityLow})
		}
		be.run()
		time.Sleep(second / 2)
		g.close("timeline", 2*second)
		g.mu.Lock()
		g.untried = "timeline"
		g.mu.Unlock()
		g.changed <- struct{}{}
		time.Sleep(time.Minute)
		be.down()
		want := []string{"match:0", "match:1", "match:2", "timeline:0", "match:3", "match:4", "match:5", "timeline:1"}
		if got := be.started()[:8]; !slices.Equal(got, want) {
			t.Errorf("order %v, want %v", got, want)
		}
	})
}

// add2 inserts before the engine runs.
func (be *bench) add2(s engine.Spec) {
	be.t.Helper()
	s.Kind, s.Queue = fetch, fullQ
	err := be.s.Write(context.Background(), func(tx engine.Tx) error {
		_, err := tx.Enqueue(s)
		return err
	})
	if err != nil {
		be.t.Fatal(err)
	}
}

func TestPlaceInLine(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		be := newBench(t, local.Options{Workers: func() int { return 0 }}, quick).run()
		places := map[string]int{"a0": 2, "b0": 3, "c0": 4, "a1": 5, "b1": 6, "a2": 7, "a3": 8, "low": 9, "high": 1}
		ids := map[string]engine.JobID{}
		for owner, n := range map[string]int{"a": 4} {
			for i := range n {
				key := fmt.Sprint(owner, i)
				ids[key] = be.add(engine.Spec{Key: key, Owner: owner})[0]
			}
		}
		for _, key := range []string{"b0", "b1", "c0"} {
			ids[key] = be.add(engine.Spec{Key: key, Owner: key[:1]})[0]
		}
		ids["low"] = be.add(engine.Spec{Key: "low", Priority: engine.PriorityLow})[0]
		ids["high"] = be.add(engine.Spec{Key: "high", Owner: "c", Priority: engine.PriorityHigh})[0]
		for key, id := range ids {
			why, _, place := be.b.Why(be.job(id))
			if place != places[key] {
				t.Errorf("%s: place %d (%s), want %d", key, place, why, places[key])
			}
		}
		soon, err := be.b.Soonest(t.Context(), 3)
		var keys []string
		for _, j := range soon {
			keys = append(keys, j.Key)
		}
		if err != nil || !slices.Equal(keys, []string{"high", "a0", "b0"}) {
			t.Errorf("%q are next, %v", keys, err)
		}
		be.down()
	})
}

// Each job of a paced lane is told apart: the wait behind others is the queue's,
// the wait at the head is the limiter's.
func TestPacingIsTheHeadsWaitAlone(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		g := newGate()
		g.perTurn["europe"] = 3 * second
		be := newBench(t, local.Options{Admitter: g}, quick).run()
		ids := be.add(keyed("europe:1"), keyed("europe:2"), keyed("europe:3"), keyed("asia:1"))
		time.Sleep(time.Minute)
		wants := []struct{ queued, paced time.Duration }{{0, 0}, {3 * second, 3 * second}, {6 * second, 3 * second}, {0, 0}}
		for i, want := range wants {
			d, err := be.s.Detail(t.Context(), engine.JobQuery{ID: ids[i]})
			if err != nil {
				t.Fatal(err)
			}
			a := d.Attempts[0]
			if a.Queued.Round(second) != want.queued || a.Paced.Round(second) != want.paced {
				t.Errorf("job %d: queued %s, paced %s, want %s and %s", i+1, a.Queued, a.Paced, want.queued, want.paced)
			}
		}
		be.down()
	})
}
