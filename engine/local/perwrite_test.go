package local_test

import (
	"context"
	"errors"
	"testing"
	"testing/synctest"
	"time"

	"github.com/farsight-console/farsight/engine"
	"github.com/farsight-console/farsight/engine/local"
)

// Of more orphans than one write moves, every one is given back.
func TestS1_7_EveryOrphanIsGivenBack(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		be := newBench(t, local.Options{PerWrite: few}, quick)
		var ids []engine.JobID
		err := be.s.Write(context.Background(), func(tx engine.Tx) error {
			for _, key := range keysOf(3*few + 1) {
				made, err := tx.Enqueue(engine.Spec{Kind: fetch, Queue: fullQ, Key: key})
				if err != nil {
					return err
				}
				j, err := be.s.Job(tx, made[0].ID)
				j.State, j.Tries, j.Attempts = engine.Running, 1, 1
				j.Rev++
				if err := errors.Join(err, be.s.SaveJob(tx, j)); err != nil {
					return err
				}
				ids = append(ids, j.ID)
			}
			return nil
		})
		if err != nil {
			t.Fatal(err)
		}
		be.run()
		time.Sleep(second)
		for _, id := range ids {
			if j := be.want(id, engine.Completed); j.Attempts != 1 {
				t.Errorf("%s: %d attempts, the interrupted one counts", j.Key, j.Attempts)
			}
		}
		be.down()
	})
}

// More free slots than one write claims for are filled in the same instant.
func TestAllFreeSlotsAreFilledAtOnce(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		const slots = 3*few + 1
		be := newBench(t, local.Options{PerWrite: few, Workers: func() int { return slots }}, func(ctx context.Context, _ engine.Run) engine.Outcome {
			<-ctx.Done()
			return engine.Retry(context.Cause(ctx))
		}).run()
		var specs []engine.Spec
		for _, key := range keysOf(slots + 2) {
			specs = append(specs, keyed(key))
		}
		before := time.Now()
		be.add(specs...)
		synctest.Wait()
		if n := len(be.started()); n != slots || !time.Now().Equal(before) {
			t.Errorf("%d of %d slots were filled after %v", n, slots, time.Since(before))
		}
		be.down()
	})
}

// More jobs than one write moves fall due at one instant: all of them start then.
func TestS0_9_EveryDueJobStarts(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		be := newBench(t, local.Options{PerWrite: few, Workers: func() int { return 100 }}, quick).run()
		due := time.Now().Add(time.Minute)
		var specs []engine.Spec
		for _, key := range keysOf(3*few + 1) {
			specs = append(specs, engine.Spec{Key: key, RunAt: due})
		}
		ids := be.add(specs...)
		time.Sleep(time.Minute)
		for _, id := range ids {
			be.want(id, engine.Completed)
		}
		if !time.Now().Equal(due) {
			t.Errorf("it took %v", time.Since(due))
		}
		be.down()
	})
}

func keysOf(n int) (keys []string) {
	for i := range n {
		keys = append(keys, string(rune('a'+i)))
	}
	return keys
}
