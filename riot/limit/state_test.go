package limit

import (
	"encoding/json"
	"testing"
	"testing/synctest"
	"time"
)

// succeed stops a run and starts the next one after a pause.
func succeed(t *testing.T, old *Limiter, pause time.Duration, opened map[Scope]int) *Limiter {
	t.Helper()
	st := reload(t, old.Save(time.Now()))
	time.Sleep(pause)
	next := New(Options{})
	if !next.Restore(st, time.Now(), opened) {
		t.Error("a sound state was not believed")
	}
	return next
}

// opensIn is how long until a call may go, 0 if now.
func opensIn(l *Limiter, method string) time.Duration {
	d := l.Admit(Request{Host: testHost, Method: method, Priority: Interactive})
	if d.OK {
		return 0
	}
	return time.Until(d.Until)
}

func TestRestartKeepsTheWindow(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s, l := newServer(sliding, "20:1,100:120"), New(Options{})
		warm(t, l, s)
		backfill(t, l, s, 100, 16)
		l = succeed(t, l, 10*time.Second, nil)
		if wait := opensIn(l, matches); wait < 100*time.Second || wait > 112*time.Second {
			t.Errorf("after a restart with a full window the next call may go in %v", wait)
		}
		s.arrivals = nil
		backfill(t, l, s, 50, 16)
		if s.violations > 0 {
			t.Errorf("%d violations", s.violations)
		}
		// One probe, then the rest: nothing arrives before the first was answered.
		if gap := s.arrivals[1] - s.arrivals[0]; gap < time.Millisecond {
			t.Errorf("second call %v after the probe", gap)
		}
	})
}

func TestRestartProbesOnce(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		l := succeed(t, learnt(t, Options{}), time.Second, nil)
		probe := take(t, l, matches)
		if isOpen(l, testHost, matches) || isOpen(l, testHost, accounts) {
			t.Error("a second call may go beside the probe")
		}
		// The server's count tells what the state did not: 100 of 100 used.
		probe.Done(200, devHeaders("1:1,100:120", "1:10"))
		if wait := opensIn(l, accounts); wait < 119*time.Second {
			t.Errorf("the server counts a full window, but a call may go in %v", wait)
		}
	})
}

// TestP10_NewDirectoryDoesNotWait: the very first run asks with its first call.
// Calls of others that the answer tells of may be as young as the answer, so the
// second's window has to pass once.
func TestP10_NewDirectoryDoesNotWait(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		l := New(Options{})
		take(t, l, matches).Done(200, devHeaders("1:1,91:120", "1:10"))
		time.Sleep(time.Second)
		for range 9 {
			take(t, l, matches)
		}
		if opensIn(l, matches) == 0 {
			t.Error("an eleventh call may go although the server counted 91 of 100")
		}
	})
}

// TestP10_LostStateIsAFullWindow: an earlier run left no state.
func TestP10_LostStateIsAFullWindow(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		l, start := New(Options{}), time.Now()
		if l.Restore(State{}, time.Now(), map[Scope]int{{testHost, matches}: 3}) {
			t.Error("an empty state was believed")
		}
		if opensIn(l, matches) != 2*time.Second {
			t.Errorf("the probe may go in %v", opensIn(l, matches))
		}
		time.Sleep(2 * time.Second)
		take(t, l, matches).Done(200, devHeaders("1:1,1:120", "1:10"))
		if at := time.Since(start) + opensIn(l, matches); at != 120*time.Second {
			t.Errorf("the window opens %v after the start, want 2 min", at)
		}
		time.Sleep(opensIn(l, matches))
		take(t, l, matches)
	})
}

func TestClockJumps(t *testing.T) {
	cases := []struct {
		name     string
		wall     time.Duration // what the clock shows beside the truth
		believed bool
		wait     time.Duration // at least
	}{
		{"steady", 0, true, 110 * time.Second},
		{"slewed back a second", -11 * time.Second, true, 119 * time.Second},
		{"an hour back", -time.Hour, false, 120 * time.Second},
		{"twenty years ahead", 20 * 365 * 24 * time.Hour, false, 120 * time.Second},
	}
	for _, c := range cases {
		t.Run(c.name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				time.Sleep(26 * 365 * 24 * time.Hour)
				old := learnt(t, Options{})
				take(t, old, matches).Done(200, devHeaders("1:1,100:120", "1:10"))
				st := old.Save(time.Now())
				time.Sleep(10 * time.Second)
				l := New(Options{})
				if got := l.Restore(st, time.Now().Add(c.wall), nil); got != c.believed {
					t.Errorf("believed: %v", got)
				}
				if wait := opensIn(l, matches); wait < c.wait-2*time.Second || wait > 121*time.Second {
					t.Errorf("opens in %v, want at least %v", wait, c.wait)
				}
			})
		})
	}
}

func TestOldStateIsForgotten(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		old := learnt(t, Options{})
		take(t, old, matches).Done(200, devHeaders("1:1,100:120", "1:10"))
		l := succeed(t, old, time.Hour, nil)
		take(t, l, matches).Done(200, devHeaders("1:1,1:120", "1:10"))
		take(t, l, matches)
		take(t, l, matches)
	})
}

func TestOpenedAttemptsCount(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		l := succeed(t, learnt(t, Options{}), time.Second, map[Scope]int{{testHost, matches}: 97, {testHost, accounts}: 3})
		if wait := opensIn(l, matches); wait < 120*time.Second {
			t.Errorf("with 100 opened attempts a call may go in %v", wait)
		}
	})
}

