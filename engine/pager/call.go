package pager

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"time"

	"github.com/farsight-console/farsight/engine"
	"github.com/farsight-console/farsight/engine/await"
)

// Bounds of following one call.
const (
	// followAtOnce is how long an attempt follows its call before it lets go of its
	// worker for a while.
	followAtOnce = 10 * time.Minute
	// followAgain is how long it lets go.
	followAgain = time.Minute
	// followAtMost is how long a call is followed in all. One that was not final
	// for so long never will be: each ends by talkFor.
	followAtMost = time.Hour
	// skew is how far the other side's clock may be behind ours.
	skew = 2 * time.Minute
	// hangUpTime is what a call that is not wanted any more gets to be ended.
	hangUpTime = 3 * time.Second
)

// call is one attempt of alert.call: one telephone call, followed until it ends.
func (p *Pager) call(ctx context.Context, r engine.Run) engine.Outcome {
	var n notice
	if o, ok := argsOf(r, &n); !ok {
		return o
	}
	t := p.set.Load().twilio
	to, err := t.number(n)
	if err != nil {
		return engine.Fail(err).As(engine.CallEnd{Status: engine.CallFailed, Reason: "no-number"}.Class())
	}
	p.following.Add(1)
	defer p.following.Add(-1)
	l := line{Pager: p, twilio: t, run: r, notice: n, to: to}
	sid, o, ok := l.place(ctx)
	if !ok {
		return o
	}
	r.Named(sid)
	return l.follow(ctx, sid)
}

// number finds whom a call goes to, by the configuration as it is now.
func (t *twilio) number(n notice) (string, error) {
	switch {
	case t != nil && n.Own != nil:
		if to, ok := t.allowed(n.Own.Number); ok {
			return to, nil
		}
	case t != nil && n.Level < len(t.opt.To):
		return t.opt.To[n.Level], nil
	}
	if n.Own != nil {
		return "", fmt.Errorf("the configuration does not allow calls to %s any more", n.Own.Digits)
	}
	return "", fmt.Errorf("the configuration names no number %d any more", n.Level+1)
}

// line is one attempt's call.
type line struct {
	*Pager
	twilio *twilio // as the configuration was when the attempt began
	run    engine.Run
	notice notice
	to     string
}

// place gives the sid of the attempt's call, which it places unless that was done
// before. Without one, o is the attempt's outcome.
//
//	sid stored for this attempt    it is followed: a crash came after the answer
//	an intent without a sid        looked for among the newest calls: a crash came before the answer
//	the alert is over              nobody is called
//	else                           the call is made
func (l line) place(ctx context.Context) (sid string, o engine.Outcome, ok bool) {
	e := l.ledger.of(l.run.Job.ID)
	if e.Attempt == l.run.Job.Attempts && e.SID != "" {
		return e.SID, o, true
	}
	if e.lost() {
		found, err := l.find(ctx, e)
		if err != nil {
			return "", l.failed(ctx, err), false
		}
		if found != "" {
			return found, o, true
		}
	}
	if l.run.Job.Round <= 1 && !l.wanted(l.notice) { // an operator's retry calls all the same
		return "", engine.CallEnd{Status: engine.CallCanceled, Reason: "alert-over"}.Outcome(), false
	}
	return l.create(ctx)
}

// find looks for the call of an intent whose sid was never stored. "" = there is none: the request was
// never taken.
func (l line) find(ctx context.Context, e entry) (sid string, err error) {
	calls, err := l.twilio.newest(ctx, l.to)
	if err != nil {
		return "", err
	}
	for _, c := range calls {
		at := c.created()
		if c.To == l.to && c.From == l.twilio.opt.From && at.After(e.At.Add(-skew)) && formOfSID().MatchString(c.SID) &&
			!l.ledger.knows(c.SID) {
			l.log.Warn().Str("job", string(l.run.Job.ID)).Str("call", c.SID).
				Msg("call found whose answer was lost; it is followed")
			return c.SID, l.note(ctx, entry{Attempt: l.run.Job.Attempts, At: e.At, SID: c.SID})
		}
	}
	return "", nil
}

// create places the call: the intent is stored before the request, the sid after
// the answer.
func (l line) create(ctx context.Context) (sid string, o engine.Outcome, ok bool) {
	if o, ok := l.mayCallAgain(ctx); !ok {
		return "", o, false
	}
	e := entry{Attempt: l.run.Job.Attempts, At: time.Now().UTC()}
	if err := l.note(ctx, e); err != nil {
		return "", l.failed(ctx, err), false
	}
	c, err := l.twilio.create(ctx, l.to, twiml(l.notice.spokenText(), l.notice.language()))
	if err == nil {
		e.SID = c.SID
		// An answer must be kept, also when the engine stops at this instant.
		if err := l.note(context.WithoutCancel(ctx), e); err != nil {
			l.log.Error().Err(err).Str("call", c.SID).
				Msg("the call's sid could not be stored; after a crash it is looked for")
		}
		return c.SID, o, true
	}
	if api, known := errors.AsType[*apiError](err); known && !api.open {
		e.Refused = true
		err = errors.Join(err, l.note(context.WithoutCancel(ctx), e))
	}
	return "", l.failed(ctx, err), false
}

