package traffic

import (
	"cmp"
	"context"
	"slices"
	"strconv"
	"strings"
	"sync"
	"time"

	"github.com/farsight-console/farsight/engine"
	"github.com/farsight-console/farsight/engine/wall"
	"github.com/farsight-console/farsight/riot"
)

// gate stops work that would fail for a reason that is not its own: a key that
// does not work, a machine without network, an endpoint that is down. While one
// of its fuses is blown, jobs stay available and uncharged, and one job at a time
// is let through to see whether it is over.
//
// changed is called outside of mu, since whoever is told asks the gate again. logged and the fuses'
// told are called under it: they may neither block nor ask.
type gate struct {
	mu      sync.Mutex
	key     fuse
	network fuse
	lanes   map[Lane]*breaker
	failed  map[string]*streak   // by host, whatever the lane
	proven  bool                 // something was answered with 200 since the start
	good    map[string]time.Time // by host: its last answer that was no failure, by the wall clock
	ended   map[engine.Hold]bool // repaired since Released was last asked
	changed func()
	// logged is told of each fuse that blows or is repaired, and of the lane it is of;
	// nil = nobody.
	logged    func(f *fuse, l Lane)
	keyholder keyholder     // nil = the key may be used
	halt      func() string // see Options.Halt
	// wanted reports whether calls of a lane wait in line; called under mu, nil = they do.
	wanted func(Lane) bool
	cut    string // what the last call that did not leave this machine met
	// patience bounds how long failures are held to be an outage: a match that is
	// broken for ever must come to an end.
	patience time.Duration
	speed    float64 // of the world that the probes are made in; 0 = as fast as this one
}

func newGate(patience time.Duration, speed float64, changed func()) *gate {
	return &gate{
		key: newKeyFuse().at(speed), network: newNetworkFuse().at(speed), speed: speed,
		lanes: map[Lane]*breaker{}, failed: map[string]*streak{}, good: map[string]time.Time{}, ended: map[engine.Hold]bool{},
		changed: changed, patience: patience, halt: func() string { return "" },
	}
}

// change lets fn change the gate under its lock, and tells of it where fn says that somebody who was
// held may go.
func (g *gate) change(fn func() (freed bool)) {
	g.mu.Lock()
	freed := fn()
	g.mu.Unlock()
	if freed {
		g.changed()
	}
}

// keyholder knows whether calls may be made with the key in use at all.
type keyholder interface {
	Holds() string  // why none may be made; "" = they may. It is asked before each claim
	Paused() string // the same for what only an operator can end
	KeyChanged()    // another key is in use from now on
}

// forbidden is why no call may be made with the key in use; "" = they may.
func (g *gate) forbidden() string {
	why := g.halt()
	if why == "" && g.keyholder != nil {
		why = g.keyholder.Holds()
	}
	return why
}

// check reports whether a job may call on a lane; if not, until when and why.
func (g *gate) check(l Lane, job engine.JobID, now time.Time) (until time.Time, why string, ok bool) {
	if why := g.forbidden(); why != "" {
		return time.Time{}, why, false
	}
	g.mu.Lock()
	defer g.mu.Unlock()
	for _, f := range g.fuses(l) {
		if until, ok := f.admits(job, now); !ok {
			return until, reasonOf(f, l), false
		}
	}
	b := g.lane(l)
	if b.proof != nil {
		return time.Time{}, "finds out whether all " + engine.Outage(l.Host, l.Method), false
	}
	if !b.ramp.admits(job) {
		return time.Time{}, engine.Outage(l.Host, l.Method) + "ed until just now: they return by steps", false
	}
	return time.Time{}, "", true
}

// holds reports whether a lane's calls wait for something that has no known end.
func (g *gate) holds(l Lane) bool {
	if g.forbidden() != "" {
		return true
	}
	g.mu.Lock()
	defer g.mu.Unlock()
	return g.key.blown || g.network.blown || g.lanes[l] != nil && g.lanes[l].blown
}

// untried reports whether a lane is down and has no prober, and a probe would tell whether it still is.
func (g *gate) untried(l Lane) bool {
	g.mu.Lock()
	defer g.mu.Unlock()
	b := g.lanes[l]
	return b != nil && b.blown && b.prober == "" && !b.idle
}

// makeRoom notes from when on the limits let a call of a lane that is down go.
func (g *gate) makeRoom(l Lane, at time.Time) {
	g.mu.Lock()
	defer g.mu.Unlock()
	g.lane(l).room = at
}

