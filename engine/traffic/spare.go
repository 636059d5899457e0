package traffic

import (
	"context"
	"time"

	"github.com/farsight-console/farsight/engine"
	"github.com/farsight-console/farsight/engine/wall"
)

// spareEvery is how often a job that is spared looks whether its host works again.
const spareEvery = time.Minute

// spared holds the last attempt of a job back as long as nothing on its host has
// succeeded since the job first failed: then it is the host that fails and not the
// job, and the attempt would be spent for nothing. It waits at the latest until
// twice the table's sum after the first failure, since a job that can never
// succeed must come to its end. Where something is known that the
// lane answered before, it is not held: that is asked should the attempt fail.
func (a *attempt) spared(ctx context.Context) (o engine.Outcome, held bool) {
	if !a.Run.LastTry() {
		return o, false
	}
	first, ok := a.firstFailure(ctx)
	now := time.Now()
	left := first.Add(2 * a.Run.Policy.Sum()).Sub(wall.At(now))
	if !ok || left <= 0 || !a.gate.silent(a.At, first, now) || len(a.known(ctx)) > 0 {
		return o, false
	}
	return engine.Snooze(now.Add(min(left, spareEvery)), engine.HoldOutage, nil), true
}

// firstFailure is when the first attempt of the job's round failed. If nobody can
// tell, nothing is held back. It is an instant of the wall clock, as all that is stored.
func (a *attempt) firstFailure(ctx context.Context) (time.Time, bool) {
	d, err := a.opt.History.Detail(ctx, engine.JobQuery{ID: a.Run.Job.ID})
	if err != nil {
		return time.Time{}, false
	}
	for _, old := range d.Attempts {
		if old.Round == a.Run.Job.Round && old.Verb == engine.VerbRetry && !old.End.IsZero() {
			return old.End, true
		}
	}
	return time.Time{}, false
}
