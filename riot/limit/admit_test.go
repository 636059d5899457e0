package limit

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"testing"
	"testing/synctest"
	"time"
)

func bulk(job string) Request {
	return Request{Host: testHost, Method: matches, Job: job, Priority: Bulk}
}

// TestAdmitNeverPromisesTooMuch: a dispatcher that claims whatever Admit allows
// claims as many jobs as there are places, and every one of them goes at once.
func TestAdmitNeverPromisesTooMuch(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		l := learnt(t, Options{})
		var jobs []Request
		for i := range 50 {
			if r := bulk(fmt.Sprint("job", i)); l.Admit(r).OK {
				jobs = append(jobs, r)
			}
		}
		if len(jobs) != 20 {
			t.Fatalf("admitted %d jobs, want the 20 of the second", len(jobs))
		}
		if d := l.Admit(jobs[0]); !d.OK {
			t.Error("asking again for an admitted job was refused")
		}
		start := time.Now()
		for _, r := range jobs {
			p, err := l.Acquire(context.Background(), r)
			if err != nil || time.Since(start) > 0 {
				t.Fatalf("an admitted job waited %v: %v", time.Since(start), err)
			}
			p.Done(200, devHeaders("20:1,20:120", "20:10"))
		}
	})
}

func TestReservationEnds(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		l := New(Options{})
		if !l.Admit(bulk("a")).OK || l.Admit(bulk("b")).OK {
			t.Fatal("an unknown host takes one call, not two")
		}
		changed := l.Changed()
		l.Withdraw("a")
		l.Withdraw("a")
		l.Withdraw("never admitted")
		select {
		case <-changed:
		default:
			t.Error("a place given back was not announced")
		}
		if !l.Admit(bulk("b")).OK {
			t.Error("the place that was given back is not free")
		}
		d := l.Admit(bulk("c"))
		if d.OK || time.Until(d.Until) != holdPlace {
			t.Errorf("%+v: want the instant at which the place lapses", d)
		}
		time.Sleep(holdPlace)
		if !l.Admit(bulk("c")).OK {
			t.Error("a place nobody came for did not lapse")
		}
		// b comes too late: it has to wait for c's answer like everybody.
		ctx, cancel := context.WithTimeout(context.Background(), time.Second)
		defer cancel()
		if _, err := l.Acquire(ctx, bulk("b")); !errors.Is(err, context.DeadlineExceeded) {
			t.Errorf("a lapsed place was taken: %v", err)
		}
	})
}

// TestReservationIsVoidAfter429: the place was promised before the 429.
func TestReservationIsVoidAfter429(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		l := learnt(t, Options{})
		p := take(t, l, matches)
		if !l.Admit(bulk("a")).OK {
			t.Fatal("refused")
		}
		p.Done(429, headersOf("X-Rate-Limit-Type", "method", "Retry-After", "5"))
		start := time.Now()
		if _, err := l.Acquire(context.Background(), bulk("a")); err != nil || time.Since(start) != 6*time.Second {
			t.Errorf("went after %v, %v", time.Since(start), err)
		}
		if n := l.Snapshot().Hosts[0].Scopes[0].Reserved; n != 0 {
			t.Errorf("%d places still reserved", n)
		}
	})
}

func TestCancelledWaiterLeaves(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		l := New(Options{})
		first := take(t, l, matches)
		ctx, cancel := context.WithCancelCause(context.Background())
		stop := errors.New("shutdown")
		done := make(chan error)
		go func() { _, err := l.Acquire(ctx, bulk("")); done <- err }()
		synctest.Wait()
		if w := l.Snapshot().Hosts[0].Waiters; len(w) != 1 || !strings.Contains(w[0].Reason, "not known yet") {
			t.Errorf("waiters: %+v", w)
		}
		cancel(stop)
		if err := <-done; !errors.Is(err, stop) || !strings.Contains(err.Error(), "app:europe") {
			t.Errorf("got %v", err)
		}
		if _, err := l.Acquire(ctx, bulk("")); !errors.Is(err, stop) {
			t.Errorf("a dead context got %v", err)
		}
		if w := l.Snapshot().Hosts[0].Waiters; len(w) != 0 {
			t.Errorf("waiters: %+v", w)
		}
		first.Done(200, devHeaders("1:1,1:120", "1:10"))
		take(t, l, matches)
	})
}