// begin makes the job the prober of whatever is blown on its lane. The backend asks for one job at a
// time, so that none gets in between check and begin.
func (g *gate) begin(l Lane, job engine.JobID) {
	g.mu.Lock()
	defer g.mu.Unlock()
	for _, f := range g.fuses(l) {
		if f.blown {
			f.prober = job
		}
	}
	g.lane(l).ramp.enter(job)
}

// quit takes the probe back from a job that did not call, or whose call told
// nothing. Without it the fuse would wait for that job's answer for ever.
func (g *gate) quit(job engine.JobID) {
	g.change(func() (released bool) {
		released = g.key.release(job)
		released = g.network.release(job) || released
		for _, b := range g.lanes {
			released = b.release(job) || released
			released = b.ramp.leave(job) || released
		}
		return released
	})
}

// ruling is what the gate makes of one answer: whether it is part of an outage,
// and when held work may be tried again. doubt: only a proof can tell whether it is. next is never in
// the past, see later.
type ruling struct {
	outage bool
	doubt  bool
	next   time.Time
}

// answer tells the gate how a call went; e is nil for a good one.
func (g *gate) answer(l Lane, job engine.JobID, e *riot.Error, now time.Time) (r ruling) {
	g.change(func() (freed bool) {
		r, freed = g.judge(l, job, e, now)
		return freed
	})
	return r
}

// wave counts a 404 and reports whether the last answers of the lane were all 404.
func (g *gate) wave(l Lane, job engine.JobID) bool {
	g.mu.Lock()
	defer g.mu.Unlock()
	b := g.lane(l)
	b.lost = lastOf(b.lost, job)
	return several(b.lost)
}

// judge is answer under the lock. Each answer proves as much as it can: a 429 that the network and the
// key work, a 403 that the network does, a 404 that everything does. freed says that somebody who was
// held may go.
func (g *gate) judge(l Lane, job engine.JobID, e *riot.Error, now time.Time) (r ruling, freed bool) {
	b := g.lane(l)
	switch {
	case e == nil:
		g.proven = true
		b.lost = b.lost[:0]
		g.good[l.Host] = wall.At(now)
		return r, g.alive(b, job, now)
	case e.Reason == riot.Local:
		g.network.blow(job, now)
		g.cut = strings.TrimPrefix(e.Message, riot.CannotReach)
		return ruling{next: later(g.network.probe, now)}, true
	case e.Reason == riot.NoKey:
		g.key.blow(job, now)
		return ruling{next: later(g.key.probe, now)}, true
	case e.Reason == riot.Transient || e.Reason == riot.Timeout:
		doubt := b.fail(job, e, now)
		reached := e.Reason == riot.Transient && g.reached(false)
		r = g.ruleLane(b, now)
		r.doubt = doubt
		return r, b.blown || reached
	case e.Status == 0: // no call was made
		return r, false
	case e.Reason == riot.Blocked || e.Reason.Denied(): // judged by who asks further: see blowKey and passes
		return r, g.reached(false)
	case e.Reason == riot.Throttled: // the limiter's affair; it tells nothing of the endpoint
		return r, g.reached(true)
	}
	g.good[l.Host] = wall.At(now)
	return r, g.alive(b, job, now) // 400, 404 and a body we cannot read are answers of a healthy endpoint
}

// silent reports whether nothing on the lane's host has succeeded since an
// instant of the wall clock. An attempt that is part of an open outage is not asked about: it costs
// nothing, and somebody must find out when the outage is over.
func (g *gate) silent(l Lane, since, now time.Time) bool {
	g.mu.Lock()
	defer g.mu.Unlock()
	if g.ruleLane(g.lane(l), now).outage {
		return false
	}
	return g.good[l.Host].Before(since)
}

// ruleLane rules by how a lane stands. What is only taken to be an outage is not held
// to be one for ever. Past patience an outage that nothing has proven charges attempts again, or a
// match that is broken for ever would keep its lane shut.
func (g *gate) ruleLane(b *breaker, now time.Time) ruling {
	return ruling{outage: b.blown && (b.proven || now.Sub(b.since) < g.patience), next: later(b.probe, now)}
}

// reached repairs what an answer proves to work besides its endpoint: the network, or the key as well.
func (g *gate) reached(key bool) bool {
	freed := g.mend(&g.network)
	return key && g.mend(&g.key) || freed
}

// mend repairs a fuse that holds every host, and notes that its hold is over:
// nobody who was held by it need wait for the instant that was named.
func (g *gate) mend(f *fuse) bool {
	if !f.repair() {
		return false
	}
	g.ended[f.hold] = true
	return true
}

// released gives the holds that have ended since it was last asked.
func (g *gate) released() (holds []engine.Hold) {
	g.mu.Lock()
	defer g.mu.Unlock()
	for h := range g.ended {
		holds = append(holds, h)
	}
	clear(g.ended)
	return holds
}

