package limit

import (
	"context"
	"fmt"
	"math/rand/v2"
	"net/http"
	"sort"
	"strconv"
	"strings"
	"sync"
	"testing"
	"time"
)

// rule is how a server counts its windows.
type rule int

const (
	lazy    rule = iota // a window starts with the first call after the last one
	aligned             // windows lie on a grid
	sliding             // the last D, at every instant
)

var rules = map[string]rule{"lazy": lazy, "aligned": aligned, "sliding": sliding}

// counter is one limit at the server.
type counter struct {
	Limit
	rule  rule
	phase time.Duration
	start time.Duration
	begun bool
	seen  []time.Duration
}

// add counts a call that arrives at now.
func (c *counter) add(now time.Duration) int {
	switch c.rule {
	case lazy:
		if !c.begun || now >= c.start+c.Per {
			c.begun, c.start, c.seen = true, now, nil
		}
	case aligned:
		if slot := (now + c.phase) / c.Per * c.Per; slot != c.start {
			c.start, c.seen = slot, nil
		}
	case sliding:
		i := sort.Search(len(c.seen), func(i int) bool { return c.seen[i] > now-c.Per })
		c.seen = c.seen[i:]
	}
	c.seen = append(c.seen, now)
	return len(c.seen)
}

// server is a strict Riot: it counts refused calls too and remembers each one.
type server struct {
	rule    rule
	app     []Limit
	methods map[string][]Limit
	link    func(id int) (up, down time.Duration)
	edit    func(http.Header)                                       // of an answer; nil = as it is
	fail    func(id int, method string) (status int, h http.Header) // nil header: answer normally

	mu         sync.Mutex
	base       time.Time
	counters   map[string][]*counter
	calls      int
	violations int
	arrivals   []time.Duration
	methodOf   []string
	aliens     int
}

func newServer(r rule, app string) *server {
	limits, err := parseLimits(app)
	if err != nil {
		panic(err)
	}
	return &server{
		rule: r, app: limits, base: time.Now(),
		methods:  map[string][]Limit{},
		counters: map[string][]*counter{},
		link:     jitter(60*time.Millisecond, 30*time.Millisecond),
	}
}

// jitter gives answer times of mean ± spread, split at random into up and down.
func jitter(mean, spread time.Duration) func(int) (time.Duration, time.Duration) {
	return func(id int) (time.Duration, time.Duration) {
		r := rand.New(rand.NewPCG(uint64(id), 7))
		total := mean - spread + time.Duration(r.Int64N(int64(2*spread)+1))
		up := time.Duration(r.Int64N(int64(total) + 1))
		return up, total - up
	}
}

func (s *server) bucket(key string, limits []Limit, now time.Duration, h http.Header, name string) (over *counter) {
	if s.counters[key] == nil {
		for i, l := range limits {
			s.counters[key] = append(s.counters[key], &counter{Limit: l, rule: s.rule, phase: time.Duration(i+1) * l.Per / 3})
		}
	}
	var stated, used []string
	for _, c := range s.counters[key] {
		n := c.add(now)
		stated = append(stated, c.Limit.String())
		used = append(used, fmt.Sprintf("%d:%d", n, c.Per/time.Second))
		if n > c.N {
			over = c
		}
	}
	if len(limits) > 0 {
		h.Set("X-"+name+"-Rate-Limit", strings.Join(stated, ","))
		h.Set("X-"+name+"-Rate-Limit-Count", strings.Join(used, ","))
	}
	return over
}

