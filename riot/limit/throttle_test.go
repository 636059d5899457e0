package limit

import (
	"context"
	"fmt"
	"net/http"
	"sync"
	"testing"
	"testing/synctest"
	"time"
)

const accounts = "account-v1.by-puuid"

// headersOf builds an answer's headers from name, value pairs.
func headersOf(pairs ...string) http.Header {
	h := http.Header{}
	for i := 0; i+1 < len(pairs); i += 2 {
		h.Set(pairs[i], pairs[i+1])
	}
	return h
}

// devHeaders is a good answer of a development key.
func devHeaders(app, method string) http.Header {
	return headersOf(
		"X-App-Rate-Limit", "20:1,100:120", "X-App-Rate-Limit-Count", app,
		"X-Method-Rate-Limit", "2000:10", "X-Method-Rate-Limit-Count", method)
}

// take gets a permit that must be free at once.
func take(t *testing.T, l *Limiter, method string) *Permit {
	t.Helper()
	start := time.Now()
	p, err := l.Acquire(context.Background(), Request{Host: testHost, Method: method, Priority: Bulk})
	if err != nil || time.Since(start) > 0 {
		t.Fatalf("waited %v for a place: %v", time.Since(start), err)
	}
	return p
}

// isOpen reports whether a call could go now.
func isOpen(l *Limiter, host, method string) bool {
	return l.Admit(Request{Host: host, Method: method, Priority: Bulk}).OK
}

// learnt is a limiter that knows the dev key's limits and both methods.
func learnt(t *testing.T, opts Options) *Limiter {
	t.Helper()
	l := New(opts)
	take(t, l, matches).Done(200, devHeaders("1:1,1:120", "1:10"))
	take(t, l, accounts).Done(200, devHeaders("2:1,2:120", "1:10"))
	time.Sleep(3 * time.Minute)
	return l
}

// TestP20_Kinds is what each kind of 429 blocks and for how long.
func TestP20_Kinds(t *testing.T) {
	full := "1:1,113:120"
	cases := []struct {
		name        string
		kind, after string
		counts      string
		low, high   time.Duration // of the wait
		host        bool          // the whole host is blocked
	}{
		{"application", "application", "7", full, 8 * time.Second, 8 * time.Second, true},
		{"application, other case", "Application", "7", full, 8 * time.Second, 8 * time.Second, true},
		{"application, no time", "application", "", full, 120 * time.Second, 120 * time.Second, true},
		{"application, no time, no counts", "application", "", "", time.Second, 1250 * time.Millisecond, true},
		{"application, zero", "application", "0", "21:1,36:120", 2 * time.Second, 2 * time.Second, true},
		{"method", "method", "3", "1:1,1:120", 4 * time.Second, 4 * time.Second, false},
		{"method, no time", "method", "", "1:1,1:120", time.Second, 1250 * time.Millisecond, false},
		{"service", "service", "23", "1:1,1:120", 24 * time.Second, 24 * time.Second, false},
		{"service, no time", "service", "", "1:1,1:120", time.Second, 1250 * time.Millisecond, false},
		{"no type", "", "", "", time.Second, 1250 * time.Millisecond, false},
		{"no type, with time", "", "5", "", 6 * time.Second, 6 * time.Second, false},
		{"a type that Riot does not have", "platform", "5", "", 6 * time.Second, 6 * time.Second, false},
		{"negative", "method", "-3", "1:1,1:120", 2 * time.Second, 2 * time.Second, false},
		{"absurd", "method", "1e18", "1:1,1:120", 24*time.Hour + time.Second, 24*time.Hour + time.Second, false},
		{"words", "method", "abc", "1:1,1:120", time.Second, 1250 * time.Millisecond, false},
	}
	for _, c := range cases {
		t.Run(c.name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				l := learnt(t, Options{})
				h := headersOf("X-Rate-Limit-Type", c.kind, "Retry-After", c.after)
				if c.counts != "" {
					h.Set("X-App-Rate-Limit", "20:1,100:120")
					h.Set("X-App-Rate-Limit-Count", c.counts)
				}
				p := take(t, l, matches)
				r := p.Done(429, h)
				wait := time.Until(r.RetryAt)
				if wait < c.low || wait > c.high {
					t.Errorf("opens in %v, want %v to %v", wait, c.low, c.high)
				}
				if r.Throttle == "" || isOpen(l, testHost, matches) {
					t.Errorf("%+v: the method is not blocked", r)
				}
				if isOpen(l, testHost, accounts) == c.host {
					t.Errorf("the other method is open: %v", !c.host)
				}
				if !isOpen(l, "americas", matches) {
					t.Error("another host is blocked")
				}
				time.Sleep(min(wait, LongHold) - time.Millisecond)
				if isOpen(l, testHost, matches) {
					t.Error("open before its time")
				}
				time.Sleep(time.Millisecond)
				if !isOpen(l, testHost, matches) && c.counts != full {
					t.Error("not open at its time")
				}
			})
		})
	}
}