// alive repairs all that a good answer proves to work.
func (g *gate) alive(b *breaker, job engine.JobID, now time.Time) bool {
	freed := g.reached(true)
	return b.succeed(job, now) || freed
}

// blowKey marks the key as refused, after a probe said so.
func (g *gate) blowKey(job engine.JobID, now time.Time) (r ruling) {
	g.change(func() bool {
		g.key.blow(job, now)
		r.next = later(g.key.probe, now)
		return true
	})
	return r
}

// passes notes that what was refused to a job is not refused to others: the key was let in, and, if way, its
// lane answers.
func (g *gate) passes(l Lane, job engine.JobID, way bool, now time.Time) {
	g.keyWorks()
	g.change(func() bool {
		b := g.lane(l)
		if b.idle = !way; b.idle {
			return false
		}
		return g.alive(b, job, now)
	})
}

// keyWorks notes that the key was let in.
func (g *gate) keyWorks() {
	g.change(func() bool {
		g.proven = true
		return g.mend(&g.key)
	})
}

// keyState reports whether the key is known not to work, and until when nothing
// is tried.
func (g *gate) keyState(now time.Time) (r ruling, blown bool) {
	g.mu.Lock()
	defer g.mu.Unlock()
	return ruling{next: later(g.key.probe, now)}, g.key.blown
}

// refused is since when the key is known not to work, and when a call asks again; zero = it is not, and one asks now.
func (g *gate) refused() (since, asks time.Time) {
	g.mu.Lock()
	defer g.mu.Unlock()
	if g.key.blown {
		since, asks = g.key.since, g.key.next()
	}
	return since, asks
}

// probes reports whether the job is the one that was let through to try the key.
func (g *gate) probes(job engine.JobID) bool {
	g.mu.Lock()
	defer g.mu.Unlock()
	return g.key.prober == job
}

// lane gives the breaker of a lane, and makes it at its first call. The caller has the lock.
func (g *gate) lane(l Lane) *breaker {
	b := g.lanes[l]
	if b == nil {
		host := g.failed[l.Host]
		if host == nil {
			host = &streak{}
			g.failed[l.Host] = host
		}
		b = &breaker{fuse: newOutageFuse().at(g.speed), host: host, ill: map[string]bool{}}
		b.told = func(f *fuse) { g.log(f, l) }
		g.lanes[l] = b
	}
	return b
}

func (g *gate) log(f *fuse, l Lane) {
	if g.logged != nil {
		g.logged(f, l)
	}
}

// fuses are what stands before a lane, the widest first: its reason is the one that is shown.
func (g *gate) fuses(l Lane) [3]*fuse { return [3]*fuse{&g.key, &g.network, &g.lane(l).fuse} }

// later keeps a hold from ending in the past, which would be a hot loop.
func later(t, now time.Time) time.Time {
	if soonest := now.Add(time.Second); t.Before(soonest) {
		return soonest
	}
	return t
}

// reasonOf is the reason on the row of a job that the fuse holds.
func reasonOf(f *fuse, l Lane) string {
	switch f.hold {
	case engine.HoldOutage:
		return engine.Outage(l.Host, l.Method)
	case engine.HoldKeyInvalid:
		return engine.KeyRefused
	case engine.HoldLocalNetwork:
		return engine.CutOff
	}
	return f.hold.String()
}

// forgetKey repairs the key's fuse: another key is in place.
func (g *gate) forgetKey() {
	g.change(func() bool {
		g.mend(&g.key)
		return true
	})
}

func (g *gate) isProven() bool {
	g.mu.Lock()
	defer g.mu.Unlock()
	return g.proven
}

// health names the worst of what is blown. What stops everything goes before a single endpoint.
func (g *gate) health() (engine.EngineState, string) {
	g.mu.Lock()
	defer g.mu.Unlock()
	halt := g.halt()
	switch {
	case g.key.blown:
		return engine.EngineNoKey, engine.KeyRefused
	case g.network.blown:
		return engine.EngineDegraded, cmp.Or(halt, engine.CutOff+": "+g.cut)
	case halt != "":
		return engine.EnginePaused, halt
	}
	if g.keyholder != nil {
		if why := g.keyholder.Paused(); why != "" {
			return engine.EnginePaused, why
		}
	}
	if down := g.blown(); len(down) > 0 {
		return engine.EngineAPIDown, engine.Outage(down[0].Host, down[0].Method)
	}
	return engine.EngineLive, ""
}

