package storage

import (
	"errors"
	"maps"
	"slices"
	"strings"

	"github.com/farsight-console/farsight/engine"
	"github.com/farsight-console/farsight/engine/league"
	"github.com/farsight-console/farsight/storage/internal/collection"
	"github.com/farsight-console/farsight/storage/internal/disk"
)

// emitAccounts emits the row of every touched account, and the totals if they changed, as they are
// at the end of the transaction: a hundred matches that settle in one group make one row.
func (t *txn) emitAccounts() error {
	for _, id := range t.touched {
		a, err := t.account(id)
		if a.Collection != "" { // no list of accounts has it
			continue
		}
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
	// The number of discarded jobs is each queue's own change; all other counters are totals, which
	// go out once, whichever of them has changed.
	for _, name := range t.Counted {
		queue, discards := strings.CutPrefix(name, countDiscards)
		if changed = changed || !discards; !discards {
			continue
		}
		n, _, err := t.Number(collection.Counters, []byte(name))
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
	// The run may have been dropped with a forgotten account, or be of before a restore.
	if disk.IsNotFound(err) {
		return row, nil
	}
	if err != nil {
		return row, err
	}
	work, err := t.workOf(run)
	return withRun(row, run, work), err
}

// workOf is what its job and groups tell of a run; nil when it has no job yet.
func (t *txn) workOf(r league.Run) (*runWork, error) {
	// A run that was just made names no job, and "" is no job's id.
	k, err := jobKey(engine.JobID(r.Job))
	if err != nil {
		return nil, nil
	}
	j, _, err := t.readJob(k)
	if err != nil {
		return nil, err
	}
	bound, _, err := tRunOfJob.Get(t, k)
	if err != nil {
		return nil, err
	}
	matches, err := t.group(groupKey(mustNumber(engine.JobID(r.Job)), league.GroupMatches))
	if err != nil {
		return nil, err
	}
	timelines, err := t.group(groupKey(mustNumber(engine.JobID(r.Job)), league.GroupTimelines))
	return &runWork{
		Queue: j.Queue, Calls: bound.calls, Throttled: bound.throttled, Matches: matches, Timelines: timelines,
	}, err
}

// runWork is what the job of a run and its groups tell of it: the job's queue and own calls, and
// how its children stand.
type runWork struct {
	Queue              engine.Queue
	Calls, Throttled   int
	Matches, Timelines engine.GroupStat
}

// withRun adds a run to its account's row; w is nil while the run has no job.
func withRun(row engine.AccountRow, r league.Run, w *runWork) engine.AccountRow {
	row.Job, row.Kind, row.Phase = engine.JobID(r.Job), r.Ask.Mode, engine.Phase(r.Phase)
	row.Pages, row.Listed, row.Resumed, row.ResumedAt = r.Pages, r.Listed, r.Resumed, r.ResumedAt
	row.WantsTimelines = r.Ask.Timelines != league.TimelinesNone
	row.Triggered, row.Started, row.Finished, row.Closed, row.Result = r.Triggered, r.Started, r.Finished, r.Closed, r.Result
	if row.LastError == "" {
		row.LastError = r.Error
	}
	if w == nil {
		return row
	}
	row.Queue = w.Queue
	row.Calls = w.Calls + w.Matches.Calls + w.Timelines.Calls
	row.Throttled = w.Throttled + w.Matches.Throttled + w.Timelines.Throttled
	row.Matches = progress(w.Matches, apart{had: r.Had, lost: r.Lost - r.TimelinesLost, tooOld: r.TooOld, left: r.Left,
		unaskable: r.Unaskable})
	row.Timelines = progress(w.Timelines, apart{had: r.TimelinesHad, lost: r.TimelinesLost,
		tooOld: r.TimelinesTooOld, left: r.TimelinesLeft})
	if isListing(r) {
		row.Matches.Total, row.Timelines.Total = -1, -1
	}
	return row
}

// apart is what a run counts without a job of its own: lost are those of had that were given up
// before, unaskable those of had whose ids say nothing, left those that an operator had cancelled before.
type apart struct{ had, lost, tooOld, left, unaskable int }

// progress counts so that done + open is the total at every commit (P5): whatever a child does, it
// stays one of them.
func progress(g engine.GroupStat, a apart) engine.Progress {
	a.lost = min(a.lost, a.had)
	return engine.Progress{
		Total:  g.Total + a.had + a.tooOld + a.left,
		Stored: g.Done, Had: a.had - a.lost - a.unaskable, Unaskable: a.unaskable, Retrying: g.Retrying, Failed: g.Dead + a.lost, TooOld: a.tooOld,
		Cancelled: g.Cancelled + a.left, Open: g.Open,
	}
}

// isListing reports whether the run does not know yet how much it has to do.
func isListing(r league.Run) bool {
	p := engine.Phase(r.Phase)
	return r.Result == "" && r.Looks == 0 && (p == "" || p == engine.PhaseResolve || p == engine.PhaseList)
}

// onePUUID is an account's PUUID for lists: under one key project there is only one.
func onePUUID(a league.Account) string {
	for _, project := range slices.Sorted(maps.Keys(a.PUUIDs)) {
		return a.PUUIDs[project]
	}
	return ""
}
