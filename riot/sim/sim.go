package sim

import (
	"cmp"
	"context"
	"maps"
	"math"
	"net/http"
	"regexp"
	"strconv"
	"sync"
	"time"

	"github.com/farsight-console/farsight/riot/route"
	"github.com/farsight-console/farsight/riot/sim/internal/keyed"
	"github.com/farsight-console/farsight/riot/sim/internal/world"
)

// Sim is a simulated Riot. It is an http.Handler and gives an http.RoundTripper; both are safe for any
// number of callers.
//
// It keeps its own books and believes nothing that the client says: its windows count what arrives,
// by their rule, and a call above a limit is answered with a 429 and counted as a violation. So a
// client whose limiter is wrong fails a test here, where against Riot it would lose its key.
type Sim struct {
	opt   Options
	world *world.World
	began time.Time

	mu       sync.Mutex // guards all below
	limits   Limits
	scopes   map[scope]windows
	projects map[string]*world.Project
	keys     map[string]Key
	faults   []*armed
	attempts map[string]int       // admitted calls per thing
	told     map[scope]wait       // what the client was asked to wait for
	idle     map[string]time.Time // by host: until when calls on a kept connection are lost, since the server has closed it
	used     map[string]struct{}  // keys that were accepted
	latest   string               // of them
	log      journal
}

// wait is a Retry-After that was sent.
type wait struct{ from, until time.Time }

// New makes a simulator. It panics on options that Validate refuses: validate first what a person typed.
func New(o Options) *Sim {
	if err := o.Validate(); err != nil {
		panic("sim.New: " + err.Error())
	}
	// From here on no option is zero that has a default.
	o = o.withDefaults()
	s := &Sim{opt: o, began: time.Now(), limits: o.Limits}
	s.world = world.New(o.Seed, o.Epoch, o.Players)
	for _, l := range o.Ladders {
		s.world.AddLadder(l)
	}
	if o.FixturesDir != "" {
		s.world.AddRecordings(o.FixturesDir)
	}
	s.projects, s.used = map[string]*world.Project{}, map[string]struct{}{}
	s.keys = maps.Clone(o.Keys)
	if s.keys == nil {
		s.keys = map[string]Key{}
	}
	s.Reset()
	_ = s.Inject(o.Faults...) // Validate has checked them
	return s
}

// Reset forgets counts, log, attempts and rate limit windows. Faults, keys and games stay.
func (s *Sim) Reset() {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.scopes, s.attempts, s.told, s.idle = map[scope]windows{}, map[string]int{}, map[scope]wait{}, map[string]time.Time{}
	// Numbers of calls go on: a reader that asks for what came after N must not see N again.
	before := s.log.before + s.log.appended
	s.log = newJournal(s.log.InFlight)
	s.log.before = before
}

// Inject adds faults to the plan, all of them or, where one is wrong, none; After and Until count from now.
func (s *Sim) Inject(faults ...Fault) error { return s.arm(faults, false) }

// InjectFirst is Inject, before what is in the plan: of two faults that fit a call the first one strikes.
func (s *Sim) InjectFirst(f Fault) error { return s.arm([]Fault{f}, true) }

func (s *Sim) arm(faults []Fault, first bool) error {
	var plan []*armed
	for _, f := range faults {
		if err := f.check(); err != nil {
			return err
		}
		plan = append(plan, &armed{Fault: f, since: time.Now()})
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	if first {
		s.faults = append(plan, s.faults...)
	} else {
		s.faults = append(s.faults, plan...)
	}
	return nil
}

// Clear ends all faults.
func (s *Sim) Clear() {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.faults = nil
}

// Faults lists the plan with its hits.
func (s *Sim) Faults() []ActiveFault {
	s.mu.Lock()
	defer s.mu.Unlock()
	list := make([]ActiveFault, len(s.faults))
	for i, f := range s.faults {
		list[i] = ActiveFault{f.Fault, f.hits}
	}
	return list
}

// SetKey changes what Riot knows about a key, from the next call on.
func (s *Sim) SetKey(key string, k Key) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.keys[key] = k
}

