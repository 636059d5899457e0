package limit

import (
	"fmt"
	"net/http"
	"sync"
	"testing"
	"testing/synctest"
	"time"
)

// TestB10b_LimitsThatAreNotStated: the server enforces the limits of a development key and
// states none for the application, or nonsense. Today 179 of 483 calls were refused.
func TestB10b_LimitsThatAreNotStated(t *testing.T) {
	headers := map[string]string{
		"none": "", "zero": "0:1", "negative": "-20:1", "absurd": "999999999:1", "too long": "1:2678400",
		"words": "twenty:one", "no window": "20:0",
	}
	for name, stated := range headers {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				s, l := newServer(lazy, "20:1,100:120"), New(Options{})
				s.methods[matches] = []Limit{{2000, 10 * time.Second}}
				s.edit = func(h http.Header) {
					for _, key := range []string{appHeaders.limit, appHeaders.count} {
						h.Del(key)
						if stated != "" {
							h.Set(key, stated)
						}
					}
				}
				took, calls := served(l, s, 483)
				best := bound(483, s.app...)
				t.Logf("%d of %d calls refused, %v of at least %v", s.violations, calls, took, best)
				again := New(Options{})
				again.Restore(reload(t, l.Save(time.Now())), time.Now(), nil)
				if was, is := l.hosts[testHost].app.pace.gap, again.hosts[testHost].app.pace.gap; was == 0 || was-is > time.Millisecond {
					t.Errorf("calls are %v apart, and %v after a restart", was, is)
				}
				if s.violations > 35 || took > 2*best {
					t.Error("want at most 35 refused, in at most twice the time")
				}
			})
		})
	}
}

// TestB10a_AWindowStatedTwice: the smaller limit counts, whichever stands first.
func TestB10a_AWindowStatedTwice(t *testing.T) {
	for _, stated := range []string{"500:1,20:1,100:120", "20:1,100:120,500:1"} {
		synctest.Test(t, func(t *testing.T) {
			s, l := newServer(lazy, "20:1,100:120"), New(Options{})
			s.methods[matches] = []Limit{{2000, 10 * time.Second}}
			s.edit = func(h http.Header) {
				h.Set(appHeaders.limit, stated)
				h.Set(appHeaders.count, h.Get(appHeaders.count)+",1:1")
			}
			if _, calls := served(l, s, 328); s.violations > 0 {
				t.Errorf("%s: %d of %d calls refused", stated, s.violations, calls)
			}
			if n := strangersSeen(l); n > 0 {
				t.Errorf("%s: %d calls taken for somebody else's", stated, n)
			}
		})
	}
}

// TestB10a_HalfAHeader: what can be read is learnt while nothing is known, and takes away
// no window that is.
func TestB10a_HalfAHeader(t *testing.T) {
	s := newScope(Scope{testHost, ""})
	p := &Permit{l: New(Options{})}
	learn := func(limits string) string {
		p.learn(s, headersOf(appHeaders.limit, limits), appHeaders)
		return fmt.Sprint(stated(s))
	}
	for _, c := range [][2]string{
		{"0:1,100:120", "[100:120]"}, {"20:1,100:120", "[20:1 100:120]"}, {"20:1,-100:120", "[20:1 100:120]"}, {"50:1", "[50:1]"},
	} {
		if got := learn(c[0]); got != c[1] {
			t.Errorf("after %q: %s, want %s", c[0], got, c[1])
		}
	}
}

// served makes n calls by thirty workers, each until it is not refused.
func served(l *Limiter, s *server, n int) (took time.Duration, calls int) {
	start := time.Now()
	ids := make(chan int, n)
	for id := range n {
		ids <- id
	}
	close(ids)
	var wg sync.WaitGroup
	for range 30 {
		wg.Go(func() {
			for id := range ids {
				untilServed(l, s, id)
			}
		})
	}
	wg.Wait()
	return time.Since(start), s.calls
}

func stated(s *scope) (limits []Limit) {
	for _, w := range s.windows {
		limits = append(limits, w.Limit)
	}
	return limits
}
