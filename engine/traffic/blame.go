package traffic

import (
	"context"
	"errors"
	"slices"
	"time"

	"github.com/farsight-console/farsight/engine"
	"github.com/farsight-console/farsight/riot"
	"github.com/farsight-console/farsight/riot/limit"
)

// known lists calls that the attempt's lane has answered well before; none while Riot holds the lane,
// where they would wait as long as all others.
func (a *attempt) known(ctx context.Context) []func(context.Context) error {
	if a.heldBack() {
		return nil
	}
	return a.opt.Known(ctx, a.At, a.Run.Job, func(account string) bool { return a.gate.isIll(a.At, account) })
}

// heldBack reports whether an answer 503 has said when its lane is back.
func (a *attempt) heldBack() bool {
	return slices.ContainsFunc(a.opt.Limits.limiter.Holds(), func(h limit.Hold) bool {
		return h.Kind == limit.Unavailable && h.Scope == limit.Scope{Host: a.At.Host, Method: a.At.Method}
	})
}

// prove carries out the proof of the attempt's lane, or waits for the one that is
// under way. The error is the cause of ctx. A proof whose asker was stopped tells nothing: whoever
// waited for it goes round once more, and the first of them asks.
func (a *attempt) prove(ctx context.Context) (*proof, error) {
	defer beating(a.Run.Beat)()
	for {
		p, turn, begun := a.gate.prove(a.At)
		if begun {
			a.askSome(ctx, p, turn)
			a.gate.proved(a.At, a.Run.Job.ID, p, time.Now())
			if p.works() {
				a.opt.Limits.story.riot.Info().Str("route", a.At.Host).Str("method", a.At.Method).
					Msg("endpoint works: it answered what it had answered before")
			}
			a.opt.Limits.busy.Ring() // a start must not take the attempt for one call
		}
		select {
		case <-p.over:
		case <-ctx.Done():
			return nil, context.Cause(ctx)
		}
		switch {
		case p.cut && ctx.Err() != nil:
			return nil, context.Cause(ctx)
		case !p.cut:
			return p, nil
		}
	}
}

// askSome asks for one thing that is known, another each turn, and for a second one
// before it says of a lane that it is down: any call may fail now and then.
func (a *attempt) askSome(ctx context.Context, p *proof, turn int) {
	calls := a.known(ctx)
	most := min(2, len(calls))
	if a.gate.outage(a.At) != "" {
		most = min(1, len(calls))
	}
	for i := range most {
		if a.ask(ctx, p, calls[(turn+i)%len(calls)]); !p.fails() {
			return
		}
	}
}

// ask makes one call of a proof and writes into p what came of it. An error that is none of Riot's is
// the end of the asker's context or a fault on this side, and says nothing of the lane.
func (a *attempt) ask(ctx context.Context, p *proof, call func(context.Context) error) {
	err := call(riot.AsProof(riot.WithJob(ctx, string(a.Run.Job.ID), limit.Interactive)))
	e, refused := errors.AsType[*riot.Error](err)
	switch {
	case err == nil:
		p.asked, p.err = true, nil
	case !refused:
		p.cut = ctx.Err() != nil
	case e.Status != 0 || e.Reason != riot.BadRequest: // else no call was made
		p.asked, p.err = true, e
	}
}

// tried lets the job that is to try a lane which is down ask for what the lane has
// answered before, in place of what it wants itself: that may be what fails. Where
// nothing is known its own call is the try.
func (a *attempt) tried(ctx context.Context) (o engine.Outcome, held bool) {
	job := a.Run.Job.ID
	if !a.gate.tries(a.At, job) {
		return o, false
	}
	p, err := a.prove(ctx)
	switch {
	case err != nil:
		a.gate.quit(job)
		return outcomeOf(err, situation{now: time.Now()}), true
	case !p.asked, p.works():
		return o, false
	}
	return a.held(ctx, p, p.err, situation{now: time.Now()}), true
}

// buries reports whether a failure would end the job although nothing shows that it
// is the job's own: the lane has not answered since.
func (a *attempt) buries(e *riot.Error, r ruling) bool {
	last := a.spent() || a.Run.Policy.Max > 0 && a.Run.Job.Tries >= a.Run.Policy.Max
	return last && !r.outage && outages[e.Reason] && !a.gate.answered(a.At, a.began)
}

// blamed finds out whose a failure is, the lane's or the job's own, and gives the
// outcome. many: there were so many that the lane is down if nothing proves that it
// works.
func (a *attempt) blamed(ctx context.Context, e *riot.Error, s situation, many bool) engine.Outcome {
	p, err := a.prove(ctx)
	s.now = time.Now()
	switch {
	case err != nil:
		return outcomeOf(err, s)
	case !p.asked && (many || a.heldBack()):
		r := a.gate.declare(a.At, a.Run.Job.ID, s.now)
		s.outage, s.next = r.outage, r.next
		return outcomeOf(e, s)
	case !p.asked, p.works():
		return outcomeOf(e, s)
	}
	return a.held(ctx, p, e, s)
}

// held is the outcome of a failure that cannot be proven to be the job's own: what
// failed the proof holds it. The job keeps the error of its own call, which is what a person looks for
// in its history; the instant and the hold are the proof's.
func (a *attempt) held(ctx context.Context, p *proof, e *riot.Error, s situation) engine.Outcome {
	s.outage, s.next = p.fails(), p.next
	var o engine.Outcome
	if p.err.Reason.Denied() && p.err.Status != 0 {
		s.again = true // of the proof's target, which is none of the job's
		o = a.forbidden(ctx, p.err, s)
	} else {
		o = outcomeOf(p.err, s)
	}
	if o.Verb == engine.VerbFail { // the key works: only that call is refused
		return outcomeOf(e, situation{now: s.now})
	}
	o.Err, o.Class = e, engine.Class(e.Class)
	return o
}
