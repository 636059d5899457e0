package traffic

import (
	"context"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"time"

	"github.com/rs/zerolog"

	"github.com/farsight-console/farsight/engine"
	"github.com/farsight-console/farsight/engine/await"
	"github.com/farsight-console/farsight/engine/human"
	"github.com/farsight-console/farsight/engine/wall"
	"github.com/farsight-console/farsight/riot"
	"github.com/farsight-console/farsight/riot/limit"
)

// Loader reads named blobs; nil when there is none.
type Loader interface {
	LoadState(ctx context.Context, name string) ([]byte, error)
}

// keeper keeps named blobs over a restart: what the limiter counts, and the 429s.
type keeper interface {
	Loader
	SaveState(ctx context.Context, name string, blob []byte) error
}

// stateStore is the part of storage that Limits works on.
type stateStore interface {
	keeper
	// Accounts and Recent tell which calls were made since it was saved: the
	// attempts of an account's jobs that ended last, newest first.
	Accounts(ctx context.Context, q engine.AccountsQuery) (engine.AccountsPage, error)
	Recent(ctx context.Context, account string, n int) ([]engine.Attempt, error)
}

// Options are what a Limits is made of. Store, Limiter and Lanes are required.
type Options struct {
	Store   stateStore
	Limiter *limit.Limiter
	Lanes   Lanes // where the jobs call
	// Collections are those that there are: what their jobs have called is counted as what those of accounts have. nil =
	// there can be none.
	Collections func(context.Context) ([]engine.CollectionRow, error)
	// Patience is how long failures of an endpoint are held to be an outage that
	// costs no attempt; 0 = twice the sum of the match policy's delays.
	Patience time.Duration
	// Speed divides the waits between the probes of an outage, for a Riot that is
	// simulated faster than the real one; 0 = 1.
	Speed float64
	// Halt says why no call may be made at all, whatever the limits; "" = they may. nil = they may. When it says
	// something else, call Signal.
	Halt func() string
	// Log gets what the limiter and Riot's answers do; the zero one drops it.
	Log zerolog.Logger
}

// Limits is the limiter as the rest of the engine sees it. It is a backend's
// Admitter: it admits jobs before they are claimed, stops work that would fail for reasons of its own, records
// the calls, and keeps the limiter's state over a restart.
//
// All its methods may be called by several goroutines, but Obey and Restore, which come before Run and
// the backend.
type Limits struct {
	opt     Options
	limiter *limit.Limiter
	gate    *gate
	calls   recorder
	cases   cases
	story   *story
	clock   clock
	changed await.Bell
	dirty   atomic.Bool            // something was admitted or called since the last save
	unsaved atomic.Int64           // calls since the last save
	busy    await.Bell             // many calls, or a 429, are not saved yet
	stamp   time.Time              // see Stamp
	led     atomic.Pointer[Limits] // see ForeseeBy

	mu      sync.Mutex
	backlog map[string]int // jobs by lane name
	busiest string         // the host that Rows told first
}

// LimiterState is the name under which the store keeps the limiter's counts.
const LimiterState = "limiter"

const (
	// What a kill loses of the counts is at most this much: Restore makes up for it by the attempts
	// that the store has.
	saveEvery = time.Second
	saveAfter = 100 // calls, whichever comes first: Recent knows only so many
	// sleptAfter is the gap of the clock that means that the machine was suspended
	// or the process stopped.
	sleptAfter = 10 * time.Second
)

// New makes a Limits. It starts nothing.
func New(o Options) *Limits {
	if o.Patience == 0 {
		o.Patience = 2 * engine.DefaultPolicies()[engine.PolicyMatch].Sum()
	}
	l := &Limits{opt: o, limiter: o.Limiter, changed: await.NewBell(), busy: await.NewBell(), backlog: map[string]int{}}
	l.gate = newGate(o.Patience, o.Speed, l.Signal)
	if o.Halt != nil {
		l.gate.halt = o.Halt
	}
	l.gate.wanted = func(at Lane) bool { return l.waiting(limit.Scope{Host: at.Host, Method: at.Method}) > 0 }
	area := func(name string) zerolog.Logger { return o.Log.With().Str("area", name).Logger() }
	l.story = &story{limiter: area("limiter"), riot: area("riot"), holds: map[limit.Scope]closed{}}
	l.gate.logged = l.story.fuse
	l.cases.calls, l.cases.store = &l.calls, o.Store
	l.gate.key.told = func(f *fuse) { l.story.fuse(f, Lane{}) }
	l.gate.network.told = l.gate.key.told
	return l
}

