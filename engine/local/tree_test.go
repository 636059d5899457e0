package local_test

import (
	"context"
	"errors"
	"testing"
	"testing/synctest"
	"time"

	"github.com/farsight-console/farsight/engine"
	"github.com/farsight-console/farsight/engine/backendtest"
	"github.com/farsight-console/farsight/engine/backendtest/memstore"
	"github.com/farsight-console/farsight/engine/local"
)

// forest is a store with sync jobs whose children overlap.
type forest struct {
	t    testing.TB
	s    store
	wish map[string][]string // sync's key -> its children's
	ran  map[string]int
}

func (f *forest) kinds() []engine.KindSpec {
	return []engine.KindSpec{
		{Kind: fetch, Policy: engine.PolicyMatch, Handler: func(_ context.Context, r engine.Run) engine.Outcome {
			time.Sleep(second)
			return engine.Done(func(engine.Tx) error { f.ran[r.Job.Key]++; return nil })
		}},
		{Kind: "account.sync", Policy: engine.PolicyIngest, Handler: func(_ context.Context, r engine.Run) engine.Outcome {
			if r.Job.Phase > 0 {
				return engine.Done(nil)
			}
			return engine.Wait(1, func(tx engine.Tx) error {
				for _, key := range f.wish[r.Job.Key] {
					if _, err := tx.Enqueue(f.child(key, r.Job)); err != nil {
						return err
					}
				}
				return nil
			})
		}},
	}
}

func (f *forest) child(key string, parent engine.Job) engine.Spec {
	return engine.Spec{Kind: fetch, Queue: fullQ, Key: key, Owner: parent.Owner, Parents: []engine.GroupID{{Parent: parent.ID, Group: 1}}}
}

// session runs one backend while do is at work.
func (f *forest) session(o local.Options, do func(*local.Backend)) {
	f.t.Helper()
	o.Store, o.Boot, o.Policies, o.Kinds, o.PerWrite = f.s, "boot", backendtest.Policies(), f.kinds(), few
	b, err := local.New(o)
	if err != nil {
		f.t.Fatal(err)
	}
	f.s.OnCommit(b.Apply)
	ctx, cancel := context.WithCancel(context.Background())
	ended := make(chan error, 1)
	go func() { ended <- b.Run(ctx) }()
	synctest.Wait()
	do(b)
	synctest.Wait()
	cancel()
	if err := <-ended; err != nil {
		f.t.Error(err)
	}
}

func (f *forest) sync(b *local.Backend, key string) engine.JobID {
	f.t.Helper()
	out, err := b.Insert(context.Background(), engine.Spec{Kind: "account.sync", Queue: fullQ, Key: key, Owner: key})
	if err != nil {
		f.t.Fatal(err)
	}
	return out[0].ID
}

func (f *forest) want(q engine.JobQuery, s engine.State) engine.Job {
	f.t.Helper()
	synctest.Wait()
	d, err := f.s.Detail(context.Background(), q)
	if err != nil {
		f.t.Fatalf("%+v: %v", q, err)
	}
	if d.Job.State != s {
		f.t.Errorf("%s is %s, want %s", d.Job.Key, d.Job.State, s)
	}
	return d.Job.Job
}

