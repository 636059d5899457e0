package local_test

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"reflect"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/jackc/pgx/v5"
	"pgregory.net/rapid"

	"github.com/farsight-console/farsight/engine"
	"github.com/farsight-console/farsight/engine/backendtest/memstore"
	"github.com/farsight-console/farsight/engine/local"
	"github.com/farsight-console/farsight/internal/pgtest"
	"github.com/farsight-console/farsight/storage/pg"
)

// fellow is one of several processes on a schema. Its jobs go on until they are told to end, which
// makes them complete, or are cancelled.
type fellow struct {
	*local.Backend
	db    *pg.DB
	began chan engine.JobID
	end   chan struct{}
	gaps  chan struct{}
	woken chan engine.JobID // parents whose children have ended
}

// family is a job that waits for two of the others.
const family engine.Kind = "account.sync"

func (f *fellow) parent(_ context.Context, r engine.Run) engine.Outcome {
	if r.Job.Phase > 0 {
		f.woken <- r.Job.ID
		return engine.Done(nil)
	}
	return engine.Wait(1, func(tx engine.Tx) error {
		child := engine.Spec{Kind: fetch, Queue: fullQ, Parents: []engine.GroupID{{Parent: r.Job.ID, Group: 1}}}
		_, err := tx.Enqueue(child, child)
		return err
	})
}

// join opens a schema as a process of its own, which leads it or follows until the test ends.
func join(t *testing.T, at string, workers int, work func(*local.Backend, context.Context) error) *fellow {
	t.Helper()
	db, err := pg.Open(t.Context(), pg.Options{URL: at})
	if err != nil {
		t.Fatal(err)
	}
	f := &fellow{db: db, began: make(chan engine.JobID, 100), end: make(chan struct{}), gaps: make(chan struct{}, 100), woken: make(chan engine.JobID, 100)}
	f.Backend, err = local.New(local.Options{Store: db, Boot: fmt.Sprintf("%p", f), Policies: engine.DefaultPolicies(), Workers: func() int { return workers },
		Kinds: []engine.KindSpec{
			{Kind: family, Policy: engine.PolicyMatch, Handler: f.parent},
			{Kind: fetch, Policy: engine.PolicyMatch, Stuck: time.Hour, Handler: func(ctx context.Context, r engine.Run) engine.Outcome {
				f.began <- r.Job.ID
				select {
				case <-f.end:
					return engine.Done(nil)
				case <-ctx.Done():
					return engine.Retry(context.Cause(ctx))
				}
			}},
		}})
	if err != nil {
		t.Fatal(err)
	}
	db.OnCommit(f.Apply)
	db.OnGap(func() { f.Gap(); f.gaps <- struct{}{} })
	serving, stop := context.WithCancel(context.Background())
	served, worked := make(chan error, 1), make(chan error, 1)
	go func() { served <- db.Serve(serving) }()
	<-f.gaps
	working, leave := context.WithCancel(context.Background())
	go func() { worked <- work(f.Backend, working) }()
	t.Cleanup(func() {
		leave()
		err := <-worked
		stop()
		if err = errors.Join(err, <-served, db.Close()); err != nil {
			t.Error(err)
		}
	})
	return f
}

func (f *fellow) insert(t *testing.T, key string) engine.JobID {
	t.Helper()
	out, err := f.Insert(t.Context(), engine.Spec{Kind: fetch, Queue: fullQ, Key: key})
	if err != nil {
		t.Fatal(err)
	}
	return out[0].ID
}

func (f *fellow) job(t *testing.T, id engine.JobID) engine.Job {
	t.Helper()
	d, err := f.db.Detail(t.Context(), engine.JobQuery{ID: id})
	if err != nil {
		t.Fatal(err)
	}
	return d.Job.Job
}

// until waits for what others do, as long as a machine may take that is busy.
func until(t *testing.T, is func() bool) {
	t.Helper()
	for deadline := time.Now().Add(5 * time.Minute); !is(); time.Sleep(time.Millisecond) {
		if time.Now().After(deadline) {
			t.Fatal("what the others should do does not happen")
		}
	}
}

// view is what an index shows of what is stored.
type view struct {
	Counts map[engine.Queue]map[engine.State]int
	Paused map[engine.Queue]bool
}

func viewOf(b *local.Backend) view {
	v := view{b.Counts(), map[engine.Queue]bool{}}
	maps.DeleteFunc(v.Counts, func(_ engine.Queue, n map[engine.State]int) bool { return len(n) == 0 })
	for _, q := range b.Queues() {
		if q.Paused {
			v.Paused[q.Name] = true
		}
	}
	return v
}

