package ingest

import (
	"time"

	"github.com/farsight-console/farsight/engine"
	"github.com/farsight-console/farsight/engine/league"
)

// syncMoved keeps an account's status in step with its sync job (S1-1). A sync that completes needs
// nothing here: finish has written it.
func (in *syncs) syncMoved(tx engine.Tx, before, after engine.Job, _ engine.Outcome) error {
	args, err := decode[syncArgs](after)
	if err != nil {
		return nil // as in partMoved
	}
	switch {
	case before.State == after.State:
		return nil
	case after.State == engine.Running:
		return in.change(tx, args, in.started)
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
			// Later, its group holds what became of them: a new run lists again and finds what is left.
			if err := latestRun(a, run); err != nil {
				return err
			}
			if run.Listed > 0 {
				return engine.Problemf(engine.ErrRefused, "trigger a new sync of the account", "this sync of %s has ended",
					a.RiotID())
			}
			run.Result, run.Error, run.Finished = "", "", time.Time{}
			a.Status, a.LastError = engine.SyncPending.String(), ""
			return in.restoreRanges(tx, a, *run)
		})
	}
	return nil
}

// syncUndone takes a command on a sync job back. After a cancel the run goes on as if
// nothing had been: no other has had the account since.
func (in *syncs) syncUndone(tx engine.Tx, before, after engine.Job) error {
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

// latestRun refuses to go on with a run after which another has had the account.
func latestRun(a *league.Account, run *league.Run) error {
	if a.Run == run.ID {
		return nil
	}
	p := engine.Problemf(engine.ErrConflict, "act on that one", "a later sync of %s exists", a.RiotID())
	p.Why = "a later sync exists"
	return p
}

// started marks the first claim. Later ones, one per phase, find it done. Before its first page is asked for
// Riot may have shown that this machine's clock is wrong: the anchor is Riot's then.
func (in *syncs) started(a *league.Account, run *league.Run) error {
	if run.Started.IsZero() {
		run.Started = now()
	}
	if run.Pages == 0 {
		run.Anchor = in.opt.Limits.Now().Truncate(time.Second)
	}
	a.Status = engine.Syncing.String()
	return nil
}

// ended closes a run that did not come to its end. Whatever it created may be
// unfetched for good, so that the known range is known no more: the next run
// lists everything again. A run that is not the account's last one any more only notes its own end.
func (in *syncs) ended(tx engine.Tx, status engine.SyncStatus, result,
	why string) func(*league.Account, *league.Run) error {
	return func(a *league.Account, run *league.Run) error {
		run.Result, run.Error, run.Finished = result, why, now()
		if a.Run != run.ID {
			return nil // a later run has the account
		}
		a.Status, a.LastError = status.String(), why
		return in.setRangesAside(tx, a, *run)
	}
}
