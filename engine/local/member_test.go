package local_test

import (
	"context"
	"errors"
	"fmt"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/farsight-console/farsight/engine"
	"github.com/farsight-console/farsight/engine/backendtest/memstore"
	"github.com/farsight-console/farsight/engine/local"
)

// flaky is a store that fails at reads of jobs while it is told to. As a database does, it
// carries nothing out in a transaction in which it has failed.
type flaky struct {
	*memstore.Store
	failing atomic.Bool
	failed  atomic.Bool // in the transaction under way
}

var errTable = errors.New("the table is not there")

func (f *flaky) Job(tx engine.Tx, id engine.JobID) (engine.Job, error) {
	if f.failing.Load() {
		f.failed.Store(true)
		return engine.Job{}, errTable
	}
	return f.Store.Job(tx, id)
}

func (f *flaky) Write(ctx context.Context, fn func(engine.Tx) error) error {
	return f.Store.Write(ctx, func(tx engine.Tx) error {
		f.failed.Store(false)
		err := fn(tx)
		if f.failed.Load() {
			return errTable
		}
		return err
	})
}

// member is a backend on a store of somebody else; its jobs take ten minutes.
func member(t *testing.T, s local.Store, o local.Options) *local.Backend {
	t.Helper()
	o.Store, o.Policies = s, engine.DefaultPolicies()
	o.Kinds = []engine.KindSpec{{Kind: fetch, Policy: engine.PolicyMatch, Stuck: time.Hour, Handler: func(ctx context.Context, _ engine.Run) engine.Outcome {
		select {
		case <-time.After(10 * time.Minute):
			return engine.Done(nil)
		case <-ctx.Done():
			return engine.Retry(context.Cause(ctx))
		}
	}}}
	b, err := local.New(o)
	if err != nil {
		t.Fatal(err)
	}
	return b
}

// serving runs a backend until stop is called, which gives its error.
func serving(b *local.Backend) (stop func() error) {
	ctx, cancel := context.WithCancel(context.Background())
	ended := make(chan error, 1)
	go func() { ended <- b.Run(ctx) }()
	synctest.Wait()
	return func() error { cancel(); return <-ended }
}

// An error of the store says nothing about the job that was asked for: Run ends with it,
// at the claim and where jobs become due, and the job is as it was.
func TestAnErrorOfTheStoreIsNoUnreadableRecord(t *testing.T) {
	for name, spec := range map[string]engine.Spec{
		"at the claim":   {Kind: fetch, Queue: fullQ, Key: "a"},
		"when it is due": {Kind: fetch, Queue: fullQ, Key: "a", RunAt: time.Date(2000, 1, 1, 0, 1, 0, 0, time.UTC)},
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				s := &flaky{Store: memstore.New()}
				b := member(t, s, local.Options{Boot: "one"})
				s.OnCommit(b.Apply)
				out, err := b.Insert(context.Background(), spec)
				if err != nil {
					t.Fatal(err)
				}
				s.failing.Store(true)
				stop := serving(b)
				time.Sleep(2 * time.Minute)
				if err := stop(); !errors.Is(err, errTable) {
					t.Errorf("Run = %v", err)
				}
				d, err := s.Detail(context.Background(), engine.JobQuery{ID: out[0].ID})
				if err != nil || d.Job.State.Terminal() || b.Stats().LeftAlone != 0 {
					t.Errorf("%v: %+v, %+v", err, d.Job, b.Stats())
				}
			})
		})
	}
}

// When the store fails under the domain's own writing, whatever the domain makes of that,
// Run ends with it: nothing is charged to the job, which is an orphan for the next start.
func TestAnErrorOfTheStoreIsNoRefusal(t *testing.T) {
	for name, says := range map[string]func(error) error{
		"passed on": func(err error) error { return err },
		"wrapped":   func(err error) error { return fmt.Errorf("save the match: %w", err) },
		"swallowed": func(error) error { return nil },
		"replaced":  func(error) error { return errors.New("no such match") },
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				s := &flaky{Store: memstore.New()}
				b, err := local.New(local.Options{Store: s, Boot: "one", Policies: engine.DefaultPolicies(), Kinds: []engine.KindSpec{
					{Kind: fetch, Policy: engine.PolicyMatch, Handler: func(_ context.Context, r engine.Run) engine.Outcome {
						return engine.Done(func(tx engine.Tx) error {
							s.failing.Store(true)
							defer s.failing.Store(false)
							_, err := s.Job(tx, r.Job.ID)
							return says(err)
						})
					}}}})
				if err != nil {
					t.Fatal(err)
				}
				s.OnCommit(b.Apply)
				out, err := b.Insert(context.Background(), engine.Spec{Kind: fetch, Queue: fullQ, Key: "a"})
				if err != nil {
					t.Fatal(err)
				}
				stop := serving(b)
				if err := stop(); !errors.Is(err, errTable) {
					t.Errorf("Run = %v", err)
				}
				d, err := s.Detail(context.Background(), engine.JobQuery{ID: out[0].ID})
				if err != nil || d.Job.State != engine.Running || d.Job.Class != "" {
					t.Errorf("%v: %+v", err, d.Job)
				}
			})
		})
	}
}