// arrive counts a call and answers it.
func (s *server) arrive(id int, host, method string) (int, http.Header) {
	s.mu.Lock()
	defer s.mu.Unlock()
	now := time.Since(s.base)
	s.calls++
	s.arrivals = append(s.arrivals, now)
	s.methodOf = append(s.methodOf, method)
	if s.fail != nil {
		if status, h := s.fail(id, method); h != nil {
			return status, h
		}
	}
	h := http.Header{}
	over, kind := s.bucket(host, s.app, now, h, "App"), "application"
	if o := s.bucket(host+"/"+method, s.methods[method], now, h, "Method"); o != nil && over == nil {
		over, kind = o, "method"
	}
	if s.edit != nil {
		s.edit(h)
	}
	if over == nil {
		return http.StatusOK, h
	}
	s.violations++
	h.Set("X-Rate-Limit-Type", kind)
	h.Set("Retry-After", strconv.Itoa(int(over.Per/time.Second)))
	return http.StatusTooManyRequests, h
}

// call is one call over the wire with its permit's life.
func (s *server) call(p *Permit, id int, host, method string) Receipt {
	up, down := s.link(id)
	p.Wrote()
	time.Sleep(up)
	status, h := s.arrive(id, host, method)
	time.Sleep(down)
	p.FirstByte()
	return p.Done(status, h)
}

// alien is a call of somebody else with the same key.
func (s *server) alien(host, method string) {
	s.mu.Lock()
	defer s.mu.Unlock()
	h := http.Header{}
	s.bucket(host, s.app, time.Since(s.base), h, "App")
	s.bucket(host+"/"+method, s.methods[method], time.Since(s.base), h, "Method")
	s.aliens++
}

// stillness is the longest time without an arrival, from the first to the last.
func (s *server) stillness() time.Duration {
	s.mu.Lock()
	defer s.mu.Unlock()
	at := append([]time.Duration(nil), s.arrivals...)
	sort.Slice(at, func(i, j int) bool { return at[i] < at[j] })
	most := time.Duration(0)
	for i := 1; i < len(at); i++ {
		most = max(most, at[i]-at[i-1])
	}
	return most
}

const (
	testHost = "europe"
	matches  = "match-v5.match"
)

// backfill sends n bulk calls the way the engine's dispatcher does: admit, claim,
// hand to one of the workers. It returns when all are answered.
func backfill(t *testing.T, l *Limiter, s *server, n, workers int) time.Duration {
	t.Helper()
	start := time.Now()
	var wg sync.WaitGroup
	slots := make(chan struct{}, workers)
	l.SetBacklog(testHost, n)
	for i := 0; i < n; i++ {
		slots <- struct{}{}
		r := Request{Host: testHost, Method: matches, Job: "job" + strconv.Itoa(i), Priority: Bulk}
		admit(l, r)
		wg.Go(func() {
			p, err := l.Acquire(context.Background(), r)
			if err != nil {
				t.Error(err)
				return
			}
			s.call(p, i, testHost, matches)
			<-slots
		})
	}
	wg.Wait()
	return time.Since(start)
}

// admit asks until the answer is yes, sleeping as a dispatcher does.
func admit(l *Limiter, r Request) {
	for {
		changed := l.Changed()
		d := l.Admit(r)
		if d.OK {
			return
		}
		var due <-chan time.Time
		if !d.Until.IsZero() {
			due = time.After(time.Until(d.Until))
		}
		select {
		case <-changed:
		case <-due:
		}
	}
}

// bound is the shortest time in which n calls can be sent: bursts as each window
// opens, no latency.
func bound(n int, limits ...Limit) time.Duration {
	at := make([]time.Duration, n)
	for k := range at {
		for _, l := range limits {
			if k >= l.N {
				at[k] = max(at[k], at[k-l.N]+l.Per)
			}
		}
		if k > 0 {
			at[k] = max(at[k], at[k-1])
		}
	}
	return at[n-1]
}

// warm makes the limiter know the host and the method, and lets the windows pass.
func warm(t *testing.T, l *Limiter, s *server) {
	t.Helper()
	p, err := l.Acquire(context.Background(), Request{Host: testHost, Method: matches})
	if err != nil {
		t.Fatal(err)
	}
	s.call(p, 1<<20, testHost, matches)
	time.Sleep(20 * time.Minute)
	s.mu.Lock()
	s.arrivals, s.methodOf = nil, nil
	s.mu.Unlock()
}