// A sync works its own run only. A job that another run shares is
// served, whether it was there before or joins while the sync runs; what belongs
// to others stays as it is.
func TestOnlyWhatIsServedRuns(t *testing.T) {
	each := func(t *testing.T, s store) {
		f := &forest{t: t, s: s, ran: map[string]int{}, wish: map[string][]string{
			"full:other": {"match:1", "match:2", "match:3", "match:shared", "match:late"},
			"full:own":   {"match:shared", "match:7", "match:8"},
			"full:third": {"match:9"},
		}}
		var other, own engine.JobID
		f.session(local.Options{Workers: func() int { return 1 }}, func(b *local.Backend) {
			other = f.sync(b, "full:other")
			f.want(engine.JobQuery{ID: other}, engine.Pending)
		})
		f.session(local.Options{OnlyServed: true}, func(b *local.Backend) {
			own = f.sync(b, "full:own")
			time.Sleep(time.Minute)
			f.why(b, f.want(engine.JobQuery{ID: own}, engine.Available))
			if err := b.Serve(context.Background(), own); err != nil {
				t.Fatal(err)
			}
			f.want(engine.JobQuery{ID: own}, engine.Pending)
			err := f.s.Write(context.Background(), func(tx engine.Tx) error {
				_, err := tx.Enqueue(f.child("match:late", engine.Job{ID: own}), engine.Spec{Kind: fetch, Queue: fullQ, Key: "match:stranger"})
				return err
			})
			if err != nil {
				t.Fatal(err)
			}
			time.Sleep(time.Hour)
			f.want(engine.JobQuery{ID: own}, engine.Completed)
			f.want(engine.JobQuery{ID: other}, engine.Pending)
			for _, key := range []string{"match:2", "match:3", "match:stranger"} {
				f.why(b, f.want(engine.JobQuery{Key: key}, engine.Available))
			}
			for _, key := range []string{"match:shared", "match:late", "match:7", "match:8"} {
				if f.want(engine.JobQuery{Key: key}, engine.Completed); f.ran[key] != 1 {
					t.Errorf("%s ran %d times", key, f.ran[key])
				}
			}
		})
		f.session(local.Options{OnlyServed: true}, func(b *local.Backend) { // now the other one's turn: its children were there before
			third := f.sync(b, "full:third")
			if b.Serves(third) || b.Serves(other) {
				t.Error("served before it was named")
			}
			for _, root := range []engine.JobID{other, third} { // both at once
				if err := b.Serve(context.Background(), root); err != nil {
					t.Fatal(err)
				}
			}
			time.Sleep(time.Hour)
			f.want(engine.JobQuery{ID: other}, engine.Completed)
			f.want(engine.JobQuery{ID: third}, engine.Completed)
			f.want(engine.JobQuery{Key: "match:9"}, engine.Completed)
			if !b.Serves(third) {
				t.Error("not served, though named")
			}
			f.want(engine.JobQuery{Key: "match:stranger"}, engine.Available)
		})
		for key, n := range f.ran {
			if n != 1 {
				t.Errorf("%s ran %d times", key, n)
			}
		}
	}
	t.Run("memory", func(t *testing.T) { synctest.Test(t, func(t *testing.T) { each(t, memstore.New()) }) })
	t.Run("bbolt", func(t *testing.T) {
		dir := t.TempDir()
		synctest.Test(t, func(t *testing.T) {
			db, stop, err := serve(dir + "/data")
			if err != nil {
				t.Fatal(err)
			}
			each(t, db)
			if err := stop(); err != nil {
				t.Error(err)
			}
		})
	})
}

func (f *forest) why(b *local.Backend, j engine.Job) {
	f.t.Helper()
	if why, _, _ := b.Why(j); why != "not part of this sync" {
		f.t.Errorf("%s waits because %q", j.Key, why)
	}
}

// What waits is not known before the first job was read: "no job waits" would be a guess.
func TestW5d_NothingToDoIsKnownOnlyOfAWholeIndex(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		b, err := local.New(local.Options{Store: memstore.New(), Boot: "boot", Policies: backendtest.Policies()})
		if err != nil {
			t.Fatal(err)
		}
		if b.Reading() == "" {
			t.Error("nothing was read, and it knows what waits")
		}
		ctx, cancel := context.WithCancel(t.Context())
		ended := make(chan error, 1)
		go func() { ended <- b.Run(ctx) }()
		synctest.Wait()
		if why := b.Reading(); why != "" {
			t.Errorf("all was read, and it says: %s", why)
		}
		cancel()
		if err := <-ended; err != nil {
			t.Error(err)
		}
	})
}

// A backend that works for all has no one to serve.
func TestServeNeedsOnlyServed(t *testing.T) {
	b, err := local.New(local.Options{Store: memstore.New(), Boot: "boot"})
	if err != nil {
		t.Fatal(err)
	}
	if err := b.Serve(context.Background(), "1"); !errors.Is(err, engine.ErrInvalid) {
		t.Errorf("Serve = %v", err)
	}
}