// TestP09_OneProbePerReset: 200 throttled calls with fifty callers waiting: none
// goes before its Retry-After, and each reset is met by exactly one call.
func TestP09_OneProbePerReset(t *testing.T) {
	for _, kind := range []string{"application", "method", "service"} {
		t.Run(kind, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				s, l := newServer(lazy, "20:1,100:120"), New(Options{})
				warm(t, l, s)
				const refusals = 200
				s.calls = 0
				s.fail = func(int, string) (int, http.Header) {
					if s.calls > refusals {
						return 0, nil
					}
					return 429, headersOf("X-Rate-Limit-Type", kind, "Retry-After", "4")
				}
				s.call(take(t, l, matches), 99, testHost, matches)
				var wg sync.WaitGroup
				for i := range 50 {
					wg.Go(func() { untilServed(l, s, i) })
				}
				wg.Wait()
				for i := 1; i <= refusals; i++ {
					if gap := s.arrivals[i] - s.arrivals[i-1]; gap < 4*time.Second {
						t.Fatalf("call %d went %v after a 429 that said 4 s", i, gap)
					}
				}
				if s.violations > 0 || s.calls != refusals+50 {
					t.Errorf("%d calls, %d violations", s.calls, s.violations)
				}
			})
		})
	}
}

// untilServed repeats one job's call until it is not throttled: S3-10.
func untilServed(l *Limiter, s *server, id int) (throttled int) {
	for {
		p, err := l.Acquire(context.Background(), Request{Host: testHost, Method: matches, Priority: Bulk})
		if err != nil {
			panic(err)
		}
		if s.call(p, id, testHost, matches).Status == 200 {
			return throttled
		}
		throttled++
	}
}

// TestS3_10_ThrottledGoesOn: a 429 costs time and nothing else.
func TestS3_10_ThrottledGoesOn(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s, l := newServer(lazy, "20:1,100:120"), New(Options{})
		warm(t, l, s)
		s.calls = 0
		s.fail = func(int, string) (int, http.Header) {
			if s.calls > 1 {
				return 0, nil
			}
			return 429, headersOf("Retry-After", "10")
		}
		start := time.Now()
		if n := untilServed(l, s, 1); n != 1 {
			t.Errorf("throttled %d times", n)
		}
		if took := time.Since(start); took < 10*time.Second || took > 12*time.Second {
			t.Errorf("took %v", took)
		}
	})
}

// TestP10_FrozenBucketBlocksNothingElse: method A stops for ten minutes, by a
// 429 or by an operator; B flows, and A starts within a second of its reset.
func TestP10_FrozenBucketBlocksNothingElse(t *testing.T) {
	stop := map[string]func(t *testing.T, l *Limiter){
		"429": func(t *testing.T, l *Limiter) {
			take(t, l, matches).Done(429, headersOf("X-Rate-Limit-Type", "method", "Retry-After", "600"))
		},
		"operator": func(_ *testing.T, l *Limiter) {
			l.Freeze(Scope{testHost, matches}, time.Now().Add(10*time.Minute), 0, "maintenance")
		},
	}
	for name, freeze := range stop {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				s, l := newServer(lazy, "500:10"), New(Options{})
				warm(t, l, s)
				freeze(t, l)
				start := time.Now()
				var first sync.Once
				var began time.Duration
				var wg sync.WaitGroup
				for i := range 20 {
					wg.Go(func() {
						p, _ := l.Acquire(context.Background(), Request{Host: testHost, Method: matches, Priority: Priority(i % 2)})
						first.Do(func() { began = time.Since(start) })
						s.call(p, i, testHost, matches)
					})
				}
				for i := range 300 {
					p, _ := l.Acquire(context.Background(), Request{Host: testHost, Method: accounts, Priority: Bulk})
					s.call(p, 1000+i, testHost, accounts)
				}
				if took := time.Since(start); took > 30*time.Second {
					t.Errorf("300 calls of the other method took %v", took)
				}
				wg.Wait()
				if began < 10*time.Minute || began > 10*time.Minute+time.Second {
					t.Errorf("the method started after %v", began)
				}
			})
		})
	}
}

