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
		made, err := b.Insert(context.Background(), engine.Spec{Kind: fetch, Queue: fullQ, Key: "a"})
		if err != nil {
			t.Fatal(err)
		}
		time.Sleep(time.Minute)
		var j engine.Job
		err = s.Read(context.Background(), func(tx engine.Tx) (err error) {
			j, err = s.Job(tx, made[0].ID)
			return err
		})
		if err != nil || j.State != engine.Available || j.Rev != 1 { // a claim bumps it
			t.Errorf("a job of a paused queue was claimed: %v, %v", j, err)
		}
		if err := stop(); err != nil {
			t.Error(err)
		}
	})
}
