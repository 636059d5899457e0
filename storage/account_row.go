package storage

import (
	"errors"
	"strings"

	"github.com/farsight-console/farsight/engine"
	"github.com/farsight-console/farsight/engine/league"
	"github.com/farsight-console/farsight/storage/internal/both"
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
	row, err := both.AccountRow(a, t.region(a.Platform))
	if err != nil {
		return row, err
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
	return both.WithRun(row, run, work), err
}

// workOf is what its job and groups tell of a run; nil when it has no job yet.
func (t *txn) workOf(r league.Run) (*both.RunWork, error) {
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
	return &both.RunWork{
		Queue: j.Queue, Calls: bound.calls, Throttled: bound.throttled, Matches: matches, Timelines: timelines,
	}, err
}