// What is asked for at a member that follows the leader does: it runs what is enqueued there, and
// stops what is cancelled there; and the follower shows how it stands.
func TestAFollowersCommands(t *testing.T) {
	if testing.Short() {
		t.Skip("long: left out by -short")
	}
	at := pgtest.Schema(t)
	leader, follower := join(t, at, 16, (*local.Backend).Run), join(t, at, 16, (*local.Backend).Follow)
	id := follower.insert(t, "a")
	if begun := <-leader.began; begun != id {
		t.Errorf("%s began, %s was asked for", begun, id)
	}
	until(t, func() bool { return follower.Counts()[fullQ][engine.Running] == 1 })
	if _, err := follower.Act(t.Context(), engine.Command{Op: engine.OpCancel, Job: id}); err != nil {
		t.Fatal(err)
	}
	until(t, func() bool { return follower.job(t, id).State == engine.Cancelled })
	until(t, func() bool { return reflect.DeepEqual(viewOf(leader.Backend), viewOf(follower.Backend)) })
	if len(follower.began) != 0 || follower.Stats().Claimed != 0 {
		t.Errorf("the follower has begun %d jobs", follower.Stats().Claimed)
	}
}

// When B has acknowledged a pause, A starts nothing more of the queue, and goes on when B resumes.
func TestF2_APauseAcknowledgedByBStopsA(t *testing.T) {
	if testing.Short() {
		t.Skip("long: left out by -short")
	}
	at := pgtest.Schema(t)
	a, b := join(t, at, 16, (*local.Backend).Run), join(t, at, 16, (*local.Backend).Follow)
	close(a.end) // every job completes at once
	for round := range 5 {
		for n := range 20 {
			b.insert(t, fmt.Sprint(round, "/", n))
		}
		if _, err := b.Pause(t.Context(), fullQ, engine.Actor{User: "ana"}, ""); err != nil {
			t.Fatal(err)
		}
		begun := claims(t, at)
		for n := range 5 {
			b.insert(t, fmt.Sprint("later", round, "/", n))
		}
		until(t, func() bool { return a.Counts()[fullQ][engine.Available] == b.Counts()[fullQ][engine.Available] })
		if now := claims(t, at); now != begun {
			t.Errorf("%d jobs began after the pause", now-begun)
		}
		if _, err := b.Resume(t.Context(), fullQ, engine.Actor{User: "ana"}, ""); err != nil {
			t.Fatal(err)
		}
		until(t, func() bool { return len(a.Counts()[fullQ])+len(b.Counts()[fullQ]) == 0 })
		for len(a.began) > 0 {
			<-a.began
		}
	}
}

// claims is how many attempts have begun, as it is stored.
func claims(t *testing.T, at string) (n int) {
	t.Helper()
	c, err := pgx.Connect(t.Context(), at)
	if err != nil {
		t.Fatal(err)
	}
	defer c.Close(context.Background())
	if err := c.QueryRow(t.Context(), "select coalesce(sum(attempts), 0) from jobs").Scan(&n); err != nil {
		t.Fatal(err)
	}
	return n
}

// What members do while the listeners of both are cut, leader and follower know when they are back:
// a job that was cancelled meanwhile is stopped, one that was enqueued runs.
func TestAGapIsMadeUpFor(t *testing.T) {
	if testing.Short() {
		t.Skip("long: left out by -short")
	}
	at := pgtest.Schema(t)
	leader, follower := join(t, at, 16, (*local.Backend).Run), join(t, at, 16, (*local.Backend).Follow)
	c, err := pgx.Connect(t.Context(), at)
	if err != nil {
		t.Fatal(err)
	}
	defer c.Close(context.Background())
	for round := range 3 {
		running := leader.insert(t, fmt.Sprint("running", round))
		<-leader.began
		if _, err := c.Exec(t.Context(), "select pg_terminate_backend(pid, 5000) from pg_stat_activity where application_name = 'farsight listener'"); err != nil {
			t.Fatal(err)
		}
		if _, err := follower.Act(t.Context(), engine.Command{Op: engine.OpCancel, Job: running}); err != nil {
			t.Fatal(err)
		}
		next := follower.insert(t, fmt.Sprint("next", round))
		<-leader.gaps
		<-follower.gaps
		if begun := <-leader.began; begun != next {
			t.Errorf("%s began, %s was asked for", begun, next)
		}
		until(t, func() bool { return leader.job(t, running).State == engine.Cancelled })
		until(t, func() bool {
			return viewOf(follower.Backend).Counts[fullQ][engine.Running] == round+1 && reflect.DeepEqual(viewOf(leader.Backend), viewOf(follower.Backend))
		})
	}
}

// bus lets backends on one store in memory hear of its commits, and some of them miss them.
type bus struct {
	*memstore.Store
	mu   sync.Mutex
	hear map[*local.Backend]bool
}

func (b *bus) set(m *local.Backend, hears bool) {
	b.mu.Lock()
	defer b.mu.Unlock()
	b.hear[m] = hears
}

