package limit

import (
	"context"
	"fmt"
	"slices"
	"testing"
	"testing/synctest"
	"time"

	"github.com/farsight-console/farsight/internal/scratch"
)

// budgetRules are the ways of counting that the budget is measured with.
var budgetRules = []string{"lazy", "aligned", "sliding"}

// TestBudget measures what the limiter makes of its budget on a
// strict server at 60 ± 30 ms. Virtual time, so the figures are exact. The usual run has one rule for each key.
func TestBudget(t *testing.T) {
	cases := []struct {
		name    string
		app     string
		calls   int
		mean    time.Duration
		least   float64 // percent of the bound
		still   time.Duration
		workers int
	}{
		{"dev key, one account", "20:1,100:120", 1768, 60 * time.Millisecond, 99.5, 5 * time.Second, 16},
		{"dev key, long backlog", "20:1,100:120", 2501, 60 * time.Millisecond, 99.5, 5 * time.Second, 16},
		{"demo limits", "20:1,100:12", 805, 60 * time.Millisecond, 98, time.Second, 16},
		{"demo limits, even", "20:1,100:12", 801, 60 * time.Millisecond, 98, time.Second, 16},
		{"production key, one account", "500:10,30000:600", 1768, 60 * time.Millisecond, 98, 2 * time.Second, 64},
		{"production key, steady", "500:10,30000:600", 5001, 60 * time.Millisecond, 98.5, 2 * time.Second, 64},
		{"production key, slow answers", "500:10,30000:600", 5001, 300 * time.Millisecond, 96, 3 * time.Second, 256},
	}
	for i, c := range cases {
		one := i % len(budgetRules)
		for _, name := range scratch.Sized(budgetRules[one:one+1], budgetRules) {
			t.Run(c.name+"/"+name, func(t *testing.T) {
				synctest.Test(t, func(t *testing.T) {
					s, l := newServer(rules[name], c.app), New(Options{})
					s.methods[matches] = []Limit{{2000, 10 * time.Second}}
					s.link = jitter(c.mean, c.mean/2)
					warm(t, l, s)
					took := backfill(t, l, s, c.calls, c.workers)
					best := bound(c.calls, s.app...)
					got := 100 * best.Seconds() / took.Seconds()
					t.Logf("%.2f %% of the bound (%.1f s of %.1f s), longest stillness %.2f s, %d 429s", got, best.Seconds(), took.Seconds(), s.stillness().Seconds(), s.violations)
					if got < c.least || s.stillness() > c.still || s.violations > 0 {
						t.Errorf("want at least %v %%, at most %v still, no 429", c.least, c.still)
					}
					if n := strangersSeen(l); n > 0 {
						t.Errorf("%d calls taken for somebody else's", n)
					}
				})
			})
		}
	}
}

// TestOperatorWaits: an operator's call under a full backfill.
func TestOperatorWaits(t *testing.T) {
	for _, calls := range []int{1768, 4950} {
		t.Run(fmt.Sprint(calls), func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				s, l := newServer(lazy, "20:1,100:120"), New(Options{})
				warm(t, l, s)
				done := make(chan time.Duration)
				go func() { done <- backfill(t, l, s, calls, 16) }()
				var waits []time.Duration
				for i := range 40 {
					time.Sleep(time.Duration(17+i*7%31) * time.Second)
					start := time.Now()
					p, err := l.Acquire(context.Background(), Request{Host: testHost, Method: matches})
					if err != nil {
						t.Fatal(err)
					}
					s.call(p, 1<<16+i, testHost, matches)
					waits = append(waits, time.Since(start))
				}
				took := <-done
				slices.Sort(waits)
				best := bound(calls+40, s.app...)
				t.Logf("p50 %v p95 %v max %v; backfill %.2f %% of the bound", waits[20], waits[37], waits[39], 100*best.Seconds()/took.Seconds())
				if waits[37] >= 3*time.Second || s.violations > 0 {
					t.Errorf("p95 %v, %d violations", waits[37], s.violations)
				}
			})
		})
	}
}

// strangersSeen counts what the limiter ever took for foreign use of late.
func strangersSeen(l *Limiter) (n int) {
	for _, h := range l.hosts {
		for _, s := range h.scopes() {
			for _, w := range s.windows {
				for _, k := range w.aliens.most {
					n += k
				}
			}
		}
	}
	return n
}

// TestBacklogNoise: an engine whose figure lags, or that does not know of the
// calls which follow from calls, still gets a spread and not a burst.
func TestBacklogNoise(t *testing.T) {
	for name, told := range map[string]func(left int) int{
		"exact":       func(left int) int { return left },
		"three early": func(left int) int { return left + 3 },
		"three late":  func(left int) int { return max(0, left-3) },
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				s, l := newServer(lazy, "20:1,100:120"), New(Options{})
				warm(t, l, s)
				const calls = 1010
				for i := range calls {
					l.SetBacklog(testHost, told(calls-i))
					r := Request{Host: testHost, Method: matches, Job: fmt.Sprint(i), Priority: Bulk}
					admit(l, r)
					p, err := l.Acquire(context.Background(), r)
					if err != nil {
						t.Fatal(err)
					}
					go s.call(p, i, testHost, matches)
				}
				time.Sleep(time.Second)
				t.Logf("longest stillness %v", s.stillness())
				if s.stillness() > 5*time.Second || s.violations > 0 {
					t.Errorf("longest stillness %v, %d violations", s.stillness(), s.violations)
				}
			})
		})
	}
}

// TestTheLastWindowGoesAtOnce: who learns of more calls while he works cannot know how many the last window will
// have, and spreads them all. Where the server's windows are proven fixed, what is left goes at once as soon as it
// fits into the present one, so that the end is that of bursts.
func TestTheLastWindowGoesAtOnce(t *testing.T) {
	for _, name := range budgetRules {
		for _, calls := range scratch.Sized([]int{794, 801}, []int{705, 794, 800, 801, 860}) {
			t.Run(fmt.Sprint(name, " ", calls), func(t *testing.T) {
				synctest.Test(t, func(t *testing.T) {
					s, l := newServer(rules[name], "20:1,100:120"), New(Options{})
					warm(t, l, s)
					start := time.Now()
					for i := range calls {
						l.SetBacklog(testHost, min(calls-i, 200)) // two windows: no call of them goes early
						r := Request{Host: testHost, Method: matches, Job: fmt.Sprint(i), Priority: Bulk}
						admit(l, r)
						p, err := l.Acquire(context.Background(), r)
						if err != nil {
							t.Fatal(err)
						}
						go s.call(p, i, testHost, matches)
					}
					got := 100 * bound(calls, s.app...).Seconds() / time.Since(start).Seconds()
					time.Sleep(time.Second)
					// On a grid the last window opens when it does; in a rolling log there is none.
					least := map[string]float64{"lazy": 99, "aligned": 95}[name]
					if got < least || s.violations > 0 {
						t.Errorf("%.2f %% of the bound, want %v; %d violations", got, least, s.violations)
					}
				})
			})
		}
	}
}
