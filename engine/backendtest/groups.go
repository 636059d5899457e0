package backendtest

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"testing"

	"github.com/farsight-console/farsight/engine"
)

// GroupStore is what P16_SummariesEqualTheirMembers needs of a store.
type GroupStore interface {
	Write(ctx context.Context, fn func(engine.Tx) error) error
	Read(ctx context.Context, fn func(engine.Tx) error) error
	Job(tx engine.Tx, id engine.JobID) (engine.Job, error)
	SaveJob(tx engine.Tx, j engine.Job) error
	Mark(tx engine.Tx, child engine.JobID, m engine.Mark, calls, throttled int) ([]engine.GroupStat, error)
	Group(tx engine.Tx, id engine.GroupID) (engine.GroupStat, error)
}

// errCrash is what a transaction of a process that dies in it comes to.
var errCrash = errors.New("the process was killed")

// groupWalk is one random schedule: a family and what its children should be.
type groupWalk struct {
	s      GroupStore
	rnd    *rand.Rand
	parent engine.JobID
	kids   []engine.JobID
	is     map[engine.JobID]engine.State
	calls  int
}

// P16_SummariesEqualTheirMembers does so many random schedules of finish, retry,
// cancel, late children and crashes, with prune between them if there is one, and
// compares the stored summary with the children after each step.
func P16_SummariesEqualTheirMembers(t testing.TB, s GroupStore, schedules int, prune func()) {
	rnd := rand.New(rand.NewPCG(16, uint64(schedules)))
	for n := range schedules {
		w := &groupWalk{s: s, rnd: rnd, is: map[engine.JobID]engine.State{}}
		if err := w.begin(n); err != nil {
			t.Fatalf("schedule %d: %v", n, err)
		}
		for step := range 3 + rnd.IntN(10) {
			if err := w.step(); err != nil {
				t.Fatalf("schedule %d, step %d: %v", n, step, err)
			}
			if err := w.recount(); err != nil {
				t.Fatalf("schedule %d, step %d: %v", n, step, err)
			}
		}
		if prune != nil && n%10 == 9 {
			prune()
			if err := w.recount(); err != nil {
				t.Fatalf("schedule %d, after pruning: %v", n, err)
			}
		}
	}
}

// begin stores a parent with no to eight children, all in one transaction.
func (w *groupWalk) begin(n int) error {
	kids := w.rnd.IntN(9)
	err := w.s.Write(context.Background(), func(tx engine.Tx) error {
		w.kids = w.kids[:0]
		out, err := tx.Enqueue(engine.Spec{Kind: "account.sync", Queue: queue})
		if err != nil {
			return err
		}
		w.parent = out[0].ID
		for i := range kids {
			out, err := tx.Enqueue(engine.Spec{Kind: kind, Queue: queue, Key: fmt.Sprintf("match:%d/%d", n, i), Parents: []engine.GroupID{w.group()}})
			if err != nil {
				return err
			}
			w.kids = append(w.kids, out[0].ID)
		}
		return nil
	})
	for _, id := range w.kids {
		w.is[id] = engine.Available
	}
	return err
}

func (w *groupWalk) group() engine.GroupID { return engine.GroupID{Parent: w.parent, Group: 1} }

// step moves one child, or dies on the way and leaves all as it was.
func (w *groupWalk) step() error {
	if len(w.kids) == 0 {
		return nil
	}
	id := w.kids[w.rnd.IntN(len(w.kids))]
	states := []engine.State{engine.Running, engine.Retryable, engine.Scheduled, engine.Available, engine.Completed, engine.Completed, engine.Discarded, engine.Cancelled}
	to, dies := states[w.rnd.IntN(len(states))], w.rnd.IntN(6) == 0
	err := w.s.Write(context.Background(), func(tx engine.Tx) error {
		j, err := w.s.Job(tx, id)
		if err != nil {
			return err
		}
		j.State = to
		j.Rev++
		if err := w.s.SaveJob(tx, j); err != nil {
			return err
		}
		if _, err := w.s.Mark(tx, id, engine.MarkOf(to), 1, 0); err != nil || !dies {
			return err
		}
		return errCrash
	})
	switch {
	case dies && errors.Is(err, errCrash):
		return nil
	case err != nil:
		return err
	}
	w.is[id] = to
	w.calls++
	return nil
}

// recount derives the summary from the children and compares.
func (w *groupWalk) recount() error {
	want := engine.GroupStat{Total: len(w.kids), Calls: w.calls}
	for _, s := range w.is {
		switch s {
		case engine.Completed:
			want.Done++
		case engine.Discarded:
			want.Dead++
		case engine.Cancelled:
			want.Cancelled++
		case engine.Retryable:
			want.Open++
			want.Retrying++
		default:
			want.Open++
		}
	}
	return w.s.Read(context.Background(), func(tx engine.Tx) error {
		got, err := w.s.Group(tx, w.group())
		if err != nil {
			return err
		}
		want.GroupID = got.GroupID
		if got != want || got.Settled() != (want.Open == 0) {
			return fmt.Errorf("stored %+v, derived %+v", got, want)
		}
		return nil
	})
}