// What a living process has in hand nobody gives back, at a start or at a sweep; when it
// has ended, its jobs go back within a minute.
func TestF1_NoLiveMembersJobIsGivenBack(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := memstore.New()
		one := member(t, s, local.Options{Boot: "one"})
		s.OnCommit(one.Apply)
		out, err := one.Insert(context.Background(), engine.Spec{Kind: fetch, Queue: fullQ, Key: "a"})
		if err != nil {
			t.Fatal(err)
		}
		stopOne := serving(one)
		var alive atomic.Bool
		alive.Store(true)
		two := member(t, s, local.Options{Boot: "two", Alive: func(boot string) bool { return boot == "one" && alive.Load() }})
		s.OnCommit(func(seq uint64, changes []engine.Change) {
			if alive.Load() { // else it would claim again what is given back
				one.Apply(seq, changes)
			}
			two.Apply(seq, changes)
		})
		stopTwo := serving(two)
		job := func() engine.Job {
			d, err := s.Detail(context.Background(), engine.JobQuery{ID: out[0].ID})
			if err != nil {
				t.Fatal(err)
			}
			return d.Job.Job
		}
		time.Sleep(3 * time.Minute)
		if j := job(); j.State != engine.Running || j.Boot != "one" || j.Crashes != 0 {
			t.Errorf("while its process lives: %s of %q", j.State, j.Boot)
		}
		alive.Store(false)
		time.Sleep(2 * time.Minute)
		if j := job(); j.State != engine.Running || two.Stats().Recovered != 1 || j.Crashes != 1 {
			t.Errorf("when it has gone: %s of %q, %+v", j.State, j.Boot, two.Stats())
		}
		for _, stop := range []func() error{stopOne, stopTwo} {
			if err := stop(); err != nil {
				t.Error(err)
			}
		}
	})
}

// carrier is a launcher that writes down what it is given, and carries it on later.
type carrier struct {
	written atomic.Int64
	waiting chan func()
}

func (c *carrier) Claimed(engine.Tx, engine.Job) error { c.written.Add(1); return nil }

func (c *carrier) Dropped(engine.JobID)  {}
func (c *carrier) Has(j engine.Job) bool { return false }

func (c *carrier) Launch(_ engine.Job, run func()) bool {
	c.waiting <- run
	return false
}

// A launcher is told of a job in the transaction that claims it, and begins its attempt
// when it likes.
func TestALauncherCarriesWhatWasClaimed(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := memstore.New()
		c := &carrier{waiting: make(chan func(), 10)}
		b := member(t, s, local.Options{Boot: "one", Launcher: c, Workers: func() int { return 1 }})
		s.OnCommit(b.Apply)
		out, err := b.Insert(context.Background(), engine.Spec{Kind: fetch, Queue: fullQ, Key: "a"}, engine.Spec{Kind: fetch, Queue: fullQ, Key: "b"})
		if err != nil {
			t.Fatal(err)
		}
		stop := serving(b)
		for i := range out {
			if c.written.Load() != int64(i+1) || len(c.waiting) != 1 {
				t.Fatalf("%d claimed, %d waiting", c.written.Load(), len(c.waiting))
			}
			go (<-c.waiting)()
			time.Sleep(11 * time.Minute)
		}
		for _, e := range out {
			d, err := s.Detail(context.Background(), engine.JobQuery{ID: e.ID})
			if err != nil || d.Job.State != engine.Completed {
				t.Errorf("%v: %s", err, d.Job.State)
			}
		}
		if err := stop(); err != nil {
			t.Error(err)
		}
	})
}