// OnCall is the hook of riot.Options: it fills the flight recorder.
func (l *Limits) OnCall(c riot.Call) {
	l.dirty.Store(true)
	l.calls.add(c)
	l.clock.note(c)
	l.story.call(c)
	// A wait that Riot has asked for must outlive a kill, so it is saved at once.
	if l.unsaved.Add(1) == saveAfter || c.Status == 429 {
		l.busy.Ring()
	}
}

// Run saves the limiter's state once a second while calls are made, sooner when
// they are many, at once after a 429 and when limits are told first, and at the end, and passes its signals on,
// until ctx ends. Let it outlive the backend, and let the store outlive it.
func (l *Limits) Run(ctx context.Context) error {
	beat := time.NewTimer(await.ToBeat(time.Now(), saveEvery))
	defer beat.Stop()
	moved, last := l.limiter.Changed(), wall.Now()
	for {
		select {
		case <-ctx.Done():
			l.save(context.WithoutCancel(ctx))
			l.cases.save(context.WithoutCancel(ctx), time.Now(), true)
			return nil
		case <-moved:
			moved = l.limiter.Changed()
			l.Signal()
			if l.limiter.Unkept() {
				l.dirty.Store(true)
				l.save(ctx)
			}
		case <-l.busy:
			l.save(ctx)
		case <-beat.C:
			beat.Reset(await.ToBeat(time.Now(), saveEvery))
			// It compares wall clocks: while a machine sleeps, the monotonic one may stand still.
			now := wall.Now()
			if now.Sub(last) > sleptAfter {
				l.limiter.Suspended()
				l.story.limiter.Warn().Dur("took", human.Logged(now.Sub(last))).
					Msg("the machine was suspended or the process stopped; limits count what may have been under way")
			}
			last = now
			l.save(ctx)
			l.cases.save(ctx, time.Now(), false)
			l.story.opened(time.Now())
		}
	}
}

// save keeps the state if anything happened. A store that cannot take it now is
// asked again: whoever writes jobs reports the fault. dirty is taken off before the
// state is read, so that a call between the two is saved the next time.
func (l *Limits) save(ctx context.Context) {
	if !l.dirty.Swap(false) {
		return
	}
	l.unsaved.Store(0)
	began, at := time.Now(), wall.Now()
	st := l.limiter.Save(at)
	st.Off = (wall.Off() + time.Since(began)).Milliseconds()
	if engine.SaveStored(ctx, l.opt.Store, LimiterState, st) != nil {
		l.dirty.Store(true)
		return
	}
	l.limiter.Kept(st)
}

// Obey lets k decide whether calls may be made at all. Call it before Run.
func (l *Limits) Obey(k keyholder) { l.gate.keyholder = k }

// Signal says that a refused lane may be worth asking again.
func (l *Limits) Signal() { l.changed.Ring() }

// Changed is signalled when a refused lane may be worth asking again.
func (l *Limits) Changed() <-chan struct{} { return l.changed }

// Released names the holds that have ended since it was last asked: the key that
// was refused works, or another one is in place; the network is back.
func (l *Limits) Released() []engine.Hold { return l.gate.released() }

// Untried reports whether a lane is down and no job finds out whether it still is.
func (l *Limits) Untried(name string) bool {
	at, _ := splitLane(name)
	return l.gate.untried(at)
}

// KeyRefused reports whether Riot refused the key in use, and no call has
// disproved that.
func (l *Limits) KeyRefused() bool {
	_, blown := l.gate.keyState(time.Now())
	return blown
}

// DenyKey notes that Riot refused the key to a call of somebody else.
func (l *Limits) DenyKey(caller engine.JobID) { l.gate.blowKey(caller, time.Now()) }

// KeyWorks notes that a call of somebody else proved the key.
func (l *Limits) KeyWorks() { l.gate.keyWorks() }

