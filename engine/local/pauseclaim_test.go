package local_test

import (
	"context"
	"slices"
	"testing"
	"testing/synctest"
	"time"

	"github.com/farsight-console/farsight/engine"
	"github.com/farsight-console/farsight/engine/backendtest/memstore"
	"github.com/farsight-console/farsight/engine/local"
)

// A pause that this process was not told of, such as another one's, is seen by the claim itself.
func TestB19d_TheClaimReadsThePause(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := memstore.New()
		b := member(t, s, local.Options{Boot: "one"})
		s.OnCommit(func(seq uint64, changes []engine.Change) {
			told := slices.DeleteFunc(slices.Clone(changes), func(c engine.Change) bool { return c.Queue != nil })
			b.Apply(seq, told)
		})
		stop := serving(b)
		err := s.Write(context.Background(), func(tx engine.Tx) error {
			return s.SetQueue(tx, engine.QueueState{Name: fullQ, Paused: true, By: engine.Actor{User: "ana"}, Since: time.Now()})
		})
		if err != nil {
			t.Fatal(err)
		}
		if _, err := b.Insert(context.Background(), engine.Spec{Kind: fetch, Queue: fullQ, Key: "a"}); err != nil {
			t.Fatal(err)
		}
		time.Sleep(time.Minute)
		if s := b.Stats(); s.Finished != 0 || s.InFlight != 0 {
			t.Errorf("jobs of a paused queue were claimed: %+v", s)
		}
		if err := stop(); err != nil {
			t.Error(err)
		}
	})
}