// held says what keeps all calls of a lane. It makes no breaker for a lane that nobody has called:
// consoles ask for lanes that only are to come.
func (g *gate) held(l Lane) engine.Held {
	if why := g.forbidden(); why != "" {
		return engine.Held{Reason: why, Stand: engine.StandHeld}
	}
	g.mu.Lock()
	defer g.mu.Unlock()
	fuses := []*fuse{&g.key, &g.network}
	if b := g.lanes[l]; b != nil {
		fuses = append(fuses, &b.fuse)
	}
	for _, f := range fuses {
		if f.blown {
			return engine.Held{Reason: reasonOf(f, l), Until: f.next(), Stand: stands[f.hold]}
		}
	}
	return engine.Held{}
}

// stands are the words for what blows a fuse.
var stands = map[engine.Hold]engine.Stand{
	engine.HoldOutage: engine.StandDown, engine.HoldKeyInvalid: engine.StandHeld,
	engine.HoldLocalNetwork: engine.StandHeld,
}

// down are the lanes that are, with the jobs that wait in each left to be counted.
func (g *gate) down() (rows []engine.BreakerRow) {
	g.mu.Lock()
	defer g.mu.Unlock()
	for _, at := range g.blown() {
		b := g.lanes[at]
		rows = append(rows, engine.BreakerRow{Host: at.Host, Method: at.Method, Since: b.begun(), Next: b.next(), Proven: b.proven})
	}
	return rows
}

// failing notes how many of a host's last answers in a row failed, and what the newest met.
func (g *gate) failing(row *engine.LimitHost) {
	g.mu.Lock()
	defer g.mu.Unlock()
	if s := g.failed[row.Host]; s != nil && len(s.jobs) > 0 && time.Since(s.at) <= silence {
		row.Failing, row.FailedBy = len(s.jobs), s.last.Class
		if s.last.Status != 0 {
			row.FailedBy = strconv.Itoa(s.last.Status)
		}
	}
}

// unwanted is how long after a probe was due nobody needs to have wanted it: what was held for it is in line by then.
const unwanted = 10 * time.Second

// blown are the lanes that are down, by name. Of one that nobody calls any more it is not known, and holds nobody up.
func (g *gate) blown() (down []Lane) {
	for l, b := range g.lanes {
		if b.blown && (b.prober != "" || time.Since(b.probe) < unwanted || g.wanted == nil || g.wanted(l)) {
			down = append(down, l)
		}
	}
	slices.SortStableFunc(down, func(a, b Lane) int { return strings.Compare(a.String(), b.String()) })
	return down
}

// lanesDown are all lanes that are down, whether anybody calls them or not, in no order.
func (g *gate) lanesDown() (down []Lane) {
	g.mu.Lock()
	defer g.mu.Unlock()
	for l, b := range g.lanes {
		if b.blown {
			down = append(down, l)
		}
	}
	return down
}

// outage is the reason of a lane that is held while others go on.
func (g *gate) outage(l Lane) string {
	g.mu.Lock()
	defer g.mu.Unlock()
	if b := g.lanes[l]; b != nil && b.blown {
		return reasonOf(&b.fuse, l)
	}
	return ""
}

// spareEvery is how often a job that is spared looks whether its host works again.
const spareEvery = time.Minute

// spared holds the last attempt of a job back as long as nothing on its host has
// succeeded since the job first failed: then it is the host that fails and not the
// job, and the attempt would be spent for nothing. It waits at the latest until
// twice the table's sum after the first failure, since a job that can never
// succeed must come to its end. Where something is known that the
// lane answered before, it is not held: that is asked should the attempt fail.
func (a *attempt) spared(ctx context.Context) (o engine.Outcome, held bool) {
	if !a.Run.LastTry() {
		return o, false
	}
	first, ok := a.firstFailure(ctx)
	now := time.Now()
	left := first.Add(2 * a.Run.Policy.Sum()).Sub(wall.At(now))
	if !ok || left <= 0 || !a.gate.silent(a.At, first, now) || len(a.known(ctx)) > 0 {
		return o, false
	}
	return engine.Snooze(now.Add(min(left, spareEvery)), engine.HoldOutage, nil), true
}

// firstFailure is when the first attempt of the job's round failed. If nobody can
// tell, nothing is held back. It is an instant of the wall clock, as all that is stored.
func (a *attempt) firstFailure(ctx context.Context) (time.Time, bool) {
	d, err := a.opt.History.Detail(ctx, engine.JobQuery{ID: a.Run.Job.ID})
	if err != nil {
		return time.Time{}, false
	}
	for _, old := range d.Attempts {
		if old.Round == a.Run.Job.Round && old.Verb == engine.VerbRetry && !old.End.IsZero() {
			return old.End, true
		}
	}
	return time.Time{}, false
}
