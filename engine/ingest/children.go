package ingest

import (
	"cmp"
	"errors"
	"fmt"
	"slices"

	"github.com/farsight-console/farsight/engine"
	"github.com/farsight-console/farsight/engine/league"
	"github.com/farsight-console/farsight/riot/route"
)

// fanOut ends the listing. In one transaction it puts all listed ids into the
// table, creates one job per match that is not settled, and moves the cursor: a
// crash leaves all of it or nothing (S3-3).
//
// What a look finds later is sorted in the same way. Staged ids stay until the run ends: a look must know
// what is new.
func (in *syncs) fanOut(tx engine.Tx, job engine.Job, p pass, pg page, next league.Run) error {
	last := pg.ids
	if next.Mingled { // nothing that was listed is proven to be too old
		last = append(slices.Clone(p.staged), last...)
		for i := range last {
			last[i].TooOld = false
		}
	}
	if _, err := in.store.Stage(tx, p.run.ID, last); err != nil {
		return fmt.Errorf("stage the last page of run %s: %w", p.run.ID, err)
	}
	// The table counts, not the sums along the way: it holds each id once, whatever pages overlapped.
	listed, err := in.store.Staged(tx, p.run.ID)
	if err != nil {
		return fmt.Errorf("list what run %s staged: %w", p.run.ID, err)
	}
	return in.change(tx, p.args, func(a *league.Account, run *league.Run) error {
		sorted := run.Listed
		moveOn(run, next)
		run.Staged, run.Listed = len(listed), len(listed)
		run.Phase = string(engine.PhaseMatches)
		// A listing only comes here past atHome.
		a.Home = true
		s := sorter{in: in, tx: tx, job: job, args: p.args, run: run, spoilt: pg.spoilt, priority: cmp.Or(p.args.Priority, engine.PriorityHigh)}
		if p.args.Collection != "" { // its priority may have been changed
			c, err := in.store.Collection(tx, p.args.Collection)
			if err != nil {
				return fmt.Errorf("load the collection: %w", err)
			}
			s.priority = c.Line()
		}
		for i, id := range listed {
			add := s.add
			if i < sorted {
				add = s.addAgain
			}
			if err := add(id); err != nil {
				return fmt.Errorf("sort match %s: %w", id.ID, err)
			}
		}
		// A match that another run fetches already is no second job: that one gets this run among its
		// parents.
		if _, err := tx.Enqueue(s.specs...); err != nil {
			return fmt.Errorf("create %d jobs: %w", len(s.specs), err)
		}
		return in.keepIDs(tx, p.run, p.ids, pg)
	})
}

// sorter tells listed matches apart: had already, too old, or to be fetched. Each listed
// match is counted in exactly one of the run's sums or becomes a child, so that the sums
// and the group's total add up to what was listed. That is what the progress shows.
type sorter struct {
	in    *syncs
	tx    engine.Tx
	job   engine.Job // the sync job
	args  syncArgs
	run   *league.Run
	specs []engine.Spec

	priority engine.Priority
	spoilt   map[stored]bool // what is stored of it is not whole
}

// add sorts one listed match. A sync that is forced takes up again what was given up, cancelled or called
// too old.
//
// The order of the cases is that of what is certain: what is stored stays good however old it is, and
// a match whose own date is too old is not asked for, whoever forces it. That a match is too old because
// of the list that names it holds for this listing alone: one that a list inside retention names is asked
// for, whatever was said of it before.
func (s *sorter) add(id league.Staged) error {
	if err := s.in.takeOver(s.tx, s.run, id.ID); err != nil {
		return err
	}
	m, err := s.in.store.Match(s.tx, id.ID)
	isNew := errors.Is(err, engine.ErrNotFound)
	if err != nil && !isNew {
		return fmt.Errorf("load match: %w", err)
	}
	if isNew {
		m = league.Match{ID: id.ID, Listed: now()}
	}
	_, odd := route.OfMatch(id.ID)
	dated := s.in.opt.Matches.Expired(m.Played, s.run.Anchor)
	tooOld := id.TooOld || dated
	given := m.Match.Status == league.PermanentlyUnfetchable && m.Match.LastClass != string(classID)
	old := m.Match.Status == league.OutsideRetentionWindow
	if s.spoilt[stored{id.ID, league.PartTimeline}] && !s.in.opt.Timelines.Expired(m.Played, s.run.Anchor) {
		m.Timeline.Status = league.Unfetched
		if err := s.in.store.SaveMatch(s.tx, m, true); err != nil {
			return err
		}
	}
	switch {
	case m.Match.Status == league.Success && (tooOld || !s.spoilt[stored{id.ID, league.PartMatch}]):
		err = s.had(&m)
	case odd != nil:
		err = s.unaskable(m, odd)
	case old && (dated || tooOld && !s.args.Force):
		s.run.TooOld++
		s.run.TimelinesTooOld++
	case given && (dated || !s.args.Force):
		err = s.given(m, tooOld)
	case tooOld && !old && !given:
		err = s.expire(m)
	case m.Match.Cancelled == league.CancelledAlone && !s.args.Force:
		// It is not lost, so that it is in a count of its own.
		s.run.Left++
		s.run.TimelinesNone++
		err = s.in.without(s.tx, s.run, m.ID, league.PartMatch, true)
	default:
		err = s.fetch(m, isNew)
	}
	if err != nil {
		return err
	}
	return s.in.store.LinkMatch(s.tx, s.job.Owner, id.ID) // its account, or the collection of its player
}

