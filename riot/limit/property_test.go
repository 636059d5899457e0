package limit

import (
	"context"
	"encoding/json"
	"flag"
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

// plan is one random life of a client: sessions that end in a kill or a stop,
// bursts and pauses, calls that are lost, refunded, cancelled or suspended.
type plan struct {
	rule     rule
	app      string
	method   string
	mean     time.Duration
	tail     bool // one call in twenty takes up to 0.9 s on the way up
	seed     uint64
	sessions int
	kill     bool
	lose     int // percent of calls that fail after the write
	suspend  bool
	pacing   Pacing
	longest  int // seconds of a session: the longer ones prove how the server's windows are
}

func drawPlan(t *rapid.T) plan {
	return plan{
		rule:     rule(rapid.IntRange(0, 2).Draw(t, "rule")),
		app:      rapid.SampledFrom([]string{"20:1,100:120", "20:1,100:12", "50:5", "100:120,20:1", "20:1,15:30", "3:1,10:10,40:60"}).Draw(t, "app"),
		method:   rapid.SampledFrom([]string{"", "30:10", "1000:10", "7:2"}).Draw(t, "method"),
		mean:     time.Duration(rapid.IntRange(2, 400).Draw(t, "mean ms")) * time.Millisecond,
		tail:     rapid.Bool().Draw(t, "tail"),
		seed:     rapid.Uint64().Draw(t, "seed"),
		sessions: rapid.IntRange(1, 4).Draw(t, "sessions"),
		kill:     rapid.Bool().Draw(t, "kill"),
		lose:     rapid.SampledFrom([]int{0, 0, 5, 30}).Draw(t, "lose"),
		suspend:  rapid.Bool().Draw(t, "suspend"),
		pacing:   Pacing(rapid.IntRange(0, 1).Draw(t, "pacing")),
		longest:  rapid.SampledFrom([]int{90, 90, 90, 90, 90, 90, 90, 600}).Draw(t, "longest"),
	}
}

// atMost lets rapid check no more than n cases in a test.
func atMost(t *testing.T, n int) {
	f := flag.Lookup("rapid.checks")
	if was, err := strconv.Atoi(f.Value.String()); err == nil && was > n {
		_ = f.Value.Set(strconv.Itoa(n))
		t.Cleanup(func() { _ = f.Value.Set(strconv.Itoa(was)) })
	}
}

// TestNeverOverTheLimit: whatever the window rule, the links, the order of
// answers, the bursts, the losses, the kills and the restarts, the server never
// counts a call above a limit.
func TestNeverOverTheLimit(t *testing.T) {
	atMost(t, scratch.Sized(15, math.MaxInt))
	rapid.Check(t, func(rt *rapid.T) {
		p := drawPlan(rt)
		var bad, calls int
		synctest.Test(t, func(t *testing.T) { bad, calls = live(t, p) })
		if bad > 0 {
			rt.Fatalf("%d of %d calls over the limit", bad, calls)
		}
	})
}

// session is one process of the client.
type session struct {
	l      *Limiter
	s      *server
	rnd    *rand.Rand
	p      plan
	wg     sync.WaitGroup
	ctx    context.Context
	saved  State
	opened map[Scope]int // since saved; guarded by s.mu
}

// live plays a plan and returns the server's violations and calls.
func live(t *testing.T, p plan) (violations, calls int) {
	s := newServer(p.rule, p.app)
	if p.method != "" {
		s.methods[matches], _ = parseLimits(p.method)
	}
	rnd := rand.New(rand.NewPCG(p.seed, 1))
	base := jitter(p.mean, p.mean)
	s.link = func(id int) (up, down time.Duration) {
		up, down = base(id)
		if p.tail && id%20 == 3 {
			up += time.Duration(id*7919%900) * time.Millisecond
		}
		return min(up, 950*time.Millisecond), down
	}
	var last *session
	for i := range p.sessions {
		next := &session{l: New(Options{Pacing: p.pacing}), s: s, rnd: rnd, p: p, opened: map[Scope]int{}}
		if last != nil {
			next.l.Restore(reload(t, last.saved), time.Now(), last.opened)
		}
		next.run(i)
		time.Sleep(time.Duration(rnd.IntN(3000)) * time.Millisecond)
		last = next
	}
	time.Sleep(5 * time.Second) // stragglers
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.violations, s.calls
}

// reload sends a state through JSON, as the store does.
func reload(t *testing.T, st State) (out State) {
	b, err := json.Marshal(st)
	if err != nil {
		t.Fatal(err)
	}
	if err := json.Unmarshal(b, &out); err != nil {
		t.Fatal(err)
	}
	return out
}

// run makes calls for a random time in random bursts, saving once a second, and
// ends by a stop (all answered, saved) or a kill.
func (c *session) run(number int) {
	ctx, kill := context.WithCancel(context.Background())
	c.ctx = ctx
	c.save()
	end := time.Now().Add(time.Duration(3+c.rnd.IntN(c.p.longest)) * time.Second)
	saved := time.Now()
	for id := number * 100000; time.Now().Before(end); {
		for range 1 + c.rnd.IntN(60) {
			c.start(id)
			id++
		}
		time.Sleep(time.Duration(c.rnd.IntN(4000)) * time.Millisecond)
		if time.Since(saved) >= time.Second {
			c.save()
			saved = time.Now()
		}
		if c.p.suspend && c.rnd.IntN(40) == 0 {
			c.l.Suspended()
		}
	}
	if c.p.kill {
		kill()
		c.wg.Wait()
		return
	}
	kill() // waiters give up
	c.wg.Wait()
	c.save()
}

func (c *session) save() {
	c.s.mu.Lock()
	defer c.s.mu.Unlock()
	c.saved, c.opened = c.l.Save(time.Now()), map[Scope]int{}
}

// start opens an attempt and makes its call in the background.
func (c *session) start(id int) {
	method := matches
	if id%5 == 0 {
		method = "account-v1.by-puuid"
	}
	r := Request{Host: testHost, Method: method, Priority: Priority(c.rnd.IntN(2))}
	lost := c.rnd.IntN(100) < c.p.lose
	if admitted := c.rnd.IntN(2) == 0; admitted {
		r.Job = strconv.Itoa(id)
		if !c.l.Admit(r).OK {
			return
		}
	}
	c.wg.Go(func() { c.attempt(id, r, lost) })
}

func (c *session) attempt(id int, r Request, lost bool) {
	p, err := c.l.Acquire(c.ctx, r)
	if err != nil {
		return
	}
	c.s.mu.Lock()
	c.opened[Scope{r.Host, r.Method}]++
	c.s.mu.Unlock()
	if id%31 == 7 {
		p.Refund()
		return
	}
	up, down := c.s.link(id)
	p.Wrote()
	if lost {
		go func() { time.Sleep(up); c.s.arrive(id, r.Host, r.Method) }()
		time.Sleep(up / 2)
		p.Lost()
		return
	}
	answer := make(chan func(), 1)
	go func() {
		time.Sleep(up)
		status, h := c.s.arrive(id, r.Host, r.Method)
		time.Sleep(down)
		answer <- func() { p.FirstByte(); p.Done(status, h) }
	}()
	var killed <-chan struct{}
	if c.p.kill {
		killed = c.ctx.Done()
	}
	select {
	case f := <-answer:
		f()
	case <-killed:
	}
}
