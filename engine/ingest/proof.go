package ingest

import (
	"context"
	"errors"
	"strings"
	"time"

	"github.com/farsight-console/farsight/engine"
	"github.com/farsight-console/farsight/engine/league"
	"github.com/farsight-console/farsight/riot"
	"github.com/farsight-console/farsight/riot/limit"
	"github.com/farsight-console/farsight/riot/route"
)

// proof finds out whether a lane is down: it is asked for something that it answered
// well before. Whoever fails meanwhile waits for what comes of it.
type proof struct {
	over chan struct{} // closed when the rest is known
	// asked: something was known, and there was an answer or none came. cut: whoever
	// asked was ended before.
	asked, cut bool
	err        *riot.Error // nil = it was answered well
	next       time.Time   // when what the error holds may be tried again
}

// knownMost is how many things that were answered before take turns: one of them may
// have gone bad since.
const knownMost = 5

// answers are the reasons of errors that a lane which works gives.
var answers = map[riot.Reason]bool{
	riot.Missing: true, riot.BadRequest: true, riot.WrongProject: true, riot.Malformed: true, riot.TooLarge: true,
}

// works reports whether the proof shows that the lane does.
func (p *proof) works() bool { return p.asked && (p.err == nil || answers[p.err.Reason]) }

// fails reports whether the proof shows that the lane is down.
func (p *proof) fails() bool { return p.asked && p.err != nil && outages[p.err.Reason] }

// outages are the reasons of errors that a lane which is down gives.
var outages = map[riot.Reason]bool{riot.Transient: true, riot.Timeout: true}

// known lists calls that the attempt's lane has answered well before, none of them
// about what the job itself is about. The store knows: it outlives a restart.
func (a *attempt) known(ctx context.Context) (calls []func(context.Context) error) {
	method := route.Method(a.at.method)
	err := a.in.store.Read(ctx, func(tx engine.Tx) error {
		if part := parts[method]; part != "" {
			calls = a.knownMatches(tx, method, part)
			return nil
		}
		for other := range a.in.store.AllAccounts(tx) {
			if other.ID == a.run.Job.Owner || a.in.opt.Limits.gate.isIll(a.at, other.ID) {
				continue
			}
			if call := a.in.knownOf(a.at, other); call != nil {
				calls = append(calls, call)
			}
			if len(calls) == knownMost {
				break
			}
		}
		return nil
	})
	if err != nil {
		return nil // as if nothing were known
	}
	return calls
}

// parts are the methods that fetch a part of a match.
var parts = map[route.Method]league.Part{route.Match: league.PartMatch, route.Timeline: league.PartTimeline}

func (a *attempt) knownMatches(tx engine.Tx, method route.Method, part league.Part) (calls []func(context.Context) error) {
	ids := a.in.store.Fetched(tx, part, knownMost, func(id string) bool {
		at, _, err := fetchLane(id, method)
		return err == nil && at == a.at && !strings.HasSuffix(a.run.Job.Key, ":"+id)
	})
	for _, id := range ids {
		calls = append(calls, func(ctx context.Context) (err error) {
			if part == league.PartTimeline {
				_, err = a.in.api.Timeline(ctx, route.Region(a.at.host), id)
			} else {
				_, err = a.in.api.Match(ctx, route.Region(a.at.host), id)
			}
			return err
		})
	}
	return calls
}

// knownOf is the call of a lane that is about an account, if it was answered before;
// nil = it was not, or goes elsewhere. Whoever has a PUUID is known to account-v1, and
// to its platform, also when it has no rank there.
func (in *Ingest) knownOf(at lane, a league.Account) func(context.Context) error {
	platform, puuid := route.Platform(a.Platform), a.PUUIDs[in.opt.Project()]
	if puuid == "" {
		return nil
	}
	region := platform.AccountRegion()
	switch at {
	case listLane(a):
		if a.LastSync.IsZero() {
			return nil
		}
		return func(ctx context.Context) error {
			_, err := in.api.MatchIDs(ctx, platform.Region(), puuid, riot.MatchIDsQuery{Count: 1})
			return err
		}
	case lane{string(region), string(route.AccountByRiotID)}:
		return func(ctx context.Context) error {
			_, err := in.api.AccountByRiotID(ctx, region, a.GameName, a.TagLine)
			return err
		}
	case lane{string(region), string(route.AccountByPUUID)}:
		return func(ctx context.Context) error {
			_, err := in.api.AccountByPUUID(ctx, region, puuid)
			return err
		}
	case lane{string(platform), string(route.LeagueEntries)}:
		return func(ctx context.Context) error {
			_, err := in.api.LeagueEntries(ctx, platform, puuid)
			return err
		}
	}
	return nil
}

