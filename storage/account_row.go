package storage

import (
	"errors"
	"maps"
	"slices"
	"strings"

	"github.com/farsight-console/farsight/engine"
	"github.com/farsight-console/farsight/engine/league"
	"github.com/farsight-console/farsight/storage/internal/disk"
)

// emitAccounts emits the row of every touched account, and the totals if they changed, as they are at the end of the
// transaction: a hundred matches that settle in one group make one row.
func (t *txn) emitAccounts() error {
	for _, id := range t.touched {
		a, err := t.account(id)
		if err == nil {
			var row engine.AccountRow
			if row, err = t.accountRow(a); err == nil {
				t.Emit(engine.Change{Account: &row})
				continue
			}
		}
		if _, corrupt := errors.AsType[*disk.ErrCorrupt](err); !corrupt && !disk.IsNotFound(err) {
			return err
		}
		// A row that cannot be made is not shown; check names the record that is at fault.
	}
	return t.emitCounted()
}

// emitCounted publishes what counts towards the counters that this transaction has changed.
func (t *txn) emitCounted() error {
	changed := false
	for _, name := range t.counted {
		queue, discards := strings.CutPrefix(name, countDiscards)
		if changed = changed || !discards; !discards {
			continue
		}
		n, _, err := t.number(tCounters, []byte(name))
		if err != nil {
			return err
		}
		t.Emit(engine.Change{Discards: &engine.QueueDiscards{Queue: engine.Queue(queue), Jobs: int(n)}})
	}
	if !changed {
		return nil
	}
	totals, err := t.totals()
	if err != nil {
		return err
	}
	t.Emit(engine.Change{Totals: &totals})
	return nil
}

// accountRow joins an account with its last run and that run's groups.
func (t *txn) accountRow(a league.Account) (engine.AccountRow, error) {
	row := engine.AccountRow{
		ID: a.ID, RiotID: a.RiotID(), Platform: a.Platform, Region: t.region(a.Platform), PUUID: onePUUID(a),
		Tags: a.Tags, Policy: a.Policy.String(), Tracked: a.Tracked, Run: a.Run, LastSync: a.LastSync, LastError: a.LastError, Updated: a.Updated,
	}
	if a.Status != "" {
		if err := row.Status.UnmarshalText([]byte(a.Status)); err != nil {
			return row, err
		}
	}
	if a.Run == "" {
		return row, nil
	}
	run, err := t.run(a.Run)
	if disk.IsNotFound(err) {
		return row, nil
	}
	if err != nil {
		return row, err
	}
	return t.withRun(row, run)
}

func (t *txn) withRun(row engine.AccountRow, r league.Run) (engine.AccountRow, error) {
	row.Job, row.Kind, row.Phase = engine.JobID(r.Job), r.Ask.Mode, engine.Phase(r.Phase)
	row.Pages, row.Listed, row.Resumed, row.ResumedAt = r.Pages, r.Listed, r.Resumed, r.ResumedAt
	row.WantsTimelines = r.Ask.Timelines != league.TimelinesNone
	row.Triggered, row.Started, row.Finished, row.Closed, row.Result = r.Triggered, r.Started, r.Finished, r.Closed, r.Result
	if row.LastError == "" {
		row.LastError = r.Error
	}
	k, err := jobKey(row.Job)
	if err != nil {
		return row, nil // the run has no job yet
	}
	if j, ok, err := t.readJob(k); err != nil {
		return row, err
	} else if ok {
		row.Queue = j.Queue
	}
	bound, _, err := tRunOfJob.get(t, k)
	if err != nil {
		return row, err
	}
	matches, err := t.group(groupKey(mustNumber(row.Job), league.GroupMatches))
	if err != nil {
		return row, err
	}
	timelines, err := t.group(groupKey(mustNumber(row.Job), league.GroupTimelines))
	if err != nil {
		return row, err
	}
	row.Calls = bound.calls + matches.Calls + timelines.Calls
	row.Throttled = bound.throttled + matches.Throttled + timelines.Throttled
	row.Matches = progress(matches, apart{had: r.Had, lost: r.Lost - r.TimelinesLost, tooOld: r.TooOld, left: r.Left})
	row.Timelines = progress(timelines, apart{had: r.TimelinesHad, lost: r.TimelinesLost, tooOld: r.TimelinesTooOld, left: r.TimelinesLeft})
	if listing(r) {
		row.Matches.Total, row.Timelines.Total = -1, -1
	}
	return row, nil
}

// apart is what a run counts without a job of its own: lost are those of had that were given up before, left those that an
// operator had cancelled before.
type apart struct{ had, lost, tooOld, left int }

// progress counts so that done + open is the total at every commit (P5): whatever a child does, it stays one of them.
func progress(g engine.GroupStat, a apart) engine.Progress {
	a.lost = min(a.lost, a.had)
	return engine.Progress{
		Total:  g.Total + a.had + a.tooOld + a.left,
		Stored: g.Done, Had: a.had - a.lost, Retrying: g.Retrying, Failed: g.Dead + a.lost, TooOld: a.tooOld,
		Cancelled: g.Cancelled + a.left, Open: g.Open,
	}
}

// listing reports whether the run does not know yet how much it has to do.
func listing(r league.Run) bool {
	p := engine.Phase(r.Phase)
	return r.Result == "" && (p == "" || p == engine.PhaseResolve || p == engine.PhaseList)
}

// onePUUID is an account's PUUID for lists: under one key project there is only one.
func onePUUID(a league.Account) string {
	for _, project := range slices.Sorted(maps.Keys(a.PUUIDs)) {
		return a.PUUIDs[project]
	}
	return ""
}
