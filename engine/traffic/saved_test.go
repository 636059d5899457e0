package traffic

import (
	"slices"
	"testing"
	"testing/synctest"
	"time"

	"github.com/farsight-console/farsight/engine/wall"
	"github.com/farsight-console/farsight/riot/limit"
	"github.com/farsight-console/farsight/riot/route"
	"github.com/farsight-console/farsight/riot/sim"
)

// aHerd is a herd that knows its limits, and the ids of matches to fetch.
func aHerd(t *testing.T, n int) (h *herd, ids []string) {
	time.Sleep(time.Until(time.Date(2026, 11, 20, 12, 0, 0, 0, time.UTC)))
	s := sim.New(sim.Options{
		Limits:  sim.Limits{App: []sim.Limit{{N: 1000, Per: 10 * time.Second}}, Methods: map[route.Method][]sim.Limit{route.Match: {{N: 1000, Per: 10 * time.Second}}}},
		Latency: sim.Latency{Base: 50 * time.Millisecond},
		Players: crowd(n),
	})
	h, ids = newHerd(t, s, limit.Burst), games(s, n)
	h.warm(ids[0])
	return h, ids[1:]
}

// counted is how many calls a saved state knows of, and how many of those were not answered.
func counted(st limit.State) (n, flying int) {
	for _, s := range st.Scopes {
		if s.Method != "" {
			continue
		}
		for _, c := range s.Calls {
			n += c.N
		}
		n, flying = n+s.Flying, flying+s.Flying
	}
	return n, flying
}

// What the limiter counts is stored while the engine runs: within a second of a call, sooner
// when there are many, again after a store that could not take it, and not when nothing has
// happened. A kill loses no more than that.
func TestP10_CountsAreStoredWhileItRuns(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		h, ids := aHerd(t, 500)
		defer h.stop()
		time.Sleep(time.Minute)
		idle := time.Now()
		time.Sleep(time.Minute)
		if n, _ := h.state.saved(idle); n != 0 {
			t.Errorf("saved %d times while nothing happened", n)
		}
		time.Sleep(100 * time.Millisecond) // not when the second turns
		few := time.Now()
		h.fail(ids[:5], few)
		time.Sleep(1100 * time.Millisecond)
		saves, st := h.state.saved(few)
		if n, flying := counted(st); saves == 0 || n != 5 || flying != 0 {
			t.Errorf("a second after five calls: saved %d times, last with %d, %d without an answer", saves, n, flying)
		}
		time.Sleep(time.Minute - time.Duration(time.Now().Nanosecond()) - 20*time.Millisecond)
		over := time.Now() // answered when the second has turned
		h.fail(ids[498:], over)
		time.Sleep(1500 * time.Millisecond)
		saves, st = h.state.saved(over)
		if n, flying := counted(st); saves != 2 || n != 2 || flying != 0 {
			t.Errorf("answered after a save: saved %d times, last with %d, %d without an answer", saves, n, flying)
		}
		time.Sleep(time.Minute + 200*time.Millisecond - time.Duration(time.Now().Nanosecond())) // into a second
		many := time.Now()
		h.fail(ids[5:400], many)
		time.Sleep(700 * time.Millisecond)
		saves, st = h.state.saved(many)
		if n, _ := counted(st); saves < 395/saveAfter || n < 3*saveAfter {
			t.Errorf("within the second of 395 calls: saved %d times, last with %d", saves, n)
		}
		time.Sleep(time.Minute)
		h.state.mu.Lock()
		h.state.fails = true
		h.state.mu.Unlock()
		full := time.Now()
		h.fail(ids[400:407], full)
		time.Sleep(5 * time.Second)
		h.state.mu.Lock()
		h.state.fails = false
		h.state.mu.Unlock()
		time.Sleep(1100 * time.Millisecond)
		saves, st = h.state.saved(full)
		if n, _ := counted(st); saves != 1 || n != 7 {
			t.Errorf("when the store takes it again: saved %d times, last with %d", saves, n)
		}
	})
}

// The first limits that are told are stored before more than one call at a time goes by them.
func TestP10a_FirstLimitsAreStoredBeforeTheyAreUsed(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := sim.New(sim.Options{
			Limits:  sim.Limits{App: []sim.Limit{{N: 20, Per: 10 * time.Second}}, Methods: map[route.Method][]sim.Limit{route.Match: {{N: 1000, Per: 10 * time.Second}}}},
			Latency: sim.Latency{Base: 50 * time.Millisecond},
			Players: crowd(20),
		})
		h := newHerd(t, s, limit.Burst)
		defer h.stop()
		h.state.takes = 200 * time.Millisecond
		h.fail(games(s, 20), time.Now())
		time.Sleep(240 * time.Millisecond)
		if s := s.Stats(); s.Calls < 2 || s.Most != 1 {
			t.Errorf("%d calls, %d at once, before the limits are stored", s.Calls, s.Most)
		}
		time.Sleep(60 * time.Millisecond)
		if s := s.Stats(); s.Most < 10 {
			t.Errorf("%d at once when they are", s.Most)
		}
	})
}

// After the machine was asleep nobody knows what the server counts: one call asks before
// others go, also where the process's own clock stood still. A clock that was set back, or a
// little forward, is no sleep.
func TestP26_AfterASleepOneCallAsks(t *testing.T) {
	for name, tc := range map[string]struct {
		step  time.Duration
		alone bool
	}{
		"asleep": {8 * time.Hour, true}, "a minute": {time.Minute, true}, "a little": {5 * time.Second, false}, "set back": {-time.Hour, false}, "none": {0, false},
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				h, ids := aHerd(t, 10)
				defer h.stop()
				defer wall.Step(tc.step)()
				time.Sleep(3 * time.Second)
				before := len(h.sim.Calls(0, 100))
				h.fail(ids, wall.Now())
				time.Sleep(3 * time.Second)
				calls := h.sim.Calls(0, 100)[before:]
				slices.SortFunc(calls, func(a, b sim.Call) int { return a.At.Compare(b.At) })
				if len(calls) != len(ids) {
					t.Fatalf("%d calls of %d", len(calls), len(ids))
				}
				if alone := calls[1].At.Sub(calls[0].At) >= 20*time.Millisecond; alone != tc.alone {
					t.Errorf("the second call went %v after the first", calls[1].At.Sub(calls[0].At))
				}
			})
		})
	}
}
