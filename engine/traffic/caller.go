package traffic

import (
	"context"
	"errors"
	"time"

	"github.com/farsight-console/farsight/engine"
	"github.com/farsight-console/farsight/engine/crash"
	"github.com/farsight-console/farsight/riot"
	"github.com/farsight-console/farsight/riot/limit"
	"github.com/farsight-console/farsight/riot/route"
)

// prober makes the call that any working key may make.
type prober interface {
	Probe(ctx context.Context, r route.Region, puuid string) error
}

// History tells what became of the attempts of a job before.
type History interface {
	Detail(ctx context.Context, q engine.JobQuery) (engine.JobDetail, error)
}

// CallerOptions are what a Caller is made of. All are required.
type CallerOptions struct {
	Limits  *Limits
	Prober  prober
	History History
	// Known lists calls that a lane has answered well before, none of them about what
	// the job itself is about, nor about an account that is ill.
	Known func(ctx context.Context, at Lane, j engine.Job, ill func(account string) bool) []func(context.Context) error
	// Attempts of a match in all, whoever tries it.
	Attempts int
}

// Caller makes the calls of jobs, and finds out of those that fail whose fault it is: the
// key's, the network's, the endpoint's, or the job's own. Several goroutines may use it, one per job
// that runs.
type Caller struct {
	opt CallerOptions
	// probing lets one job at a time find out whether a key still works.
	probing chan struct{}
}

// NewCaller makes a Caller.
func NewCaller(o CallerOptions) *Caller { return &Caller{opt: o, probing: make(chan struct{}, 1)} }

// Trip is one attempt of a job on its way to Riot and back.
type Trip struct {
	Run     engine.Run
	At      Lane
	Region  route.Region // where the key is asked about
	Read    bool         // the key has read the PUUID before: that it cannot is one answer's fault
	Account string       // whom the call is about; "" = a match
	Missing Disbelief    // of a 404
	Used    int          // attempts that count besides the job's own
}

// Call makes the one call of a trip. ok is false when it failed, and then the outcome is
// the answer of the handler. Either way the outcome tells what the call cost.
//
// do gets a context that names the job, by which the limiter finds the permit that [Limits.Admit]
// reserved. Before it and after it others may be called, with things that were answered before: to try
// a lane that is down, and to see whose a failure is. A panic of do is the backend's to catch.
func (c *Caller) Call(ctx context.Context, t Trip, do func(context.Context) error) (o engine.Outcome, ok bool) {
	a := attempt{Trip: t, Caller: c, gate: c.opt.Limits.gate}
	return a.call(ctx, do)
}

// attempt is a trip under way.
type attempt struct {
	Trip
	*Caller
	gate  *gate
	began time.Time // when its own call was asked for
}

// call goes the way of one attempt: is it held back, does it try a lane that is down, its own call, and
// whose the failure is. The calls are counted from the recorder's last number on, since a proof may be
// among them.
func (a *attempt) call(ctx context.Context, do func(context.Context) error) (o engine.Outcome, ok bool) {
	if o, held := a.spared(ctx); held {
		return o, false
	}
	job := a.Run.Job.ID
	before := a.opt.Limits.calls.last()
	a.opt.Limits.calls.begin(&a.Run.Job)
	if o, held := a.tried(ctx); held {
		return o.With(a.cost(before)), false
	}
	a.began = time.Now()
	stop := beating(a.Run.Beat)
	crash.Point("before-call")
	err := do(riot.WithJob(ctx, string(job), priorityOf(a.Run.Job)))
	crash.Point("after-call")
	stop()
	if err != nil {
		o = a.bounded(a.failed(ctx, err))
	} else {
		a.gate.answer(a.At, job, nil, time.Now())
		a.gate.noteIll(a.At, a.Account, false)
	}
	return o.With(a.cost(before)), err == nil
}

// cost is what the job's calls after a sequence of the recorder have cost.
func (a *attempt) cost(before uint64) engine.CallStat {
	calls := &a.opt.Limits.calls
	stat := calls.statAfter(before, a.Run.Job.ID)
	calls.own(a.Run.Job.ID, a.Run.Job.Owner, stat.Calls, time.Now())
	return stat
}

// bounded ends a match whose attempts are used up over several jobs (S0-3).
func (a *attempt) bounded(o engine.Outcome) engine.Outcome {
	if o.Verb != engine.VerbRetry || !a.spent() {
		return o
	}
	o.Verb, o.At = engine.VerbFail, time.Time{}
	return o
}

// spent reports whether the attempts of a match are used up over several jobs. A round that an operator
// has opened is counted by the policy alone.
func (a *attempt) spent() bool {
	return a.Used > 0 && a.Run.Job.Round <= 1 && a.Used+a.Run.Job.Tries >= a.opt.Attempts
}

