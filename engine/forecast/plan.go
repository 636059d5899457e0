package forecast

import (
	"cmp"
	"maps"
	"math"
	"slices"
	"time"

	"github.com/farsight-console/farsight/engine"
)

// Endpoints that nearly all calls of a sync go to.
const (
	MatchMethod    = "match-v5.match"
	TimelineMethod = "match-v5.timeline"
	ListMethod     = "match-v5.ids"
)

// Still is why syncs make no call until something happens that nobody can foresee, by
// account: "queue paused by ana", "match calls to europe fail".
type Still map[string]string

// State is all that a forecast follows from.
type State struct {
	Now     time.Time
	Open    []engine.AccountRow // syncs at work that the engine works on
	Still   Still               // those of them that stand still
	Late    map[string]bool     // of those the ones whose timelines go all the same, while matches are down
	Queues  []engine.QueueRow
	Buckets []engine.BucketRow
	Down    []engine.BreakerRow // endpoints whose jobs are in no line
	Waiting []Waiting           // by their instants
	Limits  func(host string) Limits
}

// Waiting is a job that waits for an instant after trouble.
type Waiting struct {
	engine.Job
	Host, Method string      // of its next call; "" = it makes none
	Held         engine.Held // what keeps it from starting whenever it is due
}

// endless reports whether nobody knows when what holds a job is over.
func (w *Waiting) endless() bool { return w.Held.Reason != "" && w.Held.Until.IsZero() }

// Plan says when the work of a State goes. What nobody asks for is not worked out.
type Plan struct {
	State
	hosts  map[string]*hostPlan
	starts map[engine.JobID]Start // nil = not worked out yet
}

// hostPlan is one host's line. Its ends are numbers of calls: what is dealt out at one
// call a second ends after as many seconds.
type hostPlan struct {
	limits   Limits
	shares   []Share
	calendar *calendar       // nil = no limit is known
	all      []time.Duration // end of each open sync
	matches  []time.Duration // of its matches alone
	first    int             // calls that go before all timelines
	waits    map[place]time.Duration
}

// place is one of a line, for calls of a method.
type place struct {
	method string
	ahead  int
}

// wait is when a place in line comes. Very many retries stand at few places.
func (h *hostPlan) wait(at place) time.Duration {
	if at.ahead == 0 {
		return 0
	}
	wait, ok := h.waits[at]
	if !ok {
		wait = h.limits.Turn(at.method, at.ahead+1).Wait
		h.waits[at] = wait
	}
	return wait
}

// New makes the plan of a state.
func New(s State) *Plan { return &Plan{State: s, hosts: map[string]*hostPlan{}} }

// host gives the plan of a host, made when it is first asked for.
func (p *Plan) host(name string) *hostPlan {
	h := p.hosts[name]
	if h == nil {
		h = p.hostOf(name, p.Open)
		if h.calendar = p.newCalendar(name); h.calendar != nil && len(h.shares) == 0 {
			p.standsStill(h.calendar)
		}
		p.hosts[name] = h
	}
	return h
}

// standsStill plans nothing of a host whose syncs all stand still; what waits is counted.
func (p *Plan) standsStill(c *calendar) {
	again := p.again(false)
	for _, a := range p.Open {
		if why := p.Still[a.ID]; why != "" && a.Region == c.Host {
			c.Stuck, c.Why = true, cmp.Or(c.Why, why)
			c.HostForecast.Line += max(CallsLeft(a)-again[lane{a.ID, MatchMethod}]-again[lane{a.ID, TimelineMethod}], 0)
		}
	}
}

// hostOf works a host's line out: once with all calls, and once with matches alone, which end before
// timelines begin.
func (p *Plan) hostOf(name string, open []engine.AccountRow) *hostPlan {
	h := &hostPlan{waits: map[place]time.Duration{}, limits: p.Limits(name),
		shares: p.InLine(name, open, 0)}
	h.all = Turns(h.shares, 1, len(open))
	first := slices.DeleteFunc(slices.Clone(h.shares), func(s Share) bool { return s.Priority == engine.PriorityLow })
	h.first = callsOf(first)
	h.matches = Turns(first, 1, len(open))
	return h
}

