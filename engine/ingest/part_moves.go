package ingest

import (
	"errors"
	"fmt"
	"time"

	"github.com/farsight-console/farsight/engine"
	"github.com/farsight-console/farsight/engine/league"
)

// The functions here write the domain's side of a job's move, in the move's own
// transaction, whoever caused it: a handler, an operator, a rescue. What goes
// well is written by the handler's Commit instead.

// matchMoved and timelineMoved keep the status of a part of a match in step with
// its job (S0-1, S0-7), and the runs that want it.
func (in *fetches) matchMoved(tx engine.Tx, before, after engine.Job, _ engine.Outcome) error {
	return in.partMoved(tx, league.PartMatch, before, after)
}

func (in *fetches) timelineMoved(tx engine.Tx, before, after engine.Job, _ engine.Outcome) error {
	return in.partMoved(tx, league.PartTimeline, before, after)
}

func (in *fetches) partMoved(tx engine.Tx, part league.Part, before, after engine.Job) error {
	args, err := decode[fetchArgs](after)
	if err != nil {
		return nil // a job that nobody can read has no match to keep in step
	}
	switch {
	case before.State == after.State:
		return nil
	case after.State == engine.Retryable && before.State == engine.Running:
		return in.failed(tx, args.Match, part, after, league.TemporaryFailure)
	case after.State == engine.Discarded && before.State != engine.Running: // a reclass was undone
		return errors.Join(in.givenUpAgain(tx, args.Match, part), in.missed(tx, args.Match, part, after))
	case after.State == engine.Discarded:
		if err := in.failed(tx, args.Match, part, after, league.PermanentlyUnfetchable); err != nil {
			return err
		}
		return in.missed(tx, args.Match, part, after)
	case after.State == engine.Cancelled:
		return errors.Join(in.cancelled(tx, args.Match, part, before, after), in.missed(tx, args.Match, part, after))
	case after.State == engine.Completed:
		return in.closeGaps(tx, after, args.Match, part)
	case before.State.Terminal():
		return in.reopen(tx, args.Match, part)
	}
	return nil
}

// failed writes a charged failure down.
func (in *fetches) failed(tx engine.Tx, id string, part league.Part, job engine.Job, to league.Status) error {
	m, err := in.store.Match(tx, id)
	if errors.Is(err, engine.ErrNotFound) {
		return nil
	}
	if err != nil {
		return fmt.Errorf("load match %s: %w", id, err)
	}
	f := m.Of(part)
	if f.Status.Settled() {
		return nil
	}
	f.Status, f.LastAttemptAt = to, now()
	f.LastError, f.LastClass = job.LastError, string(job.Class)
	f.Attempts++
	if err := in.store.SaveMatch(tx, m, false); err != nil {
		return fmt.Errorf("save match %s: %w", id, err)
	}
	return nil
}

// givenUpAgain takes an operator's new round back that has not begun: no attempt
// was made.
func (in *fetches) givenUpAgain(tx engine.Tx, id string, part league.Part) error {
	m, err := in.store.Match(tx, id)
	if err != nil {
		return fmt.Errorf("load match %s: %w", id, err)
	}
	f := m.Of(part)
	if f.Status.Settled() {
		return nil
	}
	f.Status = league.PermanentlyUnfetchable
	if err := in.store.SaveMatch(tx, m, true); err != nil {
		return fmt.Errorf("save match %s: %w", id, err)
	}
	return nil
}

// span is how long Riot keeps a part.
func (in *fetches) span(part league.Part) league.Span {
	if part == league.PartTimeline {
		return in.opt.Timelines
	}
	return in.opt.Matches
}

// reopen takes a part back to unfetched for an operator's new round. A stored
// payload stays until the new one takes its place: its reference tells that it is
// to be fetched again and not to be adopted. What Riot does not keep any more
// could only be lost.
func (in *fetches) reopen(tx engine.Tx, id string, part league.Part) error {
	m, err := in.store.Match(tx, id)
	if err != nil {
		return fmt.Errorf("load match %s: %w", id, err)
	}
	f := m.Of(part)
	if f.Cancelled != league.NotCancelled {
		f.Cancelled = league.NotCancelled
		if err := in.store.SaveMatch(tx, m, false); err != nil {
			return fmt.Errorf("save match %s: %w", id, err)
		}
	}
	if f.Status != league.PermanentlyUnfetchable && f.Status != league.Success {
		return nil
	}
	if f.Status == league.Success && in.span(part).Expired(m.Played, now()) {
		p := engine.Problemf(engine.ErrRefused, "keep what is stored", "%s of %s is older than Riot keeps it", part, id)
		p.Why = "older than Riot keeps it"
		return p
	}
	f.Status = league.Unfetched
	if err := in.store.SaveMatch(tx, m, true); err != nil {
		return fmt.Errorf("save match %s: %w", id, err)
	}
	return nil
}

// matchUndone and timelineUndone take a command on a part's job back. After a cancel
// no run misses the part for want of it.
func (in *fetches) matchUndone(tx engine.Tx, before, after engine.Job) error {
	return in.partUndone(tx, league.PartMatch, before, after)
}

func (in *fetches) timelineUndone(tx engine.Tx, before, after engine.Job) error {
	return in.partUndone(tx, league.PartTimeline, before, after)
}

func (in *fetches) partUndone(tx engine.Tx, part league.Part, before, after engine.Job) error {
	if before.State != engine.Cancelled {
		return in.partMoved(tx, part, before, after)
	}
	args, err := decode[fetchArgs](after)
	if err != nil {
		return nil // as in partMoved
	}
	return errors.Join(in.reopen(tx, args.Match, part), in.wantedAgain(tx, args.Match, part, after))
}

// cancelled marks a part whose job was cancelled, and how.
func (in *settlement) cancelled(tx engine.Tx, id string, part league.Part, before, after engine.Job) error {
	m, err := in.store.Match(tx, id)
	if err != nil {
		return fmt.Errorf("load match %s: %w", id, err)
	}
	f := m.Of(part)
	if f.Status.Settled() {
		return nil
	}
	parents, err := tx.Parents(after.ID)
	if err != nil {
		return fmt.Errorf("list who waits for job %s: %w", after.ID, err)
	}
	since := after.Finished
	if before.State == engine.Running {
		since = before.Started
	}
	f.Cancelled = league.CancelledAlone
	for _, p := range parents {
		if p.Job.State == engine.Cancelled && !p.Job.Finished.Before(since.Truncate(time.Millisecond)) {
			f.Cancelled = league.CancelledAlong
		}
	}
	if err := in.store.SaveMatch(tx, m, false); err != nil {
		return fmt.Errorf("save match %s: %w", id, err)
	}
	return nil
}
