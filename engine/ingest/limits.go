package ingest

import (
	"context"
	"encoding/json"
	"strings"
	"sync"
	"sync/atomic"
	"time"

	"github.com/rs/zerolog"

	"github.com/farsight-console/farsight/engine"
	"github.com/farsight-console/farsight/engine/await"
	"github.com/farsight-console/farsight/engine/league"
	"github.com/farsight-console/farsight/engine/wall"
	"github.com/farsight-console/farsight/riot"
	"github.com/farsight-console/farsight/riot/limit"
	"github.com/farsight-console/farsight/riot/route"
)

// StateStore is the part of storage that Limits works on.
type StateStore interface {
	// LoadState and SaveState keep the limiter's state over a restart.
	LoadState(ctx context.Context, name string) ([]byte, error)
	SaveState(ctx context.Context, name string, blob []byte) error
	// Accounts and Recent tell which calls were made since it was saved: the
	// attempts of an account's jobs that ended last, newest first.
	Accounts(ctx context.Context, q engine.AccountsQuery) (engine.AccountsPage, error)
	Recent(ctx context.Context, account string, n int) ([]engine.Attempt, error)
}

// LimitsOptions are what a Limits is made of. Store and Limiter are required.
type LimitsOptions struct {
	Store   StateStore
	Limiter *limit.Limiter
	// Patience is how long failures of an endpoint are held to be an outage that
	// costs no attempt; 0 = twice the sum of the match policy's delays.
	Patience time.Duration
	// Speed divides the waits between the probes of an outage, for a Riot that is
	// simulated faster than the real one; 0 = 1.
	Speed float64
	// Log gets what the limiter and Riot's answers do; the zero one drops it.
	Log zerolog.Logger
}

// Limits is the limiter as the rest of the engine sees it. It is a backend's
// Admitter: it admits jobs before they are claimed, stops work that would fail for reasons of its own, records
// the calls, and keeps the limiter's state over a restart.
type Limits struct {
	opt     LimitsOptions
	limiter *limit.Limiter
	gate    *gate
	calls   recorder
	cases   cases
	story   *story
	changed await.Bell
	dirty   atomic.Bool  // something was admitted or called since the last save
	unsaved atomic.Int64 // calls since the last save
	busy    await.Bell   // many calls, or a 429, are not saved yet
	onKey   func()       // told that the key was replaced; nil = nobody

	mu      sync.Mutex
	backlog map[string]int // jobs by lane name
}

// LimiterState is the name under which the store keeps the limiter's counts.
const LimiterState = "limiter"

const (
	saveEvery = time.Second
	saveAfter = 100 // calls, whichever comes first: Recent knows only so many
	// sleptAfter is the gap of the clock that means that the machine was suspended
	// or the process stopped.
	sleptAfter = 10 * time.Second
	// moreSuffix marks the lane of matches whose timelines follow.
	moreSuffix = "+"
)

// NewLimits makes a Limits. It starts nothing.
func NewLimits(o LimitsOptions) *Limits {
	if o.Patience == 0 {
		o.Patience = 2 * engine.DefaultPolicies()[engine.PolicyMatch].Sum()
	}
	l := &Limits{opt: o, limiter: o.Limiter, changed: await.NewBell(), busy: await.NewBell(), backlog: map[string]int{}}
	l.gate = newGate(o.Patience, o.Speed, l.signal)
	l.story = newStory(o.Log)
	l.gate.logged = l.story.fuse
	l.gate.key.told = func(f *fuse) { l.story.fuse(f, lane{}) }
	l.gate.network.told = l.gate.key.told
	return l
}

// OnCall is the hook of riot.Options: it fills the flight recorder.
func (l *Limits) OnCall(c riot.Call) {
	l.dirty.Store(true)
	l.calls.add(c)
	l.story.call(c)
	// A wait that Riot has asked for must outlive a kill, so it is saved at once.
	if l.unsaved.Add(1) == saveAfter || c.Status == 429 {
		l.busy.Ring()
	}
}

// Run saves the limiter's state once a second while calls are made, sooner when
// they are many, at once after a 429, and at the end, and passes its signals on,
// until ctx ends. Let it outlive the backend, and let the store outlive it.
func (l *Limits) Run(ctx context.Context) error {
	tick := time.NewTicker(saveEvery)
	defer tick.Stop()
	moved, last := l.limiter.Changed(), wall.Now()
	for {
		select {
		case <-ctx.Done():
			l.save(context.WithoutCancel(ctx))
			l.saveCases(context.WithoutCancel(ctx), time.Now(), true)
			return nil
		case <-moved:
			moved = l.limiter.Changed()
			l.signal()
		case <-l.busy:
			l.save(ctx)
		case <-tick.C:
			last = l.wake(last)
			l.save(ctx)
			l.saveCases(ctx, time.Now(), false)
			l.story.opened(time.Now())
		}
	}
}

// wake tells the limiter of a gap in time. It compares wall clocks: while a
// machine sleeps, the monotonic one may stand still.
func (l *Limits) wake(last time.Time) time.Time {
	now := wall.Now()
	if now.Sub(last) > sleptAfter {
		l.limiter.Suspended()
		l.story.slept(now.Sub(last))
	}
	return now
}