// ETA says when a sync's calls are made, its matches' alone without timelines, with all
// that go before them; and not before the last of its retries starts. A sync that is not among the open
// ones is put behind them.
func (p *Plan) ETA(a engine.AccountRow, timelines bool) engine.ETA {
	mine := slices.IndexFunc(p.Open, func(o engine.AccountRow) bool { return o.ID == a.ID })
	h := p.hosts[a.Region]
	switch {
	case mine < 0:
		open := append(slices.Clone(p.Open), a)
		h, mine = p.hostOf(a.Region, open), len(p.Open)
	case h == nil:
		h = p.host(a.Region)
	}
	ends := h.matches
	if timelines {
		ends = h.all
	}
	e := ETA(h.limits, MatchMethod, callsIn(ends[mine]))
	e.Calls = CallsLeft(a)
	wait := p.lastRetry(a.ID).Sub(p.Now)
	if wait > e.Low {
		e.Low, e.Why = wait, "its last retry is due then"
	}
	if wait > e.High {
		e.High, e.Bucket = wait, ""
	}
	return e
}

// callsIn is a span of a line that moves by one call a second.
func callsIn(d time.Duration) int { return int(d.Seconds() + 0.5) }

// lastRetry is when the last of an account's retries starts; zero = it has none.
func (p *Plan) lastRetry(owner string) (last time.Time) {
	starts := p.Starts()
	for i := range p.Waiting {
		if w := &p.Waiting[i]; w.Owner == owner {
			last = engine.Latest(last, engine.Latest(w.Due, starts[w.ID].At))
		}
	}
	return last
}

// Starts is when the jobs go that wait for an instant. One that comes due goes to the end
// of its account's line; accounts take turns, and the host's limit lets so many through.
func (p *Plan) Starts() map[engine.JobID]Start {
	if p.starts != nil {
		return p.starts
	}
	p.starts = make(map[engine.JobID]Start, len(p.Waiting))
	for _, b := range p.Buckets {
		p.host(b.Host)
	}
	for i := range p.Waiting {
		w := &p.Waiting[i]
		p.starts[w.ID] = p.start(w)
	}
	for _, h := range p.hosts {
		if h.calendar != nil {
			h.calendar.Line(callsOf(h.shares))
		}
	}
	return p.starts
}

// start is when one waiting job goes. A job that makes no call, or goes to a host without a known
// limit, is on time.
func (p *Plan) start(w *Waiting) Start {
	switch {
	case w.endless():
		return Start{LateBy: w.Held.Reason}
	case w.Host == "":
		return Start{At: engine.Latest(w.Due, p.Now)}
	}
	h := p.host(w.Host)
	if h.calendar == nil {
		return Start{At: engine.Latest(w.Due, p.Now)}
	}
	line := h.wait(place{w.Method, h.ahead(p.Open, w)})
	if p.tries(w) {
		line = 0
	}
	return h.calendar.Retry(engine.Latest(w.Due, w.Held.Until), line)
}

// tries reports whether a job finds out whether its lane, which is down, still is: the first of those that wait, where
// none of the lane stands in line. It goes before its rank.
func (p *Plan) tries(w *Waiting) bool {
	if w.Held.Stand != engine.StandDown {
		return false
	}
	for i := range p.Buckets {
		if b := &p.Buckets[i]; b.Host == w.Host && b.Method == w.Method && b.Waiting > 0 {
			return false
		}
	}
	for i := range p.Waiting {
		if o := &p.Waiting[i]; o.Host == w.Host && o.Method == w.Method {
			return o.ID == w.ID
		}
	}
	return false
}

// ahead is how many calls go before a job that joins the end of its owner's line now.
func (h *hostPlan) ahead(open []engine.AccountRow, w *Waiting) (calls int) {
	ends := h.matches
	if w.Priority == engine.PriorityLow { // it gives way to all else
		ends = h.all
		calls = h.first
	}
	if mine := slices.IndexFunc(open, func(a engine.AccountRow) bool { return a.ID == w.Owner }); mine >= 0 {
		calls = max(calls, callsIn(ends[mine]))
	}
	return calls
}

// callsOf is how many calls shares have in all.
func callsOf(shares []Share) (n int) {
	sum := 0.0
	for _, s := range shares {
		sum += s.Calls
	}
	return int(sum + 0.5)
}

// Answer is the plan as consoles are told it: as many windows as begin within a time, and
// the accounts with the most calls first. past are the calls that each account has made.
func (p *Plan) Answer(ahead time.Duration, past map[string][]int) engine.Forecast {
	p.Starts()
	out := engine.Forecast{At: p.Now, Step: engine.ForecastStep, Hosts: []engine.HostForecast{}}
	planned := make([]flow, len(p.Open))
	for _, name := range slices.Sorted(maps.Keys(p.hosts)) {
		h := p.hosts[name]
		if h.calendar == nil {
			continue
		}
		row := h.calendar.HostForecast
		row.Windows = h.calendar.Through(ahead)
		row.Planned = p.flow(name, h, planned).steps()
		out.Hosts = append(out.Hosts, row)
	}
	out.Accounts = p.accounts(planned, past)
	return out
}