// failed turns the error of the call into an outcome.
func (a *attempt) failed(ctx context.Context, err error) engine.Outcome {
	s := situation{now: time.Now(), missing: a.Missing, read: a.Read}
	e, ok := errors.AsType[*riot.Error](err)
	switch {
	case !ok:
		a.gate.quit(a.Run.Job.ID)
		return outcomeOf(err, s)
	case e.Reason == riot.Blocked, e.Reason.Denied() && e.Status != 0:
		return a.forbidden(ctx, e, s)
	}
	if ill := outages[e.Reason]; ill || answers[e.Reason] {
		a.gate.noteIll(a.At, a.Account, ill)
	}
	r := a.gate.answer(a.At, a.Run.Job.ID, e, time.Now())
	s.outage, s.next = r.outage, r.next
	if e.Reason == riot.Missing && a.Missing != StillMissing && a.At.Method == string(route.Match) &&
		a.gate.wave(a.At, a.Run.Job.ID) {
		s.wave = a.waveHold(ctx)
	}
	if r.doubt || a.buries(e, r) {
		return a.blamed(ctx, e, s, r.doubt)
	}
	return outcomeOf(err, s)
}

// waves are how long a match is held, one hold after the other, while all that its host is asked for is missing.
var waves = []time.Duration{time.Minute, 5 * time.Minute, 15 * time.Minute, 30 * time.Minute}

// waveHold is for how long the job is held that a wave of 404s has met; 0 = it was held through all of waves, or
// nobody can tell: the 404 is believed.
func (a *attempt) waveHold(ctx context.Context) time.Duration {
	d, err := a.opt.History.Detail(ctx, engine.JobQuery{ID: a.Run.Job.ID})
	if err != nil {
		return 0
	}
	n := 0
	for _, h := range d.Holds {
		if h.Class == riot.ClassMissing && h.Round == a.Run.Job.Round {
			n++
		}
	}
	if n >= len(waves) {
		return 0
	}
	return waves[n]
}

// forbidden finds out what a 401 or 403 is about: the key, all that is asked for on this way, or its one
// target. What was refused is not asked for again: the key is proved by a name that nobody has, whose 404 no
// dead key gets, and the way by what it has answered before. One job at a time asks; those who come after it
// find the fuse as it left it, and need not.
func (a *attempt) forbidden(ctx context.Context, e *riot.Error, s situation) engine.Outcome {
	select {
	case a.probing <- struct{}{}:
		defer func() { <-a.probing }()
	case <-ctx.Done():
		return outcomeOf(context.Cause(ctx), s)
	}
	defer beating(a.Run.Beat)()
	job, began := a.Run.Job.ID, time.Now()
	a.gate.noteIll(a.At, a.Account, true)
	if r, blown := a.gate.keyState(began); blown && !a.gate.probes(job) {
		return engine.Snooze(r.next, engine.HoldKeyInvalid, e).As(engine.Class(e.Class))
	}
	calls := a.known(ctx)
	calls = calls[:min(2, len(calls))]
	nobody := func(ctx context.Context) error { return a.opt.Prober.Probe(ctx, a.Region, "") }
	switch {
	case e.Reason != riot.Blocked:
		calls = append([]func(context.Context) error{nobody}, calls...)
	case len(calls) == 0:
		calls = append(calls, nobody)
	}
	for _, call := range calls {
		err := call(riot.AsProof(riot.WithJob(ctx, string(job), limit.Interactive)))
		said, ours := errors.AsType[*riot.Error](err)
		switch {
		case err != nil && !ours:
			a.gate.quit(job)
			return outcomeOf(err, s)
		case err == nil, answers[said.Reason], said.Reason == riot.Throttled:
			a.gate.passes(a.At, job, e.Reason == riot.Blocked, time.Now())
			s.keyWorks, s.again = true, s.again || a.Run.Job.Class == classPath
			return outcomeOf(e, s)
		case said.Reason != riot.Blocked && (said.Reason.Denied() || e.Reason.Denied()):
			// Refused too, or not known: what cannot be proven is not charged.
			s.next = a.gate.blowKey(job, time.Now()).next
			return engine.Snooze(s.next, engine.HoldKeyInvalid, e).As(engine.Class(e.Class))
		}
	}
	if !a.gate.isProven() && len(calls) == 1 {
		return engine.Fail(e).As(engine.Class(e.Class)) // nothing was ever let through
	}
	r := a.gate.declare(a.At, job, time.Now())
	s.outage, s.next = r.outage, r.next
	return outcomeOf(e, s)
}

// beatEvery is how often a call that waits for its permit shows that it lives.
const beatEvery = 10 * time.Second

// beating beats until stop is called: a wait for a permit may be long, and the
// exchange itself has the client's own timeout.
func beating(beat func()) (stop func()) {
	if beat == nil {
		return func() {}
	}
	tick, end, ended := time.NewTicker(beatEvery), make(chan struct{}), make(chan struct{})
	go func() {
		defer close(ended)
		for {
			select {
			case <-tick.C:
				beat()
			case <-end:
				return
			}
		}
	}()
	return func() {
		tick.Stop()
		close(end)
		<-ended
	}
}

// priorityOf lets an operator's own work go before the rest. The limiter knows two ranks; the order
// among the rest is the backend's.
func priorityOf(j engine.Job) limit.Priority {
	if j.Priority == engine.PriorityOperator {
		return limit.Interactive
	}
	return limit.Bulk
}
