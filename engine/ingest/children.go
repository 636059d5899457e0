package ingest

import (
	"cmp"
	"errors"
	"fmt"

	"github.com/farsight-console/farsight/engine"
	"github.com/farsight-console/farsight/engine/league"
)

// fanOut ends the listing. In one transaction it puts all listed ids into the
// table, creates one job per match that is not settled, and moves the cursor: a
// crash leaves all of it or nothing (S3-3).
func (in *syncs) fanOut(tx engine.Tx, job engine.Job, p pass, pg page) error {
	if _, err := in.store.Stage(tx, p.run.ID, pg.ids); err != nil {
		return fmt.Errorf("stage the last page of run %s: %w", p.run.ID, err)
	}
	// The table counts, not the sums along the way: it holds each id once, whatever pages overlapped.
	listed, err := in.store.Staged(tx, p.run.ID)
	if err != nil {
		return fmt.Errorf("list what run %s staged: %w", p.run.ID, err)
	}
	return in.change(tx, p.args, func(a *league.Account, run *league.Run) error {
		run.Pages++
		run.Staged, run.Listed = len(listed), len(listed)
		run.Phase = string(engine.PhaseMatches)
		// A listing only comes here past atHome.
		a.Home = true
		s := sorter{in: in, tx: tx, job: job, args: p.args, run: run}
		for _, id := range listed {
			if err := s.add(id); err != nil {
				return fmt.Errorf("sort match %s: %w", id.ID, err)
			}
		}
		// A match that another run fetches already is no second job: that one gets this run among its
		// parents.
		if _, err := tx.Enqueue(s.specs...); err != nil {
			return fmt.Errorf("create %d jobs: %w", len(s.specs), err)
		}
		if err := in.endLists(tx, a, *run, listed, pg); err != nil {
			return fmt.Errorf("move the known range: %w", err)
		}
		if err := in.keepIDs(tx, *run, p.ids, pg); err != nil {
			return err
		}
		if err := in.store.Unstage(tx, run.ID); err != nil {
			return fmt.Errorf("drop what run %s staged: %w", run.ID, err)
		}
		return nil
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
}

// add sorts one listed match. A sync that is forced takes up again what was given up or
// cancelled; nothing takes up what Riot does not keep any more.
//
// The order of the cases is that of what is certain: what is stored stays good however old it is, and
// what Riot has dropped is not asked for, whoever forces it.
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
	tooOld := id.TooOld || s.in.opt.Matches.Expired(m.Played, s.run.Anchor)
	switch {
	case m.Match.Status == league.Success:
		err = s.had(&m)
	case m.Match.Status == league.OutsideRetentionWindow:
		s.run.TooOld++
		s.run.TimelinesTooOld++
	case m.Match.Status == league.PermanentlyUnfetchable && (tooOld || !s.args.Force):
		err = s.given(m, tooOld)
	case tooOld:
		err = s.expire(m)
	case m.Match.Cancelled == league.CancelledAlone && !s.args.Force:
		err = s.left(m)
	default:
		err = s.fetch(m, isNew)
	}
	if err != nil {
		return err
	}
	return s.in.store.LinkMatch(s.tx, s.run.Account, id.ID)
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

// left counts a match that an operator has cancelled by itself: only an operator's
// retry or a forced sync takes it up. It is not lost, so that it is in a count of its own.
func (s *sorter) left(m league.Match) error {
	s.run.Left++
	s.run.TimelinesNone++
	return s.in.without(s.tx, s.run, m.ID, league.PartMatch, true)
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
	s.specs = append(s.specs, timelineSpec(s.job.Queue, s.run.Account, m.ID, s.args, []engine.GroupID{t.group()}))
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
// is written: that of one which waits already stays as its job knows it. The move back from given up is
// legal by an operator's word alone, hence SaveMatch's last argument.
func (s *sorter) fetch(m league.Match, isNew bool) error {
	if m.Match.Status == league.PermanentlyUnfetchable { // forced: a new round
		m.Match.Status = league.Unfetched
		isNew = true
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
		Owner:    s.run.Account,
		Priority: cmp.Or(s.args.Priority, engine.PriorityHigh),
		Parents:  []engine.GroupID{{Parent: s.job.ID, Group: league.GroupMatches}},
	})
	return nil
}
