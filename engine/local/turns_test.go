package local_test

import (
	"context"
	"fmt"
	"slices"
	"testing"
	"testing/synctest"
	"time"

	"github.com/farsight-console/farsight/engine"
	"github.com/farsight-console/farsight/engine/local"
)

// stopGate is a gate that tells of each job that it is asked about, after it has answered.
type stopGate struct {
	*gate
	asks func(n int)
}

func (g *stopGate) Admit(j engine.Job) engine.Admission {
	a := g.gate.Admit(j)
	g.asks(g.timesAsked())
	return a
}

// Wherever the stop signal comes between the choice of a job and its start, no handler begins
// after it; what was claimed by then is handed back as it was, without its permit,
// and nothing more is asked for (P-27).
func TestP27_NothingBeginsAfterTheStopSignal(t *testing.T) {
	const jobs = 6
	for name, stopped := range map[string]struct {
		admit  int  // the signal comes while so many are admitted
		commit bool // or while the first claim is committed
		finish bool // or while a job that has run still ends
		begun  int
		asked  int
	}{
		"chosen":  {admit: 1, asked: 1},
		"further": {admit: 3, asked: 3},
		"claimed": {commit: true, asked: jobs},
		"ended":   {finish: true, begun: 1, asked: 1},
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				var be *bench
				workers := jobs
				if stopped.finish {
					workers = 1
				}
				g := &stopGate{gate: newGate()}
				g.asks = func(n int) {
					if n == stopped.admit {
						be.stop()
					}
				}
				be = newBench(t, local.Options{Admitter: g, Workers: func() int { return workers }}, func(context.Context, engine.Run) engine.Outcome {
					if stopped.finish {
						be.stop()
					}
					return engine.Done(nil)
				})
				be.s.OnCommit(func(seq uint64, changes []engine.Change) {
					be.b.Apply(seq, changes)
					if stopped.commit && slices.ContainsFunc(changes, func(c engine.Change) bool { return c.Job != nil && c.Job.State == engine.Running }) {
						be.stop()
					}
				})
				for i := range jobs {
					be.add2(engine.Spec{Key: fmt.Sprint("europe:", i)})
				}
				be.run()
				be.down()
				if got := be.started(); len(got) != stopped.begun {
					t.Errorf("begun: %v", got)
				}
				if n := g.timesAsked(); n != stopped.asked {
					t.Errorf("%d jobs were asked for, want %d", n, stopped.asked)
				}
				if len(g.reserved) != 0 {
					t.Errorf("permits that nobody will use: %v", g.reserved)
				}
				for j, err := range be.s.Live(context.Background()) {
					if err != nil || j.State != engine.Available || j.Tries != 0 {
						t.Errorf("%s is %s after %d tries, %v", j.Key, j.State, j.Tries, err)
					}
				}
			})
		})
	}
}

// Lines of one rank take turns, so that neither a long queue nor a long lane keeps the others
// waiting; one that comes later has its turn at once.
func TestLinesTakeTurns(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		be := newBench(t, local.Options{Admitter: newGate(), Workers: func() int { return 1 }}, func(context.Context, engine.Run) engine.Outcome {
			time.Sleep(second)
			return engine.Done(nil)
		})
		for i := range 6 { // one after the other: order of arrival says nothing of the turns
			be.add2(engine.Spec{Key: fmt.Sprint("europe:", i)})
		}
		for i := range 3 {
			be.add2(engine.Spec{Key: fmt.Sprint("asia:", i)})
		}
		be.run()
		time.Sleep(second / 2)
		for i := range 2 {
			be.add(engine.Spec{Key: fmt.Sprint("europe:late", i), Queue: lateQ})
		}
		time.Sleep(20 * second)
		be.down()
		lines := map[string]int{}
		var got []string
		for _, key := range be.started() {
			line := key[:len(key)-1]
			got = append(got, line)
			lines[line]++
		}
		if lines["europe:"] != 6 || lines["asia:"] != 3 || lines["europe:late"] != 2 {
			t.Fatalf("begun: %v", got)
		}
		for i := range 2 { // as long as all three have jobs, each begins one of every three
			three := slices.Clone(got[1+3*i : 4+3*i])
			slices.Sort(three)
			if !slices.Equal(three, []string{"asia:", "europe:", "europe:late"}) {
				t.Errorf("begun in the order %v", got)
			}
		}
		if two := got[7:9]; slices.Equal(two, []string{"europe:", "europe:"}) {
			t.Errorf("begun in the order %v", got)
		}
	})
}

// Between lines a better rank goes first, and within a rank what was sent back through no fault
// of its own.
func TestTheBestOfAllLinesGoesFirst(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		be := newBench(t, local.Options{Admitter: newGate(), Workers: func() int { return 1 }}, quick)
		for i := range 3 {
			be.add2(engine.Spec{Key: fmt.Sprint("kr:low", i), Priority: engine.PriorityLow})
			be.add2(engine.Spec{Key: fmt.Sprint("europe:", i)})
			be.add2(engine.Spec{Key: fmt.Sprint("asia:high", i), Priority: engine.PriorityHigh})
			be.add2(engine.Spec{Key: fmt.Sprint("sea:", i)})
		}
		for j, err := range be.s.Live(context.Background()) {
			if err != nil || j.Key != "sea:2" && j.Key != "kr:low1" {
				continue
			}
			j.Rev++
			j.Front = true
			if err := be.s.Write(context.Background(), func(tx engine.Tx) error { return be.s.SaveJob(tx, j) }); err != nil {
				t.Fatal(err)
			}
		}
		be.run()
		be.down()
		got := be.started()
		if want := []string{"asia:high0", "asia:high1", "asia:high2", "sea:2"}; !slices.Equal(got[:4], want) {
			t.Errorf("first %v, want %v", got[:4], want)
		}
		if want := []string{"kr:low1", "kr:low0", "kr:low2"}; !slices.Equal(got[9:], want) {
			t.Errorf("last %v, want %v", got[9:], want)
		}
	})
}

// pacedGate foresees a second for each call, of all lanes together.
type pacedGate struct{ *gate }

func (pacedGate) Wait(_ string, calls int) (time.Duration, bool) {
	return time.Duration(calls) * second, true
}

func (pacedGate) Goes(_, _ string) bool { return true }

// Each job of several lines that wait for one limit is told the instant at which it then leaves: no two of them the same.
func TestLinesOfOneLimitAreForeseenInTheirTurns(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		be := newBench(t, local.Options{Admitter: pacedGate{newGate()}, Workers: func() int { return 1 }}, func(context.Context, engine.Run) engine.Outcome {
			time.Sleep(second)
			return engine.Done(nil)
		})
		be.add2(engine.Spec{Key: "europe:first"})
		for i := range 3 {
			for _, lane := range []string{"europe:", "asia:", "sea:"} {
				be.add2(engine.Spec{Key: fmt.Sprint(lane, i)})
				be.add2(engine.Spec{Key: fmt.Sprint(lane, "low", i), Priority: engine.PriorityLow})
			}
		}
		be.run()
		time.Sleep(second / 2)
		now, want := time.Now(), map[string]time.Duration{}
		for j, err := range be.s.Live(context.Background()) {
			if _, until, _ := be.b.Why(j); err == nil && j.State == engine.Available {
				want[j.Key] = until.Sub(now)
			}
		}
		time.Sleep(30 * second)
		be.down()
		for i, key := range be.started()[1:] {
			if want[key] != time.Duration(i+1)*second {
				t.Errorf("%s left %d s on, foretold after %s", key, i+1, want[key])
			}
		}
	})
}
