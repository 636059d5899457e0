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

// partMoved keeps the status of a part of a match in step with its job (S0-1, S0-7), and
// the runs that want it. A part that is given up or cancelled also leaves a gap in each run that waits
// for it; one that is done closes those of all others.
func (in *fetches) partMoved(part league.Part) func(tx engine.Tx, before, after engine.Job, _ engine.Outcome) error {
	return func(tx engine.Tx, before, after engine.Job, _ engine.Outcome) error {
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
			return errors.Join(in.cancelled(tx, args.Match, part, before, after),
				in.missed(tx, args.Match, part, after))
		case after.State == engine.Completed:
			return in.closeGaps(tx, after, args.Match, part)
		case before.State.Terminal():
			return in.reopen(tx, args.Match, part)
		}
		return nil
	}
}

// failed writes a charged failure down. A match that is not in the table is that of an account which
// was forgotten while the job ran.
func (in *fetches) failed(tx engine.Tx, id string, part league.Part, job engine.Job, to league.Status) error {
	err := in.changePart(tx, id, part, func(_ *league.Match, f *league.Fetch) {
		f.Status, f.LastAttemptAt = to, now()
		f.LastError, f.LastClass = job.LastError, string(job.Class)
		f.Attempts++
	})
	if errors.Is(err, engine.ErrNotFound) {
		return nil
	}
	return err
}

// givenUpAgain takes an operator's new round back that has not begun: no attempt
// was made.
func (in *fetches) givenUpAgain(tx engine.Tx, id string, part league.Part) error {
	return in.changePart(tx, id, part, func(_ *league.Match, f *league.Fetch) { f.Status = league.PermanentlyUnfetchable })
}

// partUndone takes a command on a part's job back. After a cancel no run misses the part
// for want of it.
func (in *fetches) partUndone(part league.Part) func(tx engine.Tx, before, after engine.Job) error {
	return func(tx engine.Tx, before, after engine.Job) error {
		if before.State != engine.Cancelled {
			return in.partMoved(part)(tx, before, after, engine.Outcome{})
		}
		args, err := decode[fetchArgs](after)
		if err != nil {
			return nil // as in partMoved
		}
		return errors.Join(in.reopen(tx, args.Match, part), in.wantedAgain(tx, args.Match, part, after))
	}
}

// cancelled marks a part whose job was cancelled, and how: by itself, or along with a sync. A sync and
// what waits under it are cancelled in one transaction, and a part that runs ends some time after. So a
// parent counts that was cancelled at the part's end or, if it ran, after its start. Stored instants
// have whole milliseconds.
func (in *fetches) cancelled(tx engine.Tx, id string, part league.Part, before, after engine.Job) error {
	parents, err := tx.Parents(after.ID)
	if err != nil {
		return fmt.Errorf("list who waits for job %s: %w", after.ID, err)
	}
	since := after.Finished
	if before.State == engine.Running {
		since = before.Started
	}
	how := league.CancelledAlone
	for _, p := range parents {
		if p.Job.State == engine.Cancelled && !p.Job.Finished.Before(since.Truncate(time.Millisecond)) {
			how = league.CancelledAlong
		}
	}
	return in.changePart(tx, id, part, func(_ *league.Match, f *league.Fetch) { f.Cancelled = how })
}