func (b *bus) hears(m *local.Backend) bool {
	b.mu.Lock()
	defer b.mu.Unlock()
	return b.hear[m]
}

func (b *bus) publish(seq uint64, changes []engine.Change) {
	b.mu.Lock()
	defer b.mu.Unlock()
	for to, hears := range b.hear {
		if hears {
			to.Apply(seq, changes)
		}
	}
}

// step is one thing that happens to a fleet of two.
type step struct {
	What    string
	At, Job int
}

// Whatever leader and follower are asked to do, in whatever order, and whichever of them misses
// what: when all is heard again both know what one knows that has just read it.
func TestMemoryEqualsAReload(t *testing.T) {
	steps := rapid.SliceOfN(rapid.Custom(func(t *rapid.T) step {
		return step{
			rapid.SampledFrom([]string{"insert", "insert", "later", "cancel", "retry", "pause", "resume", "deaf", "hear", "pass"}).Draw(t, "what"),
			rapid.IntRange(0, 1).Draw(t, "at"), rapid.IntRange(0, 50).Draw(t, "job"),
		}
	}), 1, 60)
	rapid.Check(t, func(rt *rapid.T) {
		script := steps.Draw(rt, "script")
		var wrong error
		synctest.Test(t, func(t *testing.T) { wrong = act(t, script) })
		if wrong != nil {
			rt.Fatal(wrong)
		}
	})
}

// fleetOfTwo are a leader and a follower, with the jobs that they were asked for.
type fleetOfTwo struct {
	s       *bus
	members []*local.Backend
	ids     []engine.JobID
}

func (f *fleetOfTwo) do(n int, d step) error {
	ctx, b := context.Background(), f.members[d.At]
	q := []engine.Queue{"q1", "q2"}[d.Job%2]
	job := engine.JobID("none")
	if len(f.ids) > 0 {
		job = f.ids[d.Job%len(f.ids)]
	}
	spec := engine.Spec{Kind: fetch, Queue: q, Key: fmt.Sprint(n)}
	var err error
	switch d.What {
	case "later":
		spec.RunAt = time.Now().Add(time.Duration(d.Job) * time.Minute)
		fallthrough
	case "insert":
		var out []engine.Enqueued
		if out, err = b.Insert(ctx, spec); err == nil {
			f.ids = append(f.ids, out[0].ID)
		}
	case "cancel", "retry":
		op := map[string]engine.Op{"cancel": engine.OpCancel, "retry": engine.OpRetry}[d.What]
		_, _ = b.Act(ctx, engine.Command{Op: op, Job: job}) // it may have ended
	case "pause":
		// Who is deaf does not hear that what it has chosen before was claimed: it waits for that.
		ctx, cancel := context.WithTimeout(ctx, time.Minute)
		defer cancel()
		if _, err = b.Pause(ctx, q, engine.Actor{User: "ana"}, ""); errors.Is(err, context.DeadlineExceeded) && !f.s.hears(b) {
			err = nil
		}
	case "resume":
		_, err = b.Resume(ctx, q, engine.Actor{User: "ana"}, "")
	case "deaf":
		f.s.set(b, false)
	case "hear":
		f.s.set(b, true)
		b.Gap()
	case "pass":
		time.Sleep(time.Duration(d.Job) * time.Minute)
	}
	return err
}

func act(t *testing.T, script []step) error {
	ctx := context.Background()
	s := &bus{Store: memstore.New(), hear: map[*local.Backend]bool{}}
	members := []*local.Backend{member(t, s, local.Options{Boot: "leader"}), member(t, s, local.Options{Boot: "follower"})}
	for _, b := range members {
		s.set(b, true)
	}
	s.OnCommit(s.publish)
	leading, stop := context.WithCancel(ctx)
	ended := make(chan error, 2)
	go func() { ended <- members[0].Run(leading) }()
	go func() { ended <- members[1].Follow(leading) }()
	synctest.Wait()
	f := &fleetOfTwo{s: s, members: members}
	var wrong error
	for n, d := range script {
		wrong = errors.Join(wrong, f.do(n, d))
		synctest.Wait()
	}
	for _, b := range members {
		s.set(b, true)
		b.Gap()
	}
	time.Sleep(time.Second)
	synctest.Wait()
	fresh := member(t, s, local.Options{Boot: "fresh"})
	go func() { ended <- fresh.Follow(leading) }()
	synctest.Wait()
	for i, b := range members {
		if got, want := viewOf(b), viewOf(fresh); !reflect.DeepEqual(got, want) {
			wrong = fmt.Errorf("member %d knows %v, stored %v", i, got, want)
		}
	}
	stop()
	return errors.Join(wrong, <-ended, <-ended, <-ended)
}