// prove carries out the proof of the attempt's lane, or waits for the one that is
// under way. The error is the cause of ctx.
func (a *attempt) prove(ctx context.Context) (*proof, error) {
	defer beating(a.run.Beat)()
	g := a.in.opt.Limits.gate
	for {
		p, turn, begun := g.prove(a.at)
		if begun {
			a.askSome(ctx, p, turn)
			g.proved(a.at, a.run.Job.ID, p, time.Now())
			if p.works() {
				a.in.opt.Limits.story.works(a.at)
			}
			a.in.opt.Limits.busy.Ring() // a start must not take the attempt for one call
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
	if a.in.opt.Limits.Outage(a.at.host, a.at.method) != "" {
		most = min(1, len(calls))
	}
	for i := range most {
		if a.ask(ctx, p, calls[(turn+i)%len(calls)]); !p.fails() {
			return
		}
	}
}

func (a *attempt) ask(ctx context.Context, p *proof, call func(context.Context) error) {
	err := call(riot.AsProof(riot.WithJob(ctx, string(a.run.Job.ID), limit.Interactive)))
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
	g, job := a.in.opt.Limits.gate, a.run.Job.ID
	if !g.tries(a.at, job) {
		return o, false
	}
	p, err := a.prove(ctx)
	switch {
	case err != nil:
		g.quit(job)
		return outcomeOf(err, situation{now: time.Now()}), true
	case !p.asked, p.works():
		return o, false
	}
	return a.held(ctx, p, p.err, situation{now: time.Now()}), true
}

// buries reports whether a failure would end the job although nothing shows that it
// is the job's own: the lane has not answered since.
func (a *attempt) buries(e *riot.Error, r ruling) bool {
	last := a.spent() || a.run.Policy.Max > 0 && a.run.Job.Tries >= a.run.Policy.Max
	return last && !r.outage && outages[e.Reason] && !a.in.opt.Limits.gate.answered(a.at, a.began)
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
	case !p.asked && many:
		r := a.in.opt.Limits.gate.declare(a.at, a.run.Job.ID, s.now)
		s.outage, s.next = r.outage, r.next
		return outcomeOf(e, s)
	case !p.asked, p.works():
		return outcomeOf(e, s)
	}
	return a.held(ctx, p, e, s)
}

// held is the outcome of a failure that cannot be proven to be the job's own: what
// failed the proof holds it.
func (a *attempt) held(ctx context.Context, p *proof, e *riot.Error, s situation) engine.Outcome {
	s.outage, s.next = p.fails(), p.next
	var o engine.Outcome
	if p.err.Reason == riot.Denied403 {
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

// prove gives the proof that is under way on a lane. begun says that there was none:
// the caller makes its call, the turn-th, and ends it.
func (g *gate) prove(l lane) (p *proof, turn int, begun bool) {
	g.mu.Lock()
	defer g.mu.Unlock()
	b := g.lane(l)
	if b.proof == nil {
		b.proof, begun = &proof{over: make(chan struct{})}, true
		b.asked++
	}
	return b.proof, b.asked, begun
}

// proved ends a proof: what it asked for was answered, or the lane is down.
func (g *gate) proved(l lane, job engine.JobID, p *proof, now time.Time) {
	g.mu.Lock()
	b := g.lane(l)
	b.proof = nil
	switch tries := b.prober == job; {
	case p.fails():
		b.blow(job, now)
		b.proven, p.next = true, later(b.probe, now)
	case p.asked:
		r, _ := g.judge(l, job, p.err, now)
		p.next = r.next
		if tries && !b.blown { // its own call is the first of those that return by steps
			b.ramp.enter(job)
		}
	}
	close(p.over)
	g.mu.Unlock()
	g.changed()
}

// declare takes a lane to be down of which nothing is known to be good.
func (g *gate) declare(l lane, job engine.JobID, now time.Time) ruling {
	g.mu.Lock()
	b := g.lane(l)
	b.blow(job, now)
	r := g.stands(b, now)
	g.mu.Unlock()
	g.changed()
	return r
}

// noteIll keeps whether the last call about an account failed: it is none of those
// that are known to be good.
func (g *gate) noteIll(l lane, account string, ill bool) {
	if account == "" || parts[route.Method(l.method)] != "" {
		return
	}
	g.mu.Lock()
	defer g.mu.Unlock()
	if b := g.lane(l); ill {
		b.ill[account] = true
	} else {
		delete(b.ill, account)
	}
}

func (g *gate) isIll(l lane, account string) bool {
	g.mu.Lock()
	defer g.mu.Unlock()
	return g.lane(l).ill[account]
}

// tries reports whether the job is the one that was let through to see whether a
// lane is still down.
func (g *gate) tries(l lane, job engine.JobID) bool {
	g.mu.Lock()
	defer g.mu.Unlock()
	b := g.lane(l)
	return b.blown && b.prober == job
}

// answered reports whether a lane has answered well since an instant.
func (g *gate) answered(l lane, since time.Time) bool {
	g.mu.Lock()
	defer g.mu.Unlock()
	return g.lane(l).good.After(since)
}
