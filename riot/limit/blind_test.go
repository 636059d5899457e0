package limit

import (
	"testing"
	"testing/synctest"
	"time"
)

// TestBlindCallsAreCounted: a call is blind when it goes before a header has told the
// limits of its host, or of its method. After a restart the stored limits count.
func TestBlindCallsAreCounted(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		l := New(Options{})
		view := func() HostView { return l.Snapshot().Hosts[0] }
		for i, c := range []struct {
			method string
			end    func(*Permit)
			blind  int
		}{
			{matches, func(p *Permit) { p.Refund() }, 0},                                                                // never sent
			{matches, func(p *Permit) { p.Wrote(); p.Lost() }, 1},                                                       // sent, and no answer
			{matches, func(p *Permit) { p.Done(503, nil) }, 2},                                                          // an answer that tells nothing
			{matches, func(p *Permit) { p.Done(200, devHeaders("1:1,1:120", "1:10")) }, 3},                              // now they are known
			{matches, func(p *Permit) { p.Done(200, devHeaders("1:1,2:120", "2:10")) }, 3},                              // and stay so
			{accounts, func(p *Permit) { p.Done(404, devHeaders("2:1,3:120", "1:10")) }, 4},                             // another method
			{accounts, func(p *Permit) { p.Done(200, devHeaders("3:1,4:120", "1:10")) }, 4},                             //
			{"league-v4.entries", func(p *Permit) { p.Done(200, headersOf("X-App-Rate-Limit-Count", "1:1,5:120")) }, 5}, // it tells of no limits of its own
			{"league-v4.entries", func(p *Permit) { p.Done(200, headersOf("X-App-Rate-Limit-Count", "2:1,6:120")) }, 5},
		} {
			c.end(take(t, l, c.method))
			if got := view().Blind; got != c.blind {
				t.Errorf("after call %d: %d blind calls, want %d", i, got, c.blind)
			}
			time.Sleep(2 * time.Second)
		}
		if l = succeed(t, l, time.Minute, nil); view().Blind != 0 {
			t.Errorf("a new run begins with %d blind calls", view().Blind)
		}
		take(t, l, matches).Done(200, devHeaders("1:1,6:120", "2:10"))
		if got := view().Blind; got != 0 {
			t.Errorf("%d blind calls with stored limits", got)
		}
	})
}

// TestTaughtIsTheLastChange: the same limits told again teach nothing; a restart
// remembers when they were learnt.
func TestTaughtIsTheLastChange(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		l := New(Options{})
		taught := func(i int) time.Time { return l.Snapshot().Hosts[0].Scopes[i].Taught }
		take(t, l, matches).Done(200, devHeaders("1:1,1:120", "1:10"))
		first := time.Now()
		if !taught(0).Equal(first) || !taught(1).Equal(first) {
			t.Errorf("learnt %v and %v, want %v", taught(0), taught(1), first)
		}
		time.Sleep(time.Minute)
		take(t, l, matches).Done(200, devHeaders("1:1,2:120", "1:10"))
		if !taught(0).Equal(first) {
			t.Errorf("the same limits count as a change: %v", taught(0))
		}
		l = succeed(t, l, time.Hour, nil)
		if !taught(0).Equal(first) {
			t.Errorf("after a restart: %v, want %v", taught(0), first)
		}
		changed := devHeaders("1:1,1:120", "1:10")
		changed.Set("X-App-Rate-Limit", "20:1,90:120")
		take(t, l, matches).Done(200, changed)
		if !taught(0).Equal(time.Now()) || !taught(1).Equal(first) {
			t.Errorf("after other limits of the application: %v and %v", taught(0), taught(1))
		}
	})
}
