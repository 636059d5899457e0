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
