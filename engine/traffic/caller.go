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
	Region  route.Region // where a probe of the key goes
	PUUID   string       // of a known account under this key, for the probe; may be empty
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
	calls.own(a.Run.Job.Owner, stat.Calls, time.Now())
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
	case e.Reason == riot.Denied403:
		return a.forbidden(ctx, e, s)
	}
	if ill := outages[e.Reason]; ill || answers[e.Reason] {
		a.gate.noteIll(a.At, a.Account, ill)
	}
	r := a.gate.answer(a.At, a.Run.Job.ID, e, time.Now())
	s.outage, s.next = r.outage, r.next
	if r.doubt || a.buries(e, r) {
		return a.blamed(ctx, e, s, r.doubt)
	}
	return outcomeOf(err, s)
}

// forbidden finds out what a 403 means: the key is dead, or Riot refuses this
// one path. One job at a time asks, with a call that any working key may make. Those who come after it
// find the key's fuse as it left it, and need not ask.
func (a *attempt) forbidden(ctx context.Context, e *riot.Error, s situation) engine.Outcome {
	select {
	case a.probing <- struct{}{}:
		defer func() { <-a.probing }()
	case <-ctx.Done():
		return outcomeOf(context.Cause(ctx), s)
	}
	job := a.Run.Job.ID
	if r, blown := a.gate.keyState(time.Now()); blown && !a.gate.probes(job) {
		s.next = r.next
		return outcomeOf(e, s)
	}
	err := a.opt.Prober.Probe(riot.AsProof(riot.WithJob(ctx, string(job), limit.Interactive)), a.Region, a.PUUID)
	denial, _ := errors.AsType[*riot.Error](err)
	switch {
	case err == nil, denial != nil && denial.Reason == riot.WrongProject:
		a.gate.keyWorks()
		s.keyWorks = true
	case denial == nil:
		a.gate.quit(job)
		return outcomeOf(err, s)
	default: // refused too, or not known: what cannot be proven is not charged
		s.next = a.gate.blowKey(job, time.Now()).next
	}
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
