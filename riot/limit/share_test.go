package limit

import (
	"fmt"
	"testing"
	"testing/synctest"
	"time"
)

// stranger uses the same key until stop is called: n calls after each pause.
func stranger(s *server, n int, pause time.Duration) (stop func()) {
	end, done := make(chan struct{}), make(chan struct{})
	go func() {
		defer close(done)
		tick := time.NewTicker(pause)
		defer tick.Stop()
		for {
			select {
			case <-end:
				return
			case <-tick.C:
				for range n {
					s.alien(testHost, matches)
				}
			}
		}
	}()
	return func() {
		close(end)
		<-done
	}
}

// TestB9x_ShareWhatRemains: beside a second program that makes half of the calls that a key allows,
// even or in bursts, a backfill gets most of the other half and is refused few calls: those of its
// first burst, which nothing had warned of. It got a third of it, in 76 s instead of 26, with 90 refused.
func TestB9x_ShareWhatRemains(t *testing.T) {
	for _, app := range []string{"20:1", "50:1", "20:1,100:12"} {
		for _, name := range budgetRules {
			for _, burst := range []bool{false, true} {
				t.Run(fmt.Sprint(app, "/", name, "/burst ", burst), func(t *testing.T) {
					synctest.Test(t, func(t *testing.T) {
						s, l := newServer(rules[name], app), New(Options{})
						s.methods[matches] = []Limit{{2000, 10 * time.Second}}
						warm(t, l, s)
						tight := s.app[len(s.app)-1]
						n, pause := 1, 2*tight.Per/time.Duration(tight.N)
						if burst {
							n, pause = tight.N/2, tight.Per
						}
						stop := stranger(s, n, pause)
						calls := max(260, 5*tight.N) + 1
						took, _ := served(l, s, calls)
						stop()
						best := time.Duration(2*(calls-1)/tight.N) * tight.Per
						got := 100 * best.Seconds() / took.Seconds()
						t.Logf("%.0f %% of what remains: %.1f s of %.1f s, %d refused", got, took.Seconds(), best.Seconds(), s.violations)
						most := calls / 10
						if burst { // half of a window in one instant, which no count foretells
							most = calls / 5
						}
						if got < 57 || s.violations > most {
							t.Errorf("%.0f %% of what remains, %d of %d refused", got, s.violations, calls)
						}
					})
				})
			}
		}
	}
}

// TestB9x_StrangersStopNobodyForEver: one who has used more than the whole limit has gone, and what was
// kept for him comes back.
func TestB9x_StrangersStopNobodyForEver(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s, l := newServer(lazy, "20:1"), New(Options{})
		warm(t, l, s)
		stop := stranger(s, 3, 100*time.Millisecond)
		go func() {
			time.Sleep(20 * time.Second)
			stop()
		}()
		if took, calls := served(l, s, 200); took > 4*time.Minute || calls > 250 {
			t.Errorf("%d calls in %v", calls, took)
		}
	})
}
