package limit

import (
	"context"
	"net/http"
	"testing"
	"testing/synctest"
	"time"
)

// asked counts the calls that a patient dispatcher lets go within a time; answer is what each gets.
func asked(l *Limiter, method string, within time.Duration, answer func() (int, http.Header)) (n int) {
	for end := time.Now().Add(within); time.Now().Before(end); time.Sleep(time.Second) {
		r := Request{Host: testHost, Method: method, Job: "j", Priority: Bulk}
		if l.Admit(r).OK {
			n++
			permit, _ := l.Acquire(context.Background(), r)
			permit.Done(answer())
		}
	}
	return n
}

// TestB11_AnAbsurdRetryAfter: whatever it says, one call in ten minutes asks whether it still holds, a
// restart knows of it, and the first call that is served ends it.
func TestB11_AnAbsurdRetryAfter(t *testing.T) {
	for _, after := range []string{"99999999999999999999", "Thu, 01 Jan 2099 00:00:00 GMT", "1e9", "86400"} {
		for _, kind := range []string{"application", "method", "service", ""} {
			t.Run(after+" "+kind, func(t *testing.T) {
				synctest.Test(t, func(t *testing.T) {
					refused := headersOf("X-Rate-Limit-Type", kind, "Retry-After", after)
					l := learnt(t, Options{})
					for range 5 { // a burst is refused
						defer take(t, l, matches).Refund()
					}
					take(t, l, matches).Done(429, refused)
					holds := l.Holds()
					if len(holds) != 1 || time.Until(holds[0].Until) < 23*time.Hour || time.Until(holds[0].Asks) != LongHold {
						t.Fatalf("held: %+v", holds)
					}
					if n := asked(l, matches, 56*time.Minute, func() (int, http.Header) { return 429, refused }); n != 5 {
						t.Errorf("%d calls asked in 56 minutes", n)
					}
					time.Sleep(2 * time.Minute)
					again := New(Options{})
					again.Restore(reload(t, l.Save(time.Now())), time.Now(), nil)
					if got := again.Holds(); len(got) != 1 || got[0].Asks.Sub(l.Holds()[0].Asks).Abs() > time.Second {
						t.Errorf("after a restart it asks at %v, not at %v", got[0].Asks, l.Holds()[0].Asks)
					}
					if n := asked(again, matches, 20*time.Minute, func() (int, http.Header) { return 500, nil }); n != 2 {
						t.Errorf("%d calls asked in 20 minutes", n)
					}
					if n := asked(again, matches, 11*time.Minute, func() (int, http.Header) { return 200, devHeaders("1:1,1:120", "1:10") }); n < 5 {
						t.Errorf("%d calls went after one was served", n)
					}
					if got := again.Holds(); len(got) > 0 {
						t.Errorf("still held: %+v", got)
					}
				})
			})
		}
	}
}

// TestB11_ThawEndsALongHold and says so; a short one is Riot's business.
func TestB11_ThawEndsALongHold(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		l := learnt(t, Options{})
		take(t, l, matches).Done(429, headersOf("X-Rate-Limit-Type", "method", "Retry-After", "1e3"))
		if _, held := l.Thaw(Scope{Host: testHost}); held != (Hold{}) {
			t.Errorf("the host was not held: %+v", held)
		}
		if _, held := l.Thaw(Scope{testHost, matches}); held.Kind != Method || time.Until(held.Until) < 16*time.Minute {
			t.Errorf("ended %+v", held)
		}
		take(t, l, matches).Done(429, headersOf("X-Rate-Limit-Type", "method", "Retry-After", "600"))
		if _, held := l.Thaw(Scope{testHost, matches}); held != (Hold{}) || isOpen(l, testHost, matches) {
			t.Errorf("a wait of ten minutes was ended: %+v", held)
		}
	})
}

// TestB11_AFreezeIsNotAsked: an operator's freeze outlasts the calls that ask.
func TestB11_AFreezeIsNotAsked(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		l := learnt(t, Options{})
		take(t, l, matches).Done(429, headersOf("X-Rate-Limit-Type", "application", "Retry-After", "1e9"))
		l.Freeze(Scope{Host: testHost}, time.Now().Add(time.Hour), 0, "")
		if n := asked(l, matches, 59*time.Minute, func() (int, http.Header) { return 200, nil }); n > 0 {
			t.Errorf("%d calls went while frozen", n)
		}
	})
}

// TestB14c_A503HoldsItsMethod until it says to come back, and nothing else.
func TestB14c_A503HoldsItsMethod(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		l := learnt(t, Options{})
		down := func() (int, http.Header) { return 503, headersOf("Retry-After", "60") }
		take(t, l, matches).Done(down())
		if d := l.Admit(Request{Host: testHost, Method: matches}); time.Until(d.Until) != 61*time.Second || d.Reason != "match-v5.match:europe held by a 503 with a Retry-After" {
			t.Errorf("%+v", d)
		}
		if !isOpen(l, testHost, accounts) || !isOpen(l, "americas", matches) {
			t.Error("another method or host is held")
		}
		if n := asked(l, matches, 10*time.Minute, down); n != 9 {
			t.Errorf("%d calls in ten minutes", n)
		}
		again := succeed(t, l, time.Second, nil)
		if holds := again.Holds(); len(holds) != 1 || holds[0].Kind != Unavailable {
			t.Errorf("after a restart: %+v", holds)
		}
		time.Sleep(2 * time.Minute)
		take(t, l, matches).Done(503, nil)
		if !isOpen(l, testHost, matches) {
			t.Error("a 503 that names no time holds the method")
		}
	})
}
