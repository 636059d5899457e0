package ingest

import (
	"errors"
	"fmt"
	"math"
	"time"

	"github.com/farsight-console/farsight/engine"
	"github.com/farsight-console/farsight/engine/cron"
	"github.com/farsight-console/farsight/engine/league"
)

// cadences say how often an account with the policy cadence=adaptive is looked at by how long ago its last game
// was: who plays daily is looked at each hour, who has stopped once a day.
var cadences = []struct{ idle, every time.Duration }{
	{24 * time.Hour, time.Hour},
	{7 * 24 * time.Hour, 3 * time.Hour},
	{30 * 24 * time.Hour, 12 * time.Hour},
	{math.MaxInt64, 24 * time.Hour},
}

// cadenceOf is how often an account's `latest` is due: as its policy says, else as often as the schedule
// runs. An adaptive one goes by the last game, and without one that is known by the hour.
func cadenceOf(p league.Policy, played, at time.Time, plan time.Duration) time.Duration {
	switch {
	case p.Cadence == 0:
		return plan
	case p.Cadence > 0:
		return p.Cadence
	}
	if played.IsZero() {
		return cadences[0].every
	}
	idle := at.Sub(played)
	for _, c := range cadences {
		if idle <= c.idle {
			return c.every
		}
	}
	return cadences[len(cadences)-1].every
}

// tickSlack makes up for what a run takes: one that ended some minutes after the
// hour is due at the next hour all the same. With a cadence of an hour one that
// ended at 12:09 is due from 12:39 on, and so at 13:00.
const tickSlack = 30 * time.Minute

// beat is how an account stands in its rhythm. The last run counts even if it failed: an account that
// cannot be synced is tried once per cadence, not at each tick. But only LastSync, the end of one that
// did not fail, makes its data fresh again.
type beat struct {
	account league.Account
	policy  league.Policy
	every   time.Duration
	last    time.Time // end of its last run, whatever came of it
}

// isDue reports whether a run of the schedule looks at the account: each does after the cooldown, but for
// a cadence of its own. The slack is at most half of the cadence, so that no cadence is due always.
func (b beat) isDue(at time.Time, cooldown time.Duration) bool {
	wait := b.every - min(tickSlack, b.every/2)
	if b.policy.Cadence == 0 {
		wait = min(cooldown, b.every/2)
	}
	return b.last.IsZero() || at.Sub(b.last) >= wait
}

// isLate reports whether the stored data is older than twice the cadence. One look may come late
// without that; an account that was never synced counts from when it was added.
func (b beat) isLate(at time.Time) bool {
	since := b.account.LastSync
	if since.IsZero() {
		since = b.account.Created
	}
	return at.Sub(since) > 2*b.every
}

// latestEvery is from one run of `latest` to the next by the plan in force after an instant: an operator's
// edit, else the configuration.
func (in *Ingest) latestEvery(tx engine.Tx, at time.Time) (time.Duration, error) {
	state, err := in.store.Schedule(tx, scheduleLatest)
	if err != nil && !errors.Is(err, engine.ErrNotFound) {
		return 0, fmt.Errorf("load schedule %s: %w", scheduleLatest, err)
	}
	for _, p := range [][2]string{{state.Edit.Expr, state.Edit.Zone}, {in.plan.Latest, in.plan.Zone}} {
		// A plan that this machine cannot read is not in force.
		if s, err := cron.Parse(p[0], p[1]); err == nil && s.Every(at) > 0 {
			return s.Every(at), nil
		}
	}
	return shippedEvery, nil
}

// beatOf reads how an account stands: its policy, the plan and its last game give the cadence, its last run
// when it was looked at.
func (in *Ingest) beatOf(tx engine.Tx, a league.Account, at time.Time, plan time.Duration) (b beat, err error) {
	b.account, b.last = a, a.LastSync
	if b.policy, err = in.policyOf(tx, a); err != nil {
		return b, err
	}
	played, err := in.store.LastPlayed(tx, a.ID)
	if err != nil {
		return b, fmt.Errorf("look for the last game of %s: %w", a.RiotID(), err)
	}
	b.every = cadenceOf(b.policy, played, at, plan)
	if a.Run == "" {
		return b, nil
	}
	run, err := in.store.Run(tx, a.Run)
	if err != nil {
		return b, fmt.Errorf("load run %s: %w", a.Run, err)
	}
	if run.Finished.After(b.last) {
		b.last = run.Finished
	}
	return b, nil
}

// callsPerLook is what looking at an account once takes in calls: it is resolved,
// listed, and the games since the last time are fetched, here four a day with
// their timelines. An idle account costs two.
func callsPerLook(b beat) float64 {
	const gamesPerDay = 4
	if b.every > cadences[1].every {
		return 2
	}
	return 2 + 2*gamesPerDay*b.every.Hours()/24
}
