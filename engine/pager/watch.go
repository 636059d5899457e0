package pager

import (
	"context"
	"errors"
	"fmt"
	"iter"
	"maps"
	"slices"
	"time"

	"github.com/farsight-console/farsight/engine"
)

// byEngine is who cancels pages that nobody needs any more.
var byEngine = engine.Actor{User: "pager", Via: "engine"}

// tale is what was told of a firing alert, so that it is told once, also over a
// restart.
type tale struct {
	Since time.Time       `json:"since"`
	Acked bool            `json:"acked,omitempty"`
	Mute  bool            `json:"mute,omitempty"` // its calls were cancelled for a silence
	Row   engine.AlertRow `json:"row"`            // as it fired: what ends is told in its words
}

// told are the tales by alert.
type told map[string]tale

// load reads what the process before has told.
func (t *told) load(ctx context.Context, s Store) error {
	*t = told{}
	if _, err := engine.LoadStored(ctx, s, toldState, t); err != nil {
		return err
	}
	if *t == nil {
		*t = told{}
	}
	return nil
}

// compareAlerts compares the alerts with what was told, tells what is new, and remembers.
// Jobs are inserted first: after a crash between the two they are inserted again, which their keys prevent; the
// other way round nobody would be told.
func (p *Pager) compareAlerts(ctx context.Context) error {
	if p.jobs == nil || p.set.Load().nobody() {
		return nil
	}
	p.mu.Lock()
	rows, known := p.rows, p.known
	p.mu.Unlock()
	if !known { // nothing is over because nobody has looked yet
		return nil
	}
	next := maps.Clone(p.told)
	var errs []error
	seen := map[string]bool{}
	for _, a := range rows {
		seen[a.ID] = true
		errs = append(errs, p.turn(ctx, next, a))
	}
	for _, id := range slices.Sorted(maps.Keys(next)) {
		if !seen[id] { // of several subjects that are fine one has a row
			errs = append(errs, p.over(ctx, next, id))
		}
	}
	errs = append(errs, p.remember(ctx, next))
	return errors.Join(errs...)
}

// turn handles one alert. t is changed only after its jobs are inserted: what failed is done at the
// next look.
func (p *Pager) turn(ctx context.Context, t told, a engine.AlertRow) error {
	was, known := t[a.ID]
	switch a.State {
	case engine.AlertFiring:
		if known && stamp(was.Since) == stamp(a.Since) {
			return nil
		}
		if !a.Holds { // it is ending already: nobody is needed any more
			return nil
		}
		if known { // it has ended and begun again between two looks
			if err := p.over(ctx, t, a.ID); err != nil {
				return err
			}
		}
		return p.fired(ctx, t, a)
	case engine.AlertAcknowledged:
		if !known || was.Acked {
			return nil
		}
		return p.acknowledged(ctx, t, a)
	case engine.AlertSilenced:
		if !known || was.Mute {
			return nil
		}
		was.Mute = true
		if err := p.cancelCalls(ctx, was, "the alert is silenced"); err != nil {
			return err
		}
		t[a.ID] = was
		return nil
	}
	return p.over(ctx, t, a.ID)
}

// fired tells of an alert that has begun to fire: the telephone first, then the channels. What speaks
// for it is not kept in the tale, which is stored at each turn.
func (p *Pager) fired(ctx context.Context, t told, a engine.AlertRow) error {
	n := noticeOf(turnFired, a, a.Since, a.Since)
	specs := p.notices(n, a)
	if s := p.set.Load(); s.rings() && s.tells(TryCall, a) {
		specs = append([]engine.Spec{callSpec(n)}, specs...)
	}
	if err := p.insert(ctx, specs); err != nil {
		return err
	}
	a.History, a.Evidence = nil, nil
	t[a.ID] = tale{Since: a.Since, Row: a}
	return nil
}