// TestFirstComeFirstServed within a method and a priority, and a line that is
// held up holds up no other.
func TestFirstComeFirstServed(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		l := New(Options{})
		one := headersOf("X-App-Rate-Limit", "1:1", "X-App-Rate-Limit-Count", "1:1")
		probe := take(t, l, matches)
		order := make(chan int, 15)
		for i := range 15 {
			go func() {
				p, err := l.Acquire(context.Background(), bulk(""))
				if err != nil {
					t.Error(err)
					return
				}
				order <- i
				p.Done(200, one)
			}()
			synctest.Wait()
		}
		if w := l.Snapshot().Hosts[0].Waiters; len(w) != 15 || w[14].Line != 14 {
			t.Errorf("waiters: %+v", w)
		}
		probe.Done(200, one)
		for i := range 15 {
			if got := <-order; got != i {
				t.Errorf("call %d went as number %d", got, i)
			}
		}
	})
}

// TestBulkKeepsATenth: a flood of interactive calls leaves one place in ten.
func TestBulkKeepsATenth(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s, l := newServer(sliding, "20:1"), New(Options{})
		warm(t, l, s)
		ctx, cancel := context.WithTimeout(context.Background(), 60*time.Second)
		defer cancel()
		var count [2]int
		for i := range 120 {
			go func() {
				for id := i; ; id += 1000 {
					r := Request{Host: testHost, Method: matches, Priority: Priority(i % 2)}
					p, err := l.Acquire(ctx, r)
					if err != nil {
						return
					}
					s.call(p, id, testHost, matches)
					s.mu.Lock()
					count[r.Priority]++
					s.mu.Unlock()
				}
			}()
		}
		<-ctx.Done()
		synctest.Wait()
		time.Sleep(time.Second)
		share := float64(count[Bulk]) / float64(count[Bulk]+count[Interactive])
		if share < 0.095 || share > 0.12 || s.violations > 0 {
			t.Errorf("bulk got %.1f %% of %v, %d violations", 100*share, count, s.violations)
		}
	})
}

// TestBulkTurnByAdmission: the tenth holds for a dispatcher that never waits in line.
func TestBulkTurnByAdmission(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		l := learnt(t, Options{})
		ask := func(i int, p Priority) bool {
			r := bulk(fmt.Sprint(p, i))
			r.Priority = p
			return l.Admit(r).OK
		}
		for i := range 20 {
			ask(i, Interactive)
		}
		if ask(0, Bulk) {
			t.Fatal("a 21st call within the second")
		}
		l.Withdraw("0 0")
		if ask(100, Interactive) {
			t.Error("an operator's call took the bulk calls' turn")
		}
		if !ask(1, Bulk) {
			t.Error("the bulk call was refused in its turn")
		}
		l.Withdraw("0 1")
		if !ask(101, Interactive) {
			t.Error("an operator's call was refused after the turn")
		}
	})
}

func TestI5_FreezeAndCap(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		l := learnt(t, Options{})
		l.Freeze(Scope{Host: testHost}, time.Now().Add(time.Minute), 50, "half")
		n := 0
		for l.Admit(bulk(fmt.Sprint(n))).OK {
			n++
		}
		if n != 10 {
			t.Errorf("%d calls within a second under a cap of 50 %% of 20", n)
		}
		l.Freeze(Scope{Host: testHost}, time.Now().Add(time.Minute), 0, "")
		if d := l.Admit(bulk("x")); d.OK || time.Until(d.Until) != time.Minute || d.Reason != "app:europe frozen by an operator" {
			t.Errorf("%+v", d)
		}
		if !isOpen(l, "kr", matches) || !l.Frozen() {
			t.Error("another host is frozen, or none")
		}
		time.Sleep(time.Minute)
		if !isOpen(l, testHost, matches) || l.Frozen() {
			t.Error("frozen beyond its instant")
		}
		if l.Freeze(Scope{testHost, matches}, time.Time{}, 0, ""); !l.Frozen() {
			t.Error("a frozen method is not told")
		}
		l.Thaw(Scope{testHost, matches})
		l.Freeze(Scope{Host: testHost}, time.Date(9999, 1, 1, 0, 0, 0, 0, time.UTC), 0, "")
		if d := l.Admit(bulk("x")); d.OK || !d.Until.IsZero() {
			t.Errorf("%+v", d)
		}
	})
}

// TestCeilingOnlyLowers: the operator's rate beside the headers'.
func TestCeilingOnlyLowers(t *testing.T) {
	for _, c := range []struct {
		ceiling Limit
		want    int // calls within a second
	}{{Limit{18, time.Second}, 18}, {Limit{500, time.Second}, 20}, {Limit{10, time.Minute}, 10}} {
		t.Run(c.ceiling.String(), func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				l, n := learnt(t, Options{Ceiling: []Limit{c.ceiling}, Pacing: Burst}), 0
				for l.Admit(bulk(fmt.Sprint(n))).OK {
					n++
				}
				if n != c.want {
					t.Errorf("%d calls, want %d", n, c.want)
				}
			})
		})
	}
}
