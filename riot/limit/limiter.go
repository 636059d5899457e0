package limit

import (
	"sync"
	"time"
)

// Pacing says how calls that could go at once are spread.
type Pacing uint8

const (
	// FrontLoaded sends at once what the end of the backlog depends on and
	// spreads the rest over the window.
	FrontLoaded Pacing = iota
	// Burst sends every call as soon as the limits allow.
	Burst
)

// Priority orders calls; Interactive ones are an operator's own.
type Priority uint8

const (
	// Interactive calls go before bulk calls and are not paced.
	Interactive Priority = iota
	// Bulk calls fill the rest and keep at least a tenth of the grants.
	Bulk
)

// Request is one call that wants to go.
type Request struct {
	Host     string // routing value: "europe", "euw1"
	Method   string // name of the path template: "match-v5.match"
	Job      string // who asks; needed for Admit to reserve a place
	Priority Priority
}

// Options configure a Limiter. The zero value is a good default.
type Options struct {
	Pacing  Pacing
	Ceiling []Limit // per host; only ever lowers what headers allow
	// Keeps says that somebody keeps what Save gives, at once when Unkept, and then calls Kept.
	Keeps bool
}

// holdPlace is how long a reserved place waits for its job.
const holdPlace = 30 * time.Second

// Limiter decides when each call to Riot may go. Its methods may be called from
// any goroutine. It has no goroutines of its own and needs no closing.
type Limiter struct {
	opts Options
	base time.Time // instants count from here

	mu       sync.Mutex
	hosts    map[string]*host
	reserved map[string]*reservation // by job
	order    []*reservation          // by lapse
	seq      uint64
	changed  chan struct{} // nil while nobody watches
	unkept   int           // scopes, see scope.unkept
	lost     bool          // the state of an earlier run was lost, at lostAt
	lostAt   instant
}

// New makes a limiter that knows nothing yet: the first call on each host, and
// then the first of each method, goes alone and its headers tell the limits.
func New(opts Options) *Limiter {
	return &Limiter{
		opts:     opts,
		base:     time.Now(),
		hosts:    map[string]*host{},
		reserved: map[string]*reservation{},
	}
}

func (l *Limiter) now() instant { return time.Since(l.base) }

// at converts an instant for the world outside: never is the zero time.
func (l *Limiter) at(i instant) time.Time {
	if i == never {
		return time.Time{}
	}
	now := time.Now()
	return now.Add(i - now.Sub(l.base))
}

// host finds or makes the state of one routing value.
func (l *Limiter) host(name string) *host {
	if h := l.hosts[name]; h != nil {
		return h
	}
	h := &host{opts: &l.opts, app: newScope(Scope{Host: name}), methods: map[string]*scope{}}
	for _, c := range l.opts.Ceiling {
		h.app.windows = append(h.app.windows, newWindow(h.app.name, c, true))
	}
	if l.lost {
		h.loseState(l.lostAt)
	}
	l.hosts[name] = h
	return h
}

// Changed returns a channel that is closed when admission may have changed for
// another reason than time: an answer, a freeze, a place given back. Take it
// before asking Admit, then sleep until it closes or Decision.Until comes.
func (l *Limiter) Changed() <-chan struct{} {
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.changed == nil {
		l.changed = make(chan struct{})
	}
	return l.changed
}