// acknowledged ends the calls of an alert that somebody has seen, and tells the channels who.
func (p *Pager) acknowledged(ctx context.Context, t told, a engine.AlertRow) error {
	was := t[a.ID]
	if err := p.cancelCalls(ctx, was, "the alert is acknowledged"); err != nil {
		return err
	}
	if err := p.insert(ctx, p.notices(noticeOf(turnAcknowledged, a, was.Since, a.Since), a)); err != nil {
		return err
	}
	was.Acked = true
	t[a.ID] = was
	return nil
}

// over ends what was told of an alert.
func (p *Pager) over(ctx context.Context, t told, id string) error {
	was, known := t[id]
	if !known {
		return nil
	}
	if err := p.cancelCalls(ctx, was, "the alert is over"); err != nil {
		return err
	}
	n := noticeOf(turnResolved, was.Row, was.Since, time.Now())
	if err := p.insert(ctx, p.notices(n, was.Row)); err != nil {
		return err
	}
	delete(t, id)
	return nil
}

// notices are the jobs that tell of an alert's turn: one for each channel that is told of such alerts.
func (p *Pager) notices(n notice, a engine.AlertRow) (specs []engine.Spec) {
	s := p.set.Load()
	for _, c := range s.channels {
		if s.tells(c.Name, a) {
			specs = append(specs, channelSpec(c, n))
		}
	}
	return specs
}

// insert adds jobs but for those that were there before: a key that is free may
// have had its job, which has ended.
func (p *Pager) insert(ctx context.Context, specs []engine.Spec) error {
	var fresh []engine.Spec
	for _, s := range specs {
		_, err := p.store.Detail(ctx, engine.JobQuery{Key: s.Key})
		switch {
		case errors.Is(err, engine.ErrNotFound):
			fresh = append(fresh, s)
		case err != nil:
			return fmt.Errorf("look for job %s: %w", s.Key, err)
		}
	}
	if len(fresh) == 0 {
		return nil
	}
	_, err := p.jobs.Insert(ctx, fresh...)
	return err
}

// cancelCalls cancels the open calls of an alert, to whomever, also to a number that
// the configuration does not name any more. The numbers are gone through in order: one
// that is inserted by escalation meanwhile comes later, and behind one that was never
// called there is none.
func (p *Pager) cancelCalls(ctx context.Context, was tale, why string) error {
	for j, err := range p.openCalls(ctx, noticeOf(turnFired, was.Row, was.Since, was.Since)) {
		if err != nil {
			return err
		}
		_, err = p.jobs.Act(ctx, engine.Command{Op: engine.OpCancel, Job: j.ID, By: byEngine, Reason: why})
		if err != nil && !errors.Is(err, engine.ErrConflict) && !errors.Is(err, engine.ErrNotFound) {
			return fmt.Errorf("cancel job %s: %w", j.ID, err)
		}
	}
	return nil
}

// openCalls are the calls about a notice that have not ended, by the number in the line of those who are called. It ends
// with the first one that was never made, or with an error.
func (p *Pager) openCalls(ctx context.Context, n notice) iter.Seq2[engine.Job, error] {
	return func(yield func(engine.Job, error) bool) {
		for ; ; n.Level++ {
			d, err := p.store.Detail(ctx, engine.JobQuery{Key: n.callKey()})
			switch {
			case errors.Is(err, engine.ErrNotFound):
				return
			case err != nil:
				yield(engine.Job{}, fmt.Errorf("look for job %s: %w", n.callKey(), err))
				return
			case !d.Job.State.Terminal() && !yield(d.Job.Job, nil):
				return
			}
		}
	}
}

// remember stores what was told, if that has changed.
func (p *Pager) remember(ctx context.Context, next told) error {
	same := func(a, b tale) bool {
		return stamp(a.Since) == stamp(b.Since) && a.Acked == b.Acked && a.Mute == b.Mute
	}
	if maps.EqualFunc(p.told, next, same) {
		return nil
	}
	p.told = next
	return engine.SaveStored(ctx, p.store, toldState, next)
}