// TestP19_RecoveryRamps: 5,000 calls wait for a service that answers 429. When
// it recovers one call goes, then 2, 4 ... at once, and no limit is exceeded.
func TestP19_RecoveryRamps(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s, l := newServer(sliding, "500:10,30000:600"), New(Options{Pacing: Burst})
		warm(t, l, s)
		take(t, l, matches).Done(429, headersOf("X-Rate-Limit-Type", "service", "Retry-After", "60"))
		due := time.Since(s.base) + 60*time.Second
		s.link = func(int) (time.Duration, time.Duration) { return 20 * time.Millisecond, 30 * time.Millisecond }
		var wg sync.WaitGroup
		for i := range 5000 {
			wg.Go(func() { untilServed(l, s, i) })
		}
		wg.Wait()
		if s.arrivals[0] < due {
			t.Errorf("a call went %v before Retry-After", due-s.arrivals[0])
		}
		var together []int
		for i, at := range s.arrivals[:63] {
			if i == 0 || at-s.arrivals[i-1] > 10*time.Millisecond {
				together = append(together, 0)
			}
			together[len(together)-1]++
		}
		if got := fmt.Sprint(together); got != "[1 2 4 8 16 32]" {
			t.Errorf("went together: %v", got)
		}
		if s.violations > 0 {
			t.Errorf("%d violations", s.violations)
		}
	})
}

// TestP19_BackoffDoubles: a 429 without a type backs off 1, 2, 4 ... 64 s with
// jitter that only adds, and an answer ends the doubling.
func TestP19_BackoffDoubles(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		l := learnt(t, Options{})
		for _, want := range []time.Duration{1, 2, 4, 8, 16, 32, 64, 64, 64} {
			r := take(t, l, matches).Done(429, nil)
			wait := time.Until(r.RetryAt)
			if wait < want*time.Second || wait > want*time.Second*5/4 {
				t.Errorf("backs off %v, want %v s and up to a quarter more", wait, int(want))
			}
			time.Sleep(wait)
		}
		take(t, l, matches).Done(200, devHeaders("1:1,9:120", "1:10"))
		if r := take(t, l, matches).Done(429, nil); time.Until(r.RetryAt) > 2*time.Second {
			t.Errorf("backs off %v after a good answer", time.Until(r.RetryAt))
		}
	})
}

// TestBurstOf429sIsOneStrike: calls that were in flight together when the limit
// struck are one event.
func TestBurstOf429sIsOneStrike(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		l := learnt(t, Options{})
		var permits []*Permit
		for range 10 {
			permits = append(permits, take(t, l, matches))
		}
		for _, p := range permits {
			if r := p.Done(429, nil); time.Until(r.RetryAt) > 1250*time.Millisecond {
				t.Fatalf("backs off %v", time.Until(r.RetryAt))
			}
		}
	})
}

// TestS4_5_BothLimitsHold: the host's limits and the method's, each binding in turn.
func TestS4_5_BothLimitsHold(t *testing.T) {
	for _, c := range []struct {
		method string
	}{
		{"2000:10"}, // the host's 100:120 binds
		{"10:20"},   // the method's binds
	} {
		t.Run(c.method, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				s, l := newServer(sliding, "20:1,100:120"), New(Options{})
				s.methods[matches], _ = parseLimits(c.method)
				warm(t, l, s)
				took := backfill(t, l, s, 200, 16)
				best := bound(200, append(s.methods[matches], s.app...)...)
				if s.violations > 0 || took < best || took > best*102/100 {
					t.Errorf("took %v with %d violations, want %v", took, s.violations, best)
				}
			})
		})
	}
}

// TestForeignUse: somebody else spends the same key; we notice, count it and,
// when it is usual, leave room for it. Counts only bound foreign use from below,
// so a 429 still happens now and then.
func TestForeignUse(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s, l := newServer(aligned, "100:10"), New(Options{})
		warm(t, l, s)
		stop := make(chan struct{})
		go func() {
			for {
				select {
				case <-stop:
					return
				case <-time.After(500 * time.Millisecond):
					s.alien(testHost, matches)
				}
			}
		}()
		took := backfill(t, l, s, 2000, 32)
		close(stop)
		t.Logf("2000 calls beside 20 foreign ones per window: %v, %d 429s", took, s.violations)
		if s.violations > 14 {
			t.Errorf("%d violations", s.violations)
		}
		if strangersSeen(l) == 0 {
			t.Error("foreign use not noticed")
		}
		if took > 300*time.Second {
			t.Errorf("took %v", took)
		}
	})
}