// addAgain is for an id that this run has sorted already: it is fetched after all if it was called too old
// and a look has found it inside retention.
func (s *sorter) addAgain(id league.Staged) error {
	m, err := s.in.store.Match(s.tx, id.ID)
	if err != nil || id.TooOld || m.Match.Status != league.OutsideRetentionWindow ||
		s.in.opt.Matches.Expired(m.Played, s.run.Anchor) {
		return err
	}
	s.run.TooOld--
	s.run.TimelinesTooOld--
	return s.add(id)
}

// unaskable keeps a match whose id does not say where it would be asked for.
func (s *sorter) unaskable(m league.Match, why error) error {
	s.run.Had++
	s.run.Unaskable++
	s.run.TimelinesNone++
	m.Match.Status = league.PermanentlyUnfetchable
	m.Match.LastClass, m.Match.LastError = string(classID), why.Error()
	return s.in.store.SaveMatch(s.tx, m, true)
}

// given counts a match that was given up before. What is missing inside
// retention makes a run incomplete.
func (s *sorter) given(m league.Match, tooOld bool) error {
	s.run.Had++
	s.run.TimelinesNone++
	if tooOld {
		return nil
	}
	s.run.Lost++
	return s.in.without(s.tx, s.run, m.ID, league.PartMatch, false)
}

// had counts a stored match, and creates the job of its timeline if that is
// still to be had.
func (s *sorter) had(m *league.Match) error {
	s.run.Had++
	t := wish{run: s.run, args: s.args, parent: s.job.ID}
	open, err := s.in.sortTimeline(s.tx, m, t)
	if err != nil || !open {
		return err
	}
	s.specs = append(s.specs, timelineSpec(s.job.Queue, s.job.Owner, m.ID, s.args, []engine.GroupID{t.group()}))
	return nil
}

// expire settles a match beyond retention without a call (S0-4).
func (s *sorter) expire(m league.Match) error {
	s.run.TooOld++
	s.run.TimelinesTooOld++
	m.Match.Status = league.OutsideRetentionWindow
	if !m.Timeline.Status.Settled() {
		m.Timeline.Status = league.OutsideRetentionWindow
	}
	return s.in.store.SaveMatch(s.tx, m, false)
}

// fetch creates the job of a match. A live job of another run is joined: the
// match is fetched once and settles both. Only the record of a match that is new or begins a new round
// is written: that of one which waits already stays as its job knows it. The move back from a final state
// is legal by an operator's word or a list's alone, hence SaveMatch's last argument.
func (s *sorter) fetch(m league.Match, isNew bool) error {
	if m.Match.Status.Settled() { // forced, or listed inside retention after all: a new round
		m.Match.Status = league.Unfetched
		isNew = true
	}
	if isNew && m.Timeline.Status == league.OutsideRetentionWindow { // it was called so together with its match
		m.Timeline.Status = league.Unfetched
	}
	if m.Match.Cancelled != league.NotCancelled { // forced, or its whole sync was cancelled
		m.Match.Cancelled = league.NotCancelled
		isNew = true
	}
	if isNew {
		if err := s.in.store.SaveMatch(s.tx, m, true); err != nil {
			return err
		}
	}
	s.specs = append(s.specs, engine.Spec{
		Kind:  KindMatch,
		Queue: s.job.Queue,
		Args: encode(fetchArgs{
			Match: m.ID, Confirm: s.args.Mode == ModeLatest, More: s.args.Timelines == league.TimelinesAll,
		}),
		Key:      matchKey(m.ID),
		Policy:   engine.PolicyMatch,
		Owner:    s.job.Owner,
		Priority: s.priority,
		Parents:  []engine.GroupID{{Parent: s.job.ID, Group: league.GroupMatches}},
	})
	return nil
}