func TestBlocksAndFreezesSurvive(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		old := learnt(t, Options{})
		take(t, old, matches).Done(429, headersOf("X-Rate-Limit-Type", "method", "Retry-After", "300"))
		old.Freeze(Scope{testHost, accounts}, time.Time{}, 0, "ana: deploy")
		old.Freeze(Scope{Host: "kr"}, time.Now().Add(time.Hour), 60, "")
		l := succeed(t, old, 61*time.Second, nil)
		if wait := opensIn(l, matches); wait != 240*time.Second {
			t.Errorf("the 429 holds for another %v", wait)
		}
		if d := l.Admit(Request{Host: testHost, Method: accounts}); d.OK || !d.Until.IsZero() || d.Reason != "account-v1.by-puuid:europe frozen by an operator (ana: deploy)" {
			t.Errorf("%+v", d)
		}
		first, _ := l.Thaw(Scope{testHost, accounts})
		if again, held := l.Thaw(Scope{testHost, accounts}); !first || again || held != (Hold{}) {
			t.Error("thaw did not tell whether there was a freeze")
		}
		if opensIn(l, accounts) != 0 {
			t.Error("still frozen")
		}
		if v := l.Snapshot().Hosts[1].Scopes[0]; !v.Frozen || v.Percent != 60 || v.Thaws.IsZero() {
			t.Errorf("cap of kr: %+v", v)
		}
	})
}

// TestStateIsSmall: a busy production key.
func TestStateIsSmall(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s, l := newServer(lazy, "500:10,30000:600"), New(Options{})
		s.methods[matches] = []Limit{{2000, 10 * time.Second}}
		warm(t, l, s)
		backfill(t, l, s, 8000, 64)
		b, err := json.Marshal(l.Save(time.Now()))
		t.Logf("%d bytes for 8,000 calls", len(b))
		if err != nil || len(b) > 10000 {
			t.Errorf("%d bytes, %v", len(b), err)
		}
	})
}

// TestDamagedStateIsNotBelieved: nothing in a state makes us burst or eat memory.
func TestDamagedStateIsNotBelieved(t *testing.T) {
	damage := map[string]func(s *ScopeState){
		"limits":         func(s *ScopeState) { s.Limits = "20:0" },
		"negative count": func(s *ScopeState) { s.Calls = []Cell{{0, -5}} },
		"huge count":     func(s *ScopeState) { s.Calls = []Cell{{0, 1 << 40}} },
		"many counts":    func(s *ScopeState) { s.Foreign = []Cell{{0, 1 << 19}, {1, 1 << 19}, {2, 1 << 19}} },
		"from tomorrow":  func(s *ScopeState) { s.Calls = []Cell{{-86400000, 1}} },
		"in flight":      func(s *ScopeState) { s.Flying = -1 },
		"no host":        func(s *ScopeState) { s.Host = "" },
	}
	for name, hurt := range damage {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				st := learnt(t, Options{}).Save(time.Now())
				hurt(&st.Scopes[0])
				l := New(Options{})
				if l.Restore(st, time.Now(), nil) {
					t.Error("believed")
				}
				if opensIn(l, matches) == 0 {
					t.Error("a call may go at once")
				}
			})
		})
	}
}

// TestSuspended: after a sleep one call asks, whatever was in flight before.
func TestSuspended(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		l := learnt(t, Options{})
		lost, late := take(t, l, matches), take(t, l, matches)
		l.Suspended()
		probe := take(t, l, matches)
		if isOpen(l, testHost, accounts) {
			t.Error("a second call may go beside the probe")
		}
		late.Done(200, devHeaders("2:1,2:120", "2:10")) // of an earlier life: proves nothing
		if isOpen(l, testHost, accounts) {
			t.Error("a late answer ended the probe")
		}
		probe.Done(200, devHeaders("3:1,3:120", "3:10"))
		if !isOpen(l, testHost, accounts) {
			t.Error("the probe's answer opened nothing")
		}
		lost.Refund()
		v := l.Snapshot().Hosts[0].Scopes[0].Buckets[1]
		if v.InFlight != 0 || v.Own != 3 {
			t.Errorf("%d in flight, %d own calls, want 0 and 3", v.InFlight, v.Own)
		}
	})
}

// The first limits that are told go to the store before more than one call goes by them: who comes after a kill
// asks for limits by one call, and it would be one too many.
func TestP10a_FirstLimitsAreKeptBeforeTheyAreUsed(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		l := New(Options{Keeps: true})
		told := devHeaders("1:1,1:120", "1:10")
		take(t, l, matches).Done(200, told)
		if n := places(l); n != 1 || !l.Unkept() {
			t.Fatalf("%d may go before the limits are kept, unkept %v", n, l.Unkept())
		}
		open := take(t, l, matches)
		st := reload(t, l.Save(time.Now()))
		if n := places(l); n != 0 {
			t.Errorf("%d may go beside it", n)
		}
		waits, moved := make(chan *Permit), l.Changed()
		go func() {
			p, err := l.Acquire(t.Context(), Request{Host: testHost, Method: matches})
			if err != nil {
				t.Error(err)
			}
			waits <- p
		}()
		synctest.Wait()
		l.Kept(st)
		<-moved
		(<-waits).Refund()
		open.Refund()
		if n := places(l); n != 19 || l.Unkept() {
			t.Errorf("%d of 20 places when they are kept, unkept %v", n, l.Unkept())
		}
		take(t, l, accounts).Done(200, devHeaders("2:1,2:120", "1:10"))
		if !l.Unkept() {
			t.Error("those of another method are not waited for")
		}
		next := New(Options{Keeps: true})
		next.Restore(st, time.Now(), nil)
		if take(t, next, matches).Done(200, told); next.Unkept() {
			t.Error("what was kept is waited for again")
		}
	})
}