// Lane names where the job's next call goes; "" when it makes none.
func (l *Limits) Lane(j engine.Job) string { return l.opt.Lanes.Name(j) }

// Admit reserves a permit for the job's call, or says until when and why not.
//
// The gate is asked first: a reservation takes room from others, and a job that is held would keep it.
// Whoever does not claim the job after OK calls Withdraw.
func (l *Limits) Admit(j engine.Job) engine.Admission {
	at, _ := l.opt.Lanes(j)
	if at == (Lane{}) {
		return engine.Admission{OK: true}
	}
	until, why, ok := l.gate.check(at, j.ID, time.Now())
	if ok {
		d := l.limiter.Admit(requestOf(at, j.ID, priorityOf(j)))
		if d.OK {
			l.dirty.Store(true)
			l.gate.begin(at, j.ID)
			return engine.Admission{OK: true}
		}
		until, why = d.Until, d.Reason
	}
	if l.gate.untried(at) {
		o := l.limiter.Outlook(at.Host)
		l.gate.makeRoom(at, o.At(o.Turn(at.Method, 1).Wait))
	}
	return engine.Admission{Until: until, Reason: why}
}

// requestOf is what a job asks of the limiter.
func requestOf(at Lane, job engine.JobID, p limit.Priority) limit.Request {
	return limit.Request{Host: at.Host, Method: at.Method, Job: string(job), Priority: p}
}

// Withdraw gives an unused reservation back.
func (l *Limits) Withdraw(id engine.JobID) {
	l.limiter.Withdraw(string(id))
	l.gate.quit(id)
}

// Backlog tells the limiter how many calls are to come on the lane's host, the
// timelines that follow from matches included. jobs is the number in line now and takes the place of
// the one before; the limiter paces by it. Calls of a lane that is down are none: those that go meanwhile
// would be spread as if all had to share the window.
func (l *Limits) Backlog(name string, jobs int) {
	at, _ := splitLane(name)
	down := l.gate.lanesDown() // before mu: the gate asks what waits under its own
	l.mu.Lock()
	l.backlog[name] = jobs
	calls := 0
	for other, n := range l.backlog {
		if o, more := splitLane(other); o.Host == at.Host && !slices.Contains(down, o) {
			calls += n
			if more {
				calls += n
			}
		}
	}
	l.mu.Unlock()
	l.limiter.SetBacklog(at.Host, calls)
}

// KeyChanged lets work go on after the key was replaced.
func (l *Limits) KeyChanged() {
	if k := l.gate.keyholder; k != nil {
		k.KeyChanged()
	}
	l.gate.forgetKey()
}

// Proven reports whether Riot has answered well since the start.
func (l *Limits) Proven() bool { return l.gate.isProven() }

// Held says what stands before all limits of a lane: a key that is refused, a network
// that is away, an outage, a long wait that Riot asked for, an operator's freeze. name is that of a lane, see
// [Lanes.Name]; the zero Held = nothing does.
func (l *Limits) Held(name string) engine.Held {
	at, _ := splitLane(name)
	if h := l.gate.held(at); h.Reason != "" {
		return h
	}
	for _, h := range l.LongHolds() {
		if h.Host == at.Host && (h.Method == "" || h.Method == at.Method) {
			return engine.Held{Reason: h.Why, Until: h.Asks, Stand: engine.StandHeld}
		}
	}
	if f, frozen := l.limiter.FreezeOf(limit.Scope{Host: at.Host, Method: at.Method}); frozen {
		why := engine.AreFrozen(f.Host, f.Method) + strings.TrimPrefix(f.Why, "frozen")
		return engine.Held{Reason: why, Until: f.Until, Ends: !f.Until.IsZero(), Stand: engine.StandHeld}
	}
	return engine.Held{}
}

// Outage says what holds the calls of one method of a host; "" = nothing does.
func (l *Limits) Outage(host, method string) (why string) { return l.gate.outage(Lane{host, method}) }

// Health says what stops the calls, for the title bar: engine.EngineLive when
// nothing does.
func (l *Limits) Health() (engine.EngineState, string) { return l.gate.health() }
