package ingest

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

// attempt is one run of a handler on its way to Riot and back.
type attempt struct {
	in      *Ingest
	run     engine.Run
	at      lane
	region  route.Region // where a probe of the key goes
	puuid   string       // of a known account under this key, for the probe; may be empty
	missing disbelief    // of a 404
	used    int          // attempts that count besides the job's own
	stat    engine.CallStat
	began   time.Time // when its own call was asked for
}

// disbelief is what a fetch makes of a 404.
func (in *Ingest) disbelief(j engine.Job, args fetchArgs) disbelief {
	switch {
	case in.opt.RetryMissing:
		return askByTable
	case args.Confirm && j.Class != riot.ClassMissing:
		return askOnceMore
	}
	return believed
}

// call makes the one call of the attempt. ok is false when it failed, and then
// the outcome is the answer of the handler.
func (a *attempt) call(ctx context.Context, do func(context.Context) error) (o engine.Outcome, ok bool) {
	if o, held := a.spared(ctx); held {
		return o, false
	}
	job, calls := a.run.Job.ID, &a.in.opt.Limits.calls
	before := calls.last()
	if o, held := a.tried(ctx); held {
		return o.With(calls.statAfter(before, job)), false
	}
	a.began = time.Now()
	stop := beating(a.run.Beat)
	crash.Point("before-call")
	err := do(riot.WithJob(ctx, string(job), priorityOf(a.run.Job)))
	crash.Point("after-call")
	stop()
	if err != nil {
		o = a.bounded(a.failed(ctx, err))
	} else {
		a.in.opt.Limits.gate.answer(a.at, job, nil, time.Now())
		a.in.opt.Limits.gate.noteIll(a.at, a.run.Job.Owner, false)
	}
	a.stat = calls.statAfter(before, job)
	return o.With(a.stat), err == nil
}

// bounded ends a match whose attempts are used up over several jobs (S0-3).
func (a *attempt) bounded(o engine.Outcome) engine.Outcome {
	if o.Verb != engine.VerbRetry || !a.spent() {
		return o
	}
	o.Verb, o.At = engine.VerbFail, time.Time{}
	return o
}

// spent reports whether the attempts of a match are used up over several jobs.
func (a *attempt) spent() bool {
	return a.used > 0 && a.run.Job.Round <= 1 && a.used+a.run.Job.Tries >= a.in.opt.Attempts
}

// failed turns the error of the call into an outcome.
func (a *attempt) failed(ctx context.Context, err error) engine.Outcome {
	s := situation{now: time.Now(), missing: a.missing}
	e, ok := errors.AsType[*riot.Error](err)
	switch {
	case !ok:
		a.in.opt.Limits.gate.quit(a.run.Job.ID)
		return outcomeOf(err, s)
	case e.Reason == riot.Denied403:
		return a.forbidden(ctx, e, s)
	}
	if ill := outages[e.Reason]; ill || answers[e.Reason] {
		a.in.opt.Limits.gate.noteIll(a.at, a.run.Job.Owner, ill)
	}
	r := a.in.opt.Limits.gate.answer(a.at, a.run.Job.ID, e, time.Now())
	s.outage, s.next = r.outage, r.next
	if r.doubt || a.buries(e, r) {
		return a.blamed(ctx, e, s, r.doubt)
	}
	return outcomeOf(err, s)
}

// forbidden finds out what a 403 means: the key is dead, or Riot refuses this
// one path. One job at a time asks, with a call that any working key may make.
func (a *attempt) forbidden(ctx context.Context, e *riot.Error, s situation) engine.Outcome {
	select {
	case a.in.probing <- struct{}{}:
		defer func() { <-a.in.probing }()
	case <-ctx.Done():
		return outcomeOf(context.Cause(ctx), s)
	}
	g, job := a.in.opt.Limits.gate, a.run.Job.ID
	if r, blown := g.keyState(time.Now()); blown && !g.probes(job) {
		s.next = r.next
		return outcomeOf(e, s)
	}
	err := a.in.api.Probe(riot.AsProof(riot.WithJob(ctx, string(job), limit.Interactive)), a.region, a.puuid)
	denial, _ := errors.AsType[*riot.Error](err)
	switch {
	case err == nil, denial != nil && denial.Reason == riot.WrongProject:
		g.keyWorks()
		s.keyWorks = true
	case denial == nil:
		g.quit(job)
		return outcomeOf(err, s)
	default: // refused too, or not known: what cannot be proven is not charged
		s.next = g.blowKey(job, time.Now()).next
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

// priorityOf lets an operator's own work go before the rest.
func priorityOf(j engine.Job) limit.Priority {
	if j.Priority == engine.PriorityOperator {
		return limit.Interactive
	}
	return limit.Bulk
}