// flow is how many calls are made by the end of each step: sums that only grow, with fractions, since
// a window's calls are spread over all of it.
type flow [engine.ForecastPlanned]float64

// steps are the whole calls of each step: they add up to those of all.
func (f *flow) steps() []int {
	out := make([]int, len(f))
	before := 0
	for i, sum := range f {
		made := int(math.Round(sum))
		out[i], before = made-before, made
	}
	return out
}

// flow adds a host's calls to those of each open sync, and gives those of all. The line
// moves as the windows let it; a retry is a call at its start.
func (p *Plan) flow(name string, h *hostPlan, of []flow) *flow {
	var all flow
	if h.calendar.Stuck {
		return &all
	}
	until := h.calendar.paced()
	dealt(h.shares, 1, func(t *turn, from, to time.Duration) {
		for i, by := range until {
			calls := t.pace * max(0, min(by, to.Seconds())-from.Seconds())
			all[i] += calls * float64(len(t.of))
			for _, o := range t.of {
				if o >= 0 {
					of[o][i] += calls
				}
			}
		}
	})
	for i := range p.Waiting {
		if w := &p.Waiting[i]; w.Host == name && !p.starts[w.ID].At.IsZero() {
			p.call(p.starts[w.ID].At, w.Owner, &all, of)
		}
	}
	return &all
}

// call adds one call of an account at an instant.
func (p *Plan) call(at time.Time, owner string, all *flow, of []flow) {
	mine := slices.IndexFunc(p.Open, func(a engine.AccountRow) bool { return a.ID == owner })
	for i := max(int(at.Sub(p.Now)/engine.ForecastStep), 0); i < len(all); i++ {
		all[i]++
		if mine >= 0 {
			of[mine][i]++
		}
	}
}

// Beside is a host's calendar with the calls of a command in it that nobody has confirmed
// yet; nil = nothing can be foreseen.
func (p *Plan) Beside(host string, calls int, takes time.Duration) *engine.HostForecast {
	c := p.newCalendar(host)
	if c == nil || c.Stuck || calls == 0 {
		return nil
	}
	c.Command(calls, takes)
	for i := range p.Waiting {
		if w := &p.Waiting[i]; w.Host == host && !w.endless() {
			c.Retry(w.Due, 0)
		}
	}
	c.Line(callsOf(p.host(host).shares))
	c.Windows = c.Through(mostWindows * c.Window)
	return &c.HostForecast
}

// accounts are those with calls, the most of them first; last those whose calls are not planned.
func (p *Plan) accounts(planned []flow, past map[string][]int) []engine.AccountForecast {
	out := []engine.AccountForecast{}
	add := func(row engine.AccountForecast, f *flow) {
		row.Past, row.Planned = past[row.Account], f.steps()
		if row.Past == nil {
			row.Past = make([]int, engine.ForecastPast)
		}
		if total(row)+row.Calls > 0 {
			out = append(out, row)
		}
	}
	open, again := map[string]bool{}, p.again(false)
	for i, a := range p.Open {
		open[a.ID] = true
		row := engine.AccountForecast{Account: a.ID, RiotID: a.RiotID, Calls: CallsLeft(a)}
		late := p.down(a.Region, TimelineMethod) && lateCalls(a) > 0 // nobody knows when they go
		if late && p.Still[a.ID] == "" {
			row.Calls -= lateCalls(a) - again[lane{a.ID, TimelineMethod}] // its retries have their instants
		}
		c := p.host(a.Region).calendar
		if row.Calls > 0 && c != nil && !c.Stuck && p.Still[a.ID] == "" && !late { // else a retry alone is planned of it
			row.Ends = p.Now.Add(p.ETA(a, true).High)
		}
		add(row, &planned[i])
	}
	for id := range past {
		if !open[id] {
			add(engine.AccountForecast{Account: id}, new(flow))
		}
	}
	slices.SortStableFunc(out, func(a, b engine.AccountForecast) int {
		return cmp.Or(cmp.Compare(total(b), total(a)), cmp.Compare(a.Account, b.Account))
	})
	return out
}

// total is how many calls an account has made and will make.
func total(a engine.AccountForecast) (n int) {
	for _, calls := range slices.Concat(a.Past, a.Planned) {
		n += calls
	}
	return n
}