// SetLimits changes the limits of every key; running windows start anew, as after a raise at Riot.
func (s *Sim) SetLimits(l Limits) error {
	if err := (Options{Limits: l}).Validate(); err != nil {
		return err
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	// Windows of all keys, also those that were over their limit.
	s.limits, s.scopes = l, map[scope]windows{}
	return nil
}

// Foreign counts n calls that somebody else made with key on host. Refusals that they cause are no
// violations.
func (s *Sim) Foreign(key, host string, n int) {
	s.mu.Lock()
	defer s.mu.Unlock()
	// Foreign use is told by host alone: it takes from the application's windows and from no method's.
	s.windows(scope{key, host, ""}).add(time.Now(), n, true)
}

// Player is a known account.
type Player struct {
	RiotID   string         `json:"riot_id"`
	Platform route.Platform `json:"platform"`
	Matches  int            `json:"matches"`
}

// Players lists the known accounts, in the order of the options, then those of the fixtures.
func (s *Sim) Players() []Player {
	list := make([]Player, len(s.world.Accounts))
	for i, a := range s.world.Accounts {
		list[i] = Player{a.Spec.RiotID, a.Spec.Platform, len(s.world.History(a, 0))}
	}
	return list
}

// MatchIDs are the ids of an account's games, newest first, as a patient and complete listing gives
// them; nil for an unknown Riot ID. Tests compare with it.
func (s *Sim) MatchIDs(riotID string) []string {
	a := s.world.Named(riotID)
	if a == nil {
		return nil
	}
	all := idQuery{queue: -1, count: indexed}
	return all.page(s.world.History(a, 0))
}

// PUUID is the PUUID of an account for keys of a project ("" is "default"); empty for an unknown Riot ID.
func (s *Sim) PUUID(riotID, project string) string {
	s.mu.Lock()
	defer s.mu.Unlock()
	a := s.world.Named(riotID)
	if a == nil {
		return ""
	}
	return s.project(project).PUUID(a.Me)
}

// project is what keys of one developer's project see: each project has PUUIDs of its own for the same
// players, as Riot encrypts them. The caller holds the lock.
func (s *Sim) project(name string) *world.Project {
	// Keys without a project of their own share one.
	if name == "" {
		name = "default"
	}
	if s.projects[name] == nil {
		s.projects[name] = world.NewProject(s.opt.Seed, name)
	}
	return s.projects[name]
}

// windows are the rate limit windows of a scope, made when it is first used. The caller holds the lock.
// A scope is a key on a host, and with a method the limit of that method there.
func (s *Sim) windows(sc scope) windows {
	ws, ok := s.scopes[sc]
	if ok {
		return ws
	}
	ws = newWindows(s.limits.of(sc.method, s.opt.Speed), s.opt.WindowRule)
	s.scopes[sc] = ws
	return ws
}

// keyForm is what Riot takes for a key at all; others get 401 and not 403.
var keyForm = sync.OnceValue(func() *regexp.Regexp {
	return regexp.MustCompile(`^RGAPI-[0-9a-fA-F]{8}(-[0-9a-fA-F]{4}){3}-[0-9a-fA-F]{12}$`)
})

// handle takes a call from its arrival to the answer. It sleeps for the latency; a cancelled context
// ends the sleep, and the answer no longer matters.
func (s *Sim) handle(r *http.Request, host string) (*call, *answer) {
	ctx, c := r.Context(), newCall(r, host)
	// A test that holds calls back here sees them as sent and not yet counted.
	if s.opt.Door != nil {
		s.opt.Door(ctx, c.Method, c.params["matchId"])
	}
	up, down := s.latency()
	sleep(ctx, up)
	a := s.arrive(c)()
	// Faults delay at the speed of the simulator, too.
	sleep(ctx, down+s.scaled(a.delay))
	return c, a
}

// latency is how long a call travels before and after it is counted. It is drawn from the seed by the number
// of the call; a limiter that counts by its own clock must allow for either part.
func (s *Sim) latency() (up, down time.Duration) {
	l := s.opt.Latency
	if l.Base < 0 {
		return 0, 0
	}
	s.mu.Lock()
	s.log.drawn++
	h := keyed.Start(s.opt.Seed).Str("latency").Num(uint64(s.log.drawn))
	s.mu.Unlock()
	// Base ± Jitter, evenly; a swing that is wider than the base gives answers without any latency.
	total := float64(l.Base) + float64(l.Jitter)*(2*h.Num(1).Unit()-1)
	total = math.Max(0, total) / s.opt.Speed
	up = time.Duration(total * (0.2 + 0.4*h.Num(2).Unit()))
	return up, time.Duration(total) - up
}

// scaled is a duration at the simulator's speed.
func (s *Sim) scaled(d time.Duration) time.Duration {
	return time.Duration(float64(d) / s.opt.Speed)
}

// sleep waits for d, or until the caller has gone.
func sleep(ctx context.Context, d time.Duration) {
	if d <= 0 {
		return
	}
	// Stopped when the caller leaves first: a bubble of synctest waits for no timer that is left behind.
	t := time.NewTimer(d)
	defer t.Stop()
	select {
	case <-t.C:
	case <-ctx.Done():
	}
}

// arrive counts the call and decides its fate. What it returns makes the answer, outside of the lock:
// payloads cost milliseconds.
func (s *Sim) arrive(c *call) func() *answer {
	s.mu.Lock()
	defer s.mu.Unlock()
	c.At = time.Now()
	s.log.arrived(c.At)
	if a := s.refuse(c); a != nil {
		return fixed(a)
	}
	// A key that was refused above does not count as one that calls.
	s.used[c.key], s.latest = struct{}{}, c.key
	c.project = s.project(s.keys[c.key].Project)
	s.identify(c)
	s.noticeHaste(c)
	// Which fault strikes is decided before the limits are counted, for some answers never reach the limiter.
	f := s.strike(c)
	if f != nil {
		if i, of := limitLies[f.Kind]; of {
			c.limits[i] = f.Limits
		}
	}
	if f == nil || !uncounted[f.Kind] {
		if a := s.limit(c); a != nil {
			return fixed(a)
		}
	}
	if f == nil {
		return func() *answer { return s.finish(c, s.serve(c)) }
	}
	// A fault without a name goes by its kind.
	c.kind, c.Fault = f.Kind, cmp.Or(f.Name, string(f.Kind))
	s.record(c.Fault, c)
	return func() *answer {
		a := effects[f.Kind](s, f, c, func() *answer { return s.serve(c) })
		return s.finish(c, a)
	}
}

// uncounted are the faults that Riot answers before its limiter (F: http/401.*).
var uncounted = map[Kind]bool{Unauthorized: true, Forbidden: true, ForbiddenHTML: true, Firewall: true}

// fixed is an answer that is made already.
func fixed(a *answer) func() *answer { return func() *answer { return a } }

// refuse turns away calls that do not reach the limiter: they count nowhere and carry no limits.
func (s *Sim) refuse(c *call) *answer {
	state := s.keys[c.key].State
	var a *answer
	switch {
	case !keyForm().MatchString(c.key):
		a = statusAnswer(401, "Forbidden") // the message says Forbidden, the code 401
	case state == KeyUnknown:
		a = statusAnswer(401, "Unknown apikey")
	case state == KeyExpired:
		a = statusAnswer(403, "Forbidden")
		s.record(ExpiredKey, c)
	// a path that Riot does not know: 403, as for a method that the key may not call
	case c.Method == "":
		a = statusAnswer(403, "Forbidden")
	case c.verb != "GET":
		a = statusAnswer(405, "Method Not Allowed")
	default:
		return nil
	}
	a.noHeaders = true
	return a
}

// limit counts c in its buckets. Over a limit it gives the 429, and a violation if the client's own
// calls alone are too many.
func (s *Sim) limit(c *call) *answer {
	app, method := s.windows(c.scopes()[0]), s.windows(c.scopes()[1])
	// Both, and before either is asked: a refused call counts as well (developer-relations#697).
	app.add(c.At, 1, false)
	method.add(c.At, 1, false)
	s.log.counted(c)
	c.weigh(app, method)
	// Riot names the application where both are over.
	kind, w := scopeApp, app.worst(c.At)
	if w == nil {
		kind, w = scopeMethod, method.worst(c.At)
	}
	if w == nil {
		return nil
	}
	c.refused, c.Violation = true, app.violated() || method.violated()
	a := statusAnswer(429, "Rate limit exceeded")
	a.limitType, a.retryAfter = kind, s.rounded(w.frees(c.At))
	return s.dress(c, a)
}

// rounded is a Retry-After: Riot rounds up or down, and sometimes adds a second (kayn#25: 0 for a 1 s
// window, developer-relations#371: 2 for one).
// Which way is drawn from the seed and the number of the call: a client that trusts the header to
// the second meets each of the three.
func (s *Sim) rounded(d time.Duration) string {
	seconds := d.Seconds()
	switch keyed.Start(s.opt.Seed).Str("retry-after").Num(uint64(s.log.Calls)).Below(4) {
	case 0:
		return strconv.Itoa(int(seconds))
	case 1:
		return strconv.Itoa(int(math.Ceil(seconds)) + 1)
	}
	return strconv.Itoa(int(math.Ceil(seconds)))
}

// finish adds what every answer that reached the limiter carries.
func (s *Sim) finish(c *call, a *answer) *answer {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.dress(c, a)
}

// dress puts the rate limit headers on a. The caller holds the lock.
func (s *Sim) dress(c *call, a *answer) *answer {
	// A header that is absent says something else than an empty one.
	if a.limitType != "" {
		a.set("X-Rate-Limit-Type", a.limitType)
	}
	if a.retryAfter != "" {
		a.set("Retry-After", a.retryAfter)
	}
	s.rememberWait(c, a)
	if a.noHeaders {
		return a
	}
	// Drawn by the number of the call: two calls in a row may have two orders.
	reversed := keyed.Start(s.opt.Seed).Str("order").Num(uint64(s.log.Calls)).Below(2) == 0
	for i, name := range []string{"X-App-Rate-Limit", "X-Method-Rate-Limit"} {
		limits, counts := s.windows(c.scopes()[i]).headers(reversed)
		if c.limits[i] == "none" {
			continue
		}
		limits = cmp.Or(c.limits[i], limits)
		a.set(name, limits)
		a.set(name+"-Count", counts)
	}
	return a
}

// grace is how long after a 429, beside twice the latency, calls may still arrive that were on their
// way when it was sent.
const grace = 300 * time.Millisecond

// rememberWait notes what a 429 or 503 asked for, to tell whether the client obeys.
func (s *Sim) rememberWait(c *call, a *answer) {
	seconds, err := strconv.Atoi(a.retryAfter)
	asks := a.status == http.StatusTooManyRequests || a.status == http.StatusServiceUnavailable
	if !asks || err != nil || seconds <= 0 {
		return
	}
	sc := c.scopes()[1]
	if a.limitType == scopeApp {
		sc = c.scopes()[0]
	}
	now := time.Now()
	// So that an absurd Retry-After of a fault plan does not run over.
	seconds = int(math.Min(float64(seconds), 24*3600)) // nobody has to obey more than a day
	l := s.opt.Latency
	from := now.Add(grace + 2*s.scaled(max(0, l.Base+l.Jitter)))
	s.told[sc] = wait{from, now.Add(time.Duration(seconds) * time.Second)}
}

// noticeHaste counts calls that were made while a Retry-After ran.
func (s *Sim) noticeHaste(c *call) {
	for _, sc := range c.scopes() {
		// Calls between the 429 and from were on their way when it was sent.
		if w, ok := s.told[sc]; ok && c.At.After(w.from) && c.At.Before(w.until) {
			s.log.Early++
			c.Hasty = w.until.Sub(c.At)
			return
		}
	}
}
