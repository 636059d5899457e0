package limit

import (
	"context"
	"reflect"
	"testing"
	"testing/synctest"
	"time"
)

// TestSnapshotExplains every bucket and every waiter.
func TestSnapshotExplains(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		l := learnt(t, Options{Ceiling: []Limit{{900, time.Minute}}})
		for range 3 {
			take(t, l, matches).Done(200, devHeaders("1:1,1:120", "1:10"))
		}
		flying := take(t, l, matches)
		l.Admit(bulk("claimed"))
		take(t, l, accounts).Done(429, headersOf("X-Rate-Limit-Type", "service", "Retry-After", "29"))
		l.SetBacklog(testHost, 736)
		ctx, cancel := context.WithCancel(t.Context())
		go func() {
			_, _ = l.Acquire(ctx, Request{Host: testHost, Method: accounts, Job: "j7", Priority: Bulk})
		}()
		synctest.Wait()
		time.Sleep(500 * time.Millisecond)

		first, again := l.Snapshot(), l.Snapshot()
		if !reflect.DeepEqual(first, again) {
			t.Error("two snapshots of one instant differ")
		}
		h := first.Hosts[0]
		if h.Host != testHost || h.Backlog != 736 || len(h.Scopes) != 3 {
			t.Fatalf("%+v", h)
		}
		app, long := h.Scopes[0], h.Scopes[0].Buckets[2]
		if app.Name != "app:europe" || app.InFlight != 1 || app.Reserved != 1 || app.Waiting != 1 || !app.Known {
			t.Errorf("%+v", app)
		}
		if long.Name != "app:europe 120s" || long.Own != 4 || long.Foreign != 0 || long.Used() != 6 || long.Server != 1 || long.Mode != "sliding" {
			t.Errorf("%+v", long)
		}
		if c := app.Buckets[1]; c.Name != "app:europe 60s (ceiling)" || !c.Ceiling || c.Server != -1 {
			t.Errorf("%+v", c)
		}
		if d := time.Until(long.Reset); d != 119500*time.Millisecond {
			t.Errorf("resets in %v", d)
		}
		if b := h.Scopes[1]; b.Method != accounts || b.Kind != Service || time.Until(b.Blocked) != 29500*time.Millisecond || b.Ramp != 1 {
			t.Errorf("%+v", b)
		}
		w := h.Waiters[0]
		if w.Job != "j7" || time.Until(w.Until) != 29500*time.Millisecond || w.Reason != "account-v1.by-puuid:europe held by a 429 (service), 30 s" {
			t.Errorf("%+v", w)
		}
		flying.Lost()
		cancel()
		synctest.Wait()
	})
}

// TestReasonsNameTheBucket: the line an operator reads beside a job that waits.
func TestReasonsNameTheBucket(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		l := learnt(t, Options{Pacing: Burst})
		for range 20 {
			take(t, l, matches).Done(200, devHeaders("1:1,1:120", "1:10"))
		}
		d := l.Admit(bulk("j"))
		if d.OK || d.Bucket != "app:europe 1s" || d.Reason != "app:europe 20/20" {
			t.Errorf("%+v", d)
		}
		time.Sleep(time.Second)
		take(t, l, matches).Done(200, devHeaders("1:1,100:120", "1:10"))
		d = l.Admit(bulk("j"))
		if d.OK || d.Bucket != "app:europe 120s" || d.Reason != "app:europe 100/100" {
			t.Errorf("%+v", d)
		}
		time.Sleep(time.Until(d.Until))
		if d = l.Admit(bulk("j")); !d.OK {
			t.Fatalf("%+v", d)
		}
		p, err := l.Acquire(context.Background(), bulk("j"))
		if err != nil || p.PacedBy() != "app:europe 120s" || p.Waited() != 119*time.Second {
			t.Errorf("paced %v by %q, %v", p.Waited(), p.PacedBy(), err)
		}
		if r := p.Done(200, devHeaders("1:1,4:120", "1:10")); r.Buckets[1].Server != 4 {
			t.Errorf("%+v", r)
		}
	})
}

