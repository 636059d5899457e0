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
func (in *Ingest) matchMoved(tx engine.Tx, before, after engine.Job, _ engine.Outcome) error {
	return in.partMoved(tx, league.PartMatch, before, after)
}

func (in *Ingest) timelineMoved(tx engine.Tx, before, after engine.Job, _ engine.Outcome) error {
	return in.partMoved(tx, league.PartTimeline, before, after)
}

func (in *Ingest) partMoved(tx engine.Tx, part league.Part, before, after engine.Job) error {
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
func (in *Ingest) failed(tx engine.Tx, id string, part league.Part, job engine.Job, to league.Status) error {
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
func (in *Ingest) givenUpAgain(tx engine.Tx, id string, part league.Part) error {
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
func (in *Ingest) span(part league.Part) league.Span {
	if part == league.PartTimeline {
		return in.opt.Timelines
	}
	return in.opt.Matches
}

// reopen takes a part back to unfetched for an operator's new round. A stored
// payload stays until the new one takes its place: its reference tells that it is
// to be fetched again and not to be adopted. What Riot does not keep any more
// could only be lost.
func (in *Ingest) reopen(tx engine.Tx, id string, part league.Part) error {
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

// syncMoved keeps an account's status in step with its sync job (S1-1).
func (in *Ingest) syncMoved(tx engine.Tx, before, after engine.Job, _ engine.Outcome) error {
	args, err := decode[syncArgs](after)
	if err != nil {
		return nil // as in matchMoved
	}
	switch {
	case before.State == after.State:
		return nil
	case after.State == engine.Running:
		return in.change(tx, args, started)
	case after.State == engine.Discarded && after.Class == ClassPlatform:
		return in.change(tx, args, func(a *league.Account, run *league.Run) error {
			notHere(a)
			return in.ended(tx, engine.SyncFailed, resultFailed, after.LastError)(a, run)
		})
	case after.State == engine.Discarded:
		return in.change(tx, args, in.ended(tx, engine.SyncFailed, resultFailed, after.LastError))
	case after.State == engine.Cancelled:
		return in.change(tx, args, in.ended(tx, engine.SyncCancelled, resultCancelled, ""))
	case before.State == engine.Completed && after.State.Live():
		return engine.Problemf(engine.ErrRefused, "trigger a new sync of the account", "this sync is complete")
	case before.State.Terminal():
		return in.change(tx, args, func(a *league.Account, run *league.Run) error {
			if err := reopened(a, run); err != nil {
				return err
			}
			return in.restoreRanges(tx, a, *run)
		})
	}
	return nil
}

// syncUndone takes a command on a sync job back. After a cancel the run goes on as if
// nothing had been: no other has had the account since.
func (in *Ingest) syncUndone(tx engine.Tx, before, after engine.Job) error {
	if before.State != engine.Cancelled {
		return in.syncMoved(tx, before, after, engine.Outcome{})
	}
	args, err := decode[syncArgs](after)
	if err != nil {
		return nil // as in partMoved
	}
	return in.change(tx, args, func(a *league.Account, run *league.Run) error {
		if err := latestRun(a, run); err != nil {
			return err
		}
		run.Result, run.Finished = "", time.Time{}
		a.Status = engine.SyncPending.String()
		if !run.Started.IsZero() {
			a.Status = engine.Syncing.String()
		}
		return in.restoreRanges(tx, a, *run)
	})
}

// matchUndone and timelineUndone take a command on a part's job back. After a cancel
// no run misses the part for want of it.
func (in *Ingest) matchUndone(tx engine.Tx, before, after engine.Job) error {
	return in.partUndone(tx, league.PartMatch, before, after)
}

func (in *Ingest) timelineUndone(tx engine.Tx, before, after engine.Job) error {
	return in.partUndone(tx, league.PartTimeline, before, after)
}

func (in *Ingest) partUndone(tx engine.Tx, part league.Part, before, after engine.Job) error {
	if before.State != engine.Cancelled {
		return in.partMoved(tx, part, before, after)
	}
	args, err := decode[fetchArgs](after)
	if err != nil {
		return nil // as in partMoved
	}
	return errors.Join(in.reopen(tx, args.Match, part), in.wantedAgain(tx, args.Match, part, after))
}

// latestRun refuses to go on with a run after which another has had the account.
func latestRun(a *league.Account, run *league.Run) error {
	if a.Run == run.ID {
		return nil
	}
	p := engine.Problemf(engine.ErrConflict, "act on that one", "a later sync of %s exists", a.RiotID())
	p.Why = "a later sync exists"
	return p
}

// started marks the first claim. Later ones, one per phase, find it done.
func started(a *league.Account, run *league.Run) error {
	if run.Started.IsZero() {
		run.Started = now()
		run.Anchor = run.Started.Truncate(time.Second)
	}
	a.Status = engine.Syncing.String()
	return nil
}

// ended closes a run that did not come to its end. Whatever it created may be
// unfetched for good, so that the known range is known no more: the next run
// lists everything again.
func (in *Ingest) ended(tx engine.Tx, status engine.SyncStatus, result, why string) func(*league.Account, *league.Run) error {
	return func(a *league.Account, run *league.Run) error {
		run.Result, run.Error, run.Finished = result, why, now()
		if a.Run != run.ID {
			return nil // a later run has the account
		}
		a.Status, a.LastError = status.String(), why
		return in.setRangesAside(tx, a, *run)
	}
}

// reopened lets an operator go on with a run that failed before its matches were
// known. Later, its group holds what became of them: a new run lists again and
// finds what is left.
func reopened(a *league.Account, run *league.Run) error {
	if err := latestRun(a, run); err != nil {
		return err
	}
	if run.Listed > 0 {
		return engine.Problemf(engine.ErrRefused, "trigger a new sync of the account", "this sync of %s has ended", a.RiotID())
	}
	run.Result, run.Error, run.Finished = "", "", time.Time{}
	a.Status, a.LastError = engine.SyncPending.String(), ""
	return nil
}
