package local_test

import (
	"context"
	"errors"
	"fmt"
	"reflect"
	"testing"
	"testing/synctest"
	"time"

	"pgregory.net/rapid"

	"github.com/farsight-console/farsight/engine"
	"github.com/farsight-console/farsight/engine/backendtest/memstore"
	"github.com/farsight-console/farsight/engine/local"
)

// view is what an index shows of what is stored.
type view struct {
	Counts map[engine.Queue]map[engine.State]int
	Paused map[engine.Queue]bool
}

func viewOf(b *local.Backend) view {
	v := view{map[engine.Queue]map[engine.State]int{}, map[engine.Queue]bool{}}
	for _, q := range b.Queues() {
		if len(q.Counts) > 0 {
			v.Counts[q.Name] = q.Counts
		}
		if q.Paused {
			v.Paused[q.Name] = true
		}
	}
	return v
}

// step is one thing that happens to a fleet of two.
type step struct {
	What    string
	At, Job int
}

// Whatever leader and follower are asked to do, in whatever order: both know what one knows that has just read it.
func TestMemoryEqualsWhatIsStored(t *testing.T) {
	steps := rapid.SliceOfN(rapid.Custom(func(t *rapid.T) step {
		return step{
			rapid.SampledFrom([]string{"insert", "insert", "later", "cancel", "retry", "pause", "resume", "pass"}).Draw(t, "what"),
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
		_, err = b.Pause(ctx, q, engine.Actor{User: "ana"}, "")
	case "resume":
		_, err = b.Resume(ctx, q, engine.Actor{User: "ana"}, "")
	case "pass":
		time.Sleep(time.Duration(d.Job) * time.Minute)
	}
	return err
}

func act(t *testing.T, script []step) error {
	ctx := context.Background()
	s := memstore.New()
	members := []*local.Backend{member(t, s, local.Options{Boot: "leader"}), member(t, s, local.Options{Boot: "follower"})}
	s.OnCommit(func(seq uint64, changes []engine.Change) {
		for _, b := range members {
			b.Apply(seq, changes)
		}
	})
	leading, stop := context.WithCancel(ctx)
	ended := make(chan error, 2)
	go func() { ended <- members[0].Run(leading) }()
	go func() { ended <- members[1].Follow(leading) }()
	synctest.Wait()
	f := &fleetOfTwo{members: members}
	var wrong error
	for n, d := range script {
		wrong = errors.Join(wrong, f.do(n, d))
		synctest.Wait()
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