// TestEstimate names the bucket and says what the calls will take.
func TestEstimate(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		l := New(Options{})
		if e := l.Outlook(testHost).After(matches, 10); e.Known || e.Wait != 0 {
			t.Errorf("%+v of a host nobody has called", e)
		}
		l = learnt(t, Options{})
		for _, c := range []struct {
			calls  int
			want   time.Duration
			bucket string
		}{
			{0, 0, ""}, {1, 0, ""}, {20, 0, ""}, {21, time.Second, "app:europe 1s"},
			{889, 960 * time.Second, "app:europe 120s"}, {1768, 2040 * time.Second, "app:europe 120s"},
		} {
			if e := l.Outlook(testHost).After(matches, c.calls); e.Wait != c.want || e.Bucket != c.bucket || !e.Known {
				t.Errorf("%d calls: %+v", c.calls, e)
			}
		}
		if r, bucket := l.Rate(testHost, matches); bucket != "app:europe 120s" || r < 0.83 || r > 0.84 {
			t.Errorf("rate %v by %q", r, bucket)
		}
		take(t, l, matches).Done(429, headersOf("X-Rate-Limit-Type", "method", "Retry-After", "600"))
		if e := l.Outlook(testHost).After(matches, 1); e.Wait != 601*time.Second || e.Bucket != "match-v5.match:europe" {
			t.Errorf("behind a 429: %+v", e)
		}
	})
}

// TestW10d_TheModeOfAWindowIsAWord: mode C turns on by proof and off by a 429.
func TestW10d_TheModeOfAWindowIsAWord(t *testing.T) {
	mode := func(l *Limiter) string { return l.Snapshot().Hosts[0].Scopes[0].Buckets[0].Mode }
	for name, want := range map[string]string{"lazy": "fixed", "aligned": "fixed", "sliding": "sliding"} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				s, l := newServer(rules[name], "500:10"), New(Options{})
				warm(t, l, s)
				if mode(l) != "sliding" {
					t.Error("fixed without proof")
				}
				stop := make(chan struct{})
				go usedIsWithin(t, l, stop)
				backfill(t, l, s, 3000, 64)
				close(stop)
				if got := mode(l); got != want || s.violations > 0 {
					t.Errorf("mode %s, want %s; %d violations", got, want, s.violations)
				}
				time.Sleep(time.Minute)
				take(t, l, matches).Done(429, headersOf("X-Rate-Limit-Type", "application", "Retry-After", "1"))
				if got := mode(l); got != "sliding" {
					t.Errorf("mode %s after a 429", got)
				}
				if g := l.Snapshot().Hosts[0].Scopes[0].Buckets[0].Guard; g != 100*time.Millisecond {
					t.Errorf("guard %v", g)
				}
				time.Sleep(11 * time.Minute)
				isOpen(l, testHost, matches)
				if g := l.Snapshot().Hosts[0].Scopes[0].Buckets[0].Guard; g != 0 {
					t.Errorf("guard %v after ten minutes", g)
				}
			})
		})
	}
}

// usedIsWithin watches that no bucket counts more than it allows, as the next window opens
// too: what the server counted in the one before takes no place in it.
func usedIsWithin(t *testing.T, l *Limiter, stop <-chan struct{}) {
	for {
		select {
		case <-stop:
			return
		case <-time.After(17 * time.Millisecond):
		}
		for _, h := range l.Snapshot().Hosts {
			for _, s := range h.Scopes {
				for _, b := range s.Buckets {
					if b.Used() > b.Limit.N {
						t.Errorf("%s %d/%d in mode %s", b.Name, b.Used(), b.Limit.N, b.Mode)
						return
					}
				}
			}
		}
	}
}