// note writes what is known of the attempt's call into the ledger.
func (l line) note(ctx context.Context, e entry) error {
	return l.ledger.save(ctx, l.run.Job.ID, e)
}

// failed is the outcome of an attempt that has no call to follow.
func (l line) failed(ctx context.Context, err error) engine.Outcome {
	if ctx.Err() != nil {
		return engine.Retry(context.Cause(ctx)) // the engine knows why
	}
	api, ok := errors.AsType[*apiError](err)
	switch {
	case !ok:
		return engine.Retry(err).As("storage")
	case !api.until.IsZero():
		return engine.Snooze(api.until, engine.HoldThrottled, api).As("429")
	}
	end := engine.CallEnd{Status: engine.CallFailed, Reason: api.reason}
	o := end.Outcome()
	o.Err = fmt.Errorf("%w: %w", end, api)
	if o.Verb == engine.VerbFail {
		l.announce(engine.LevelErr, l.run.Job.ID, "the call %s cannot be made: %v", l.notice.subject(), api)
	}
	return o
}

// follow waits until the call has ended.
func (l line) follow(ctx context.Context, sid string) engine.Outcome {
	begun := time.Now()
	placed := l.ledger.of(l.run.Job.ID).At
	for {
		c, err := l.twilio.status(ctx, sid)
		end := c.end()
		switch {
		case ctx.Err() != nil:
			return l.brokenOff(ctx, sid)
		case err == nil && end.Status.Rule().Ended:
			end.External = sid
			return l.ended(end)
		case err != nil && gone(err):
			return l.ended(engine.CallEnd{Status: "unknown", Reason: "lost", External: sid})
		case time.Since(placed) > followAtMost:
			return l.ended(engine.CallEnd{Status: "unknown", Reason: "endless", External: sid})
		case time.Since(begun) > followAtOnce:
			return engine.Snooze(time.Now().Add(followAgain), engine.HoldOutage, err).
				With(engine.CallStat{External: sid})
		}
		l.run.Beat()
		if !await.Pause(ctx, l.twilio.opt.Poll) {
			return l.brokenOff(ctx, sid)
		}
	}
}

// gone reports an answer after which no other will come.
func gone(err error) bool {
	api, ok := errors.AsType[*apiError](err)
	return ok && api.until.IsZero() && api.reason != reasonNetwork && api.reason != reasonServer
}

// ended is the outcome of a call that has ended, or of which nobody will hear any
// more: that is not tried again, for somebody may have been reached.
func (l line) ended(end engine.CallEnd) engine.Outcome {
	if end.Status.Rule().Alert {
		l.log.Error().Str("job", string(l.run.Job.ID)).Str("call", end.External).Str("class", string(end.Class())).
			Msg("call ended in a way that is not known")
		l.announce(engine.LevelErr, l.run.Job.ID, "the call %s ended %q, which is not known: nobody may have been reached",
			l.notice.subject(), end.Class())
	}
	return end.Outcome()
}

// brokenOff leaves a call because the engine stops or the page is cancelled. Then
// a line that still rings is told to stop; who has picked up hears the rest. A call that
// had ended before keeps how it did.
func (l line) brokenOff(ctx context.Context, sid string) engine.Outcome {
	cause := context.Cause(ctx)
	o := engine.Retry(cause).With(engine.CallStat{Calls: 1, External: sid})
	if !errors.Is(cause, engine.ErrCancelled) {
		return o
	}
	short, stop := context.WithTimeout(context.WithoutCancel(ctx), hangUpTime)
	defer stop()
	c, err := l.twilio.hangUp(short, sid)
	if err != nil {
		l.log.Warn().Err(err).Str("call", sid).Msg("call could not be ended")
	}
	end := c.end()
	switch rule := end.Status.Rule(); {
	case err == nil && rule.Ended && !rule.Alert:
	case end.Status == engine.CallInProgress:
		end = engine.CallEnd{Status: engine.CallCanceled, Reason: c.Status}
	default:
		end = engine.CallEnd{Status: engine.CallCanceled}
	}
	return o.As(end.Class())
}

// escalate inserts the job for the next number, in the transaction that gives this
// one up.
func (p *Pager) escalate(tx engine.Tx, before, after engine.Job, _ engine.Outcome) error {
	t := p.set.Load().twilio
	if before.State == after.State || after.State != engine.Discarded || t == nil {
		return nil
	}
	var n notice
	if json.Unmarshal(after.Args, &n) != nil || n.Own != nil || n.Level+1 >= len(t.opt.To) {
		return nil // it was discarded for its arguments, or is for nobody else
	}
	n.Level++
	_, err := tx.Enqueue(callSpec(n))
	return err
}