// save keeps the state if anything happened. A store that cannot take it now is
// asked again a second later: whoever writes jobs reports the fault.
func (l *Limits) save(ctx context.Context) {
	if !l.dirty.Swap(false) {
		return
	}
	l.unsaved.Store(0)
	blob, err := json.Marshal(l.limiter.Save(wall.Now()))
	if err == nil {
		err = l.opt.Store.SaveState(ctx, LimiterState, blob)
	}
	if err != nil {
		l.dirty.Store(true)
	}
}

func (l *Limits) signal() { l.changed.Ring() }

// Changed is signalled when a refused lane may be worth asking again.
func (l *Limits) Changed() <-chan struct{} { return l.changed }

// Released names the holds that have ended since it was last asked: the key that
// was refused works, or another one is in place; the network is back.
func (l *Limits) Released() []engine.Hold { return l.gate.released() }

// KeyRefused reports whether Riot refused the key in use, and no call has
// disproved that.
func (l *Limits) KeyRefused() bool {
	_, blown := l.gate.keyState(time.Now())
	return blown
}

// KeyWorks notes that a call of somebody else proved the key.
func (l *Limits) KeyWorks() { l.gate.keyWorks() }

// Lane names where the job's next call goes: "europe/match-v5.match", with a "+"
// when a timeline follows; "" when it makes none.
func (l *Limits) Lane(j engine.Job) string { return LaneName(j) }

// LaneName is Lane for whoever has no limits at hand.
func LaneName(j engine.Job) string {
	at, more := laneOf(j)
	if more {
		return at.String() + moreSuffix
	}
	return at.String()
}

// laneOf reads the next call from the job alone.
func laneOf(j engine.Job) (at lane, more bool) {
	switch j.Kind {
	case KindSync:
		return syncLane(j), false
	case KindMatch:
		at, _, _ = fetchLane(strings.TrimPrefix(j.Key, matchKey("")), route.Match)
		args, err := decode[fetchArgs](j)
		return at, err == nil && args.More
	case KindTimeline:
		at, _, _ = fetchLane(strings.TrimPrefix(j.Key, timelineKey("")), route.Timeline)
	case KindRank, KindResolve:
		at = accountLane(j)
	}
	return at, false
}

// syncLane: a sync resolves, lists, and makes no call once it has waited for its
// children.
func syncLane(j engine.Job) lane {
	if j.Group != 0 {
		return lane{}
	}
	args, err := decode[syncArgs](j)
	if err != nil {
		return lane{}
	}
	a := league.Account{Platform: args.Platform}
	if j.Phase > 0 {
		return listLane(a)
	}
	if args.Known {
		a.PUUIDs = map[string]string{"": "known"}
	}
	return resolveLane(a, "")
}

// Admit reserves a permit for the job's call, or says until when and why not.
func (l *Limits) Admit(j engine.Job) engine.Admission {
	at, _ := laneOf(j)
	if at == (lane{}) {
		return engine.Admission{OK: true}
	}
	if until, why, ok := l.gate.check(at, j.ID, time.Now()); !ok {
		return engine.Admission{Until: until, Reason: why}
	}
	d := l.limiter.Admit(limit.Request{Host: at.host, Method: at.method, Job: string(j.ID), Priority: priorityOf(j)})
	if !d.OK {
		return engine.Admission{Until: d.Until, Reason: d.Reason}
	}
	l.dirty.Store(true)
	l.gate.begin(at, j.ID)
	return engine.Admission{OK: true}
}

// Withdraw gives an unused reservation back.
func (l *Limits) Withdraw(id engine.JobID) {
	l.limiter.Withdraw(string(id))
	l.gate.quit(id)
}

// Backlog tells the limiter how many calls are to come on the lane's host, the
// timelines that follow from matches included.
func (l *Limits) Backlog(name string, jobs int) {
	at, _ := splitLane(name)
	l.mu.Lock()
	l.backlog[name] = jobs
	calls := 0
	for other, n := range l.backlog {
		if o, more := splitLane(other); o.host == at.host {
			calls += n
			if more {
				calls += n
			}
		}
	}
	l.mu.Unlock()
	l.limiter.SetBacklog(at.host, calls)
}

// KeyChanged lets work go on after the key was replaced.
func (l *Limits) KeyChanged() {
	if l.onKey != nil {
		l.onKey()
	}
	l.gate.forgetKey()
}

// Proven reports whether Riot has answered well since the start.
func (l *Limits) Proven() bool { return l.gate.isProven() }

// Held says what stands before all limits of a lane: a key that is refused, a network
// that is away, an outage.
func (l *Limits) Held(name string) engine.Held {
	at, _ := splitLane(name)
	return l.gate.held(at)
}

// Outage says what holds the calls of one method of a host; "" = nothing does.
func (l *Limits) Outage(host, method string) (why string) { return l.gate.outage(lane{host, method}) }

// Health says what stops the calls, for the title bar: engine.EngineLive when
// nothing does.
func (l *Limits) Health() (engine.EngineState, string) { return l.gate.health() }
