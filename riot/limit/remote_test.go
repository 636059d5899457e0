package limit

import (
	"math"
	"math/rand/v2"
	"strconv"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"pgregory.net/rapid"

	"github.com/farsight-console/farsight/internal/scratch"
)

// An adopted call keeps its place, without a bound, until it ends, and does not stand in the way
// of the one that asks what the server counts.
func TestAnAdoptedCallKeepsItsPlace(t *testing.T) {
	for name, c := range map[string]struct {
		end  func(*Permit)
		free int // places of 20:1 once it has ended, and a second later
		then int
	}{
		"answered":    {func(p *Permit) { p.Done(200, devHeaders("1:1,1:120", "1:10")) }, 19, 20},
		"never begun": {func(p *Permit) { p.Refund() }, 20, 20},
		"silent":      {func(p *Permit) { p.Lost() }, 19, 19},
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				old := learnt(t, Options{})
				st := old.Save(time.Now())
				l := New(Options{})
				if !l.Restore(st, time.Now(), nil) {
					t.Error("a sound state was not believed")
				}
				p := l.Adopt(Request{Host: testHost, Method: matches, Job: "j"}, 10*time.Second)
				probe := take(t, l, accounts)
				probe.Done(200, devHeaders("2:1,2:120", "1:10"))
				time.Sleep(time.Hour)
				if n := places(l); n != 19 {
					t.Errorf("%d places while it is open, want 19", n)
				}
				c.end(p)
				if n := places(l); n != c.free {
					t.Errorf("%d places at its end, want %d", n, c.free)
				}
				time.Sleep(time.Second)
				if n := places(l); n != c.then {
					t.Errorf("%d places a second later, want %d", n, c.then)
				}
			})
		})
	}
}

// A count of the server's is not explained by adopted calls, which may not have arrived yet: what
// else it counts was let go beside them by a process that nobody can ask any more.
func TestAnAdoptedCallExplainsNoCount(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		st := learnt(t, Options{}).Save(time.Now())
		l := New(Options{})
		l.Restore(st, time.Now(), nil)
		var open []*Permit
		for range 3 {
			open = append(open, l.Adopt(Request{Host: testHost, Method: matches}, time.Second))
		}
		take(t, l, accounts).Done(200, devHeaders("6:1,6:120", "1:10"))
		if n := places(l); n != 20-6-3 {
			t.Errorf("%d places of 20, where 6 are counted and 3 calls may come", n)
		}
		open[0].Refund()
		open[1].Done(200, nil)
		if n := places(l); n != 20-6-2 {
			t.Errorf("%d places of 20, where 6 were counted and one has come since and one may", n)
		}
	})
}

// places is how many calls may go at once.
func places(l *Limiter) (n int) {
	for ; ; n++ {
		if !l.Admit(Request{Host: testHost, Method: matches, Job: "place " + strconv.Itoa(n), Priority: Interactive}).OK {
			break
		}
	}
	for i := range n {
		l.Withdraw("place " + strconv.Itoa(i))
	}
	return n
}

// TestNeverOverTheLimitByReport: one process lets calls go that others make and report; it is
// followed by another one that knows no more than what was granted and what was answered. The
// server never counts a call above a limit.
func TestNeverOverTheLimitByReport(t *testing.T) {
	atMost(t, scratch.Sized(30, math.MaxInt))
	rapid.Check(t, func(rt *rapid.T) {
		r, seed, leaders := rule(rapid.IntRange(0, 2).Draw(rt, "rule")), rapid.Uint64().Draw(rt, "seed"), rapid.IntRange(1, 4).Draw(rt, "leaders")
		app := rapid.SampledFrom([]string{"20:1,100:12", "50:5", "3:1,10:10"}).Draw(rt, "app")
		var bad, calls int
		synctest.Test(t, func(t *testing.T) {
			s := newServer(r, app)
			f := &reported{s: s, rnd: rand.New(rand.NewPCG(seed, 2)), open: map[int]*grant{}}
			for range leaders {
				f.lead(t)
			}
			f.calls.Wait()
			bad, calls = s.violations, s.calls
		})
		if bad > 0 {
			rt.Fatalf("%d of %d calls over the limit", bad, calls)
		}
	})
}

// reported are calls that outlive the limiter that has let them go.
type reported struct {
	s     *server
	rnd   *rand.Rand
	n     int
	calls sync.WaitGroup

	mu    sync.Mutex
	open  map[int]*grant
	saved State
	since map[Scope]int // answered since it was saved
}

type grant struct {
	permit *Permit // of the present leader
	at     time.Time
}

// lead is the life of one leader, which ends in a kill.
func (f *reported) lead(t *testing.T) {
	l := New(Options{Pacing: Burst, Keeps: true})
	f.mu.Lock()
	first := f.n == 0
	if !first {
		l.Restore(reload(t, f.saved), time.Now(), f.since)
	}
	for _, g := range f.open {
		g.permit = l.Adopt(Request{Host: testHost, Method: matches}, time.Since(g.at))
	}
	f.mu.Unlock()
	f.save(l)
	life := time.Duration(2+f.rnd.IntN(30)) * time.Second
	if first && f.rnd.IntN(2) == 0 {
		life = time.Duration(f.rnd.IntN(1000)) * time.Millisecond // it is killed in its first burst, or before
	}
	for end := time.Now().Add(life); time.Now().Before(end); f.n++ {
		if f.rnd.IntN(20) == 0 || l.Unkept() {
			f.save(l)
		}
		r := Request{Host: testHost, Method: matches, Job: strconv.Itoa(f.n), Priority: Bulk}
		d := l.Admit(r)
		if !d.OK {
			time.Sleep(20 * time.Millisecond)
			continue
		}
		p, err := l.Acquire(t.Context(), r)
		if err != nil {
			t.Fatal(err)
		}
		f.mu.Lock()
		f.open[f.n] = &grant{p, time.Now()}
		f.mu.Unlock()
		f.call(f.n, time.Duration(f.rnd.IntN(5000)*f.rnd.IntN(2))*time.Millisecond, time.Duration(f.rnd.IntN(800))*time.Millisecond, f.rnd.IntN(20))
	}
}

func (f *reported) save(l *Limiter) {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.saved, f.since = l.Save(time.Now()), map[Scope]int{}
	l.Kept(f.saved)
	for i := range f.saved.Scopes { // those in flight are known one by one
		f.saved.Scopes[i].Flying = 0
	}
}

// call begins when it likes, and is reported late, in one case of twenty not at all.
func (f *reported) call(n int, begins, way time.Duration, fate int) {
	f.calls.Go(func() {
		time.Sleep(begins)
		if fate == 1 {
			f.ended(n, func(p *Permit) { p.Refund() })
			return
		}
		time.Sleep(way / 2)
		status, h := f.s.arrive(n, testHost, matches)
		time.Sleep(way / 2)
		if fate == 0 {
			time.Sleep(3 * time.Second)
			f.ended(n, func(p *Permit) { p.Lost() })
			return
		}
		time.Sleep(2 * way)
		f.ended(n, func(p *Permit) { p.Done(status, h) })
	})
}

// ended tells the leader that there is of the end of a call.
func (f *reported) ended(n int, end func(*Permit)) {
	f.mu.Lock()
	defer f.mu.Unlock()
	end(f.open[n].permit)
	delete(f.open, n)
	f.since[Scope{testHost, matches}]++
}
