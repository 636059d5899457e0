package pg

import (
	"context"
	"fmt"
	"slices"
	"sync"

	"github.com/farsight-console/farsight/engine"
	"github.com/farsight-console/farsight/engine/league"
	"github.com/farsight-console/farsight/storage/internal/both"
)

var (
	tRuns     = declare("fs_run", "id", runColumns)
	runFields = fields[league.Run](called{"Ask": "*", "Job": "-", "From": "list_from", "Left": "left_alone",
		"By": "asked_by"})
)

// runColumns are the columns of a run, which reads of its row alone and of more share. Its job is a
// text to package league, which knows none, and a number in the table.
func runColumns(r *league.Run) []column {
	return append(runFields(r), column{"job", (*jobID)(&r.Job)})
}

// Run gives a run by its id; engine.ErrNotFound.
func (db *DB) Run(tx engine.Tx, id string) (league.Run, error) {
	t := own(tx)
	return tRuns.need(t, fmt.Sprintf("run %q", id), (*text)(&id))
}

// SaveRun stores the run and emits its account's row. What its job's own attempts have cost (own_calls,
// own_throttled) is no field of a run, and stays as it is.
func (db *DB) SaveRun(tx engine.Tx, r league.Run) error {
	t := own(tx)
	if err := both.LegalRun(r); err != nil {
		return err
	}
	if r.Job != "" {
		if _, err := JobNumber(engine.JobID(r.Job)); err != nil {
			return err
		}
	}
	tRuns.put(t, r)
	t.touch(r.Account)
	return nil
}

// shownRun is a run with what its job and groups tell of it. The job may live or have ended. A run
// that has none yet, and one whose job was pruned, has no queue and groups of nothing.
type shownRun struct {
	league.Run
	queue              string
	calls, throttled   int
	matches, timelines engine.GroupStat
}

var tShownRuns = declare("fs_run", "id", func(r *shownRun) []column {
	columns := append(runColumns(&r.Run), column{"queue", (*text)(&r.queue)}, column{"own_calls", &r.calls},
		column{"own_throttled", &r.throttled})
	return slices.Concat(columns, statColumns(&r.matches), statColumns(&r.timelines))
})

// statColumns are the sums of a group.
var statColumns = fields[engine.GroupStat](called{"GroupID": "-"})

// shown reads runs as shownRun: any number of them in one question.
var shown = sync.OnceValue(func() string {
	sums := statColumns(&engine.GroupStat{})
	return "select " + tRuns.sql().names + ", coalesce(l.queue, e.queue), own_calls, own_throttled, " +
		forEach(sums, "coalesce(m.%, 0)") + ", " + forEach(sums, "coalesce(t.%, 0)") + fmt.Sprintf(`
from (select *, id as run_id from fs_run) r
left join (select id as live, queue from fs_job) l on l.live = r.job
left join (select id as ended, queue from fs_job_ended) e on e.ended = r.job
left join fs_group m on m.parent = r.job and m.grp = %d
left join fs_group t on t.parent = r.job and t.grp = %d `, league.GroupMatches, league.GroupTimelines)
})

// work is nil while the run has no job.
func (r *shownRun) work() *both.RunWork {
	if r.Job == "" {
		return nil
	}
	return &both.RunWork{Queue: engine.Queue(r.queue), Calls: r.calls, Throttled: r.throttled, Matches: r.matches,
		Timelines: r.timelines}
}

// shownRuns gives runs by their ids; those that are not kept any more are left out.
func (t *txn) shownRuns(ids []string) (map[string]shownRun, error) {
	list, err := tShownRuns.of(shown()).list(t, "where run_id = any($1)", ids)
	runs := map[string]shownRun{}
	for _, r := range list {
		runs[r.ID] = r
	}
	return runs, err
}

// Runs lists the last n runs of an account, the newest first. One that is not kept any more ends
// the list.
func (db *DB) Runs(ctx context.Context, account string, n int) ([]engine.RunRow, error) {
	return answer(ctx, db, func(t *txn) ([]engine.RunRow, error) {
		a, err := db.Account(t, account)
		if err != nil {
			return nil, err
		}
		return both.Runs(a.Run, n, func(id string) (engine.RunRow, string, error) {
			runs, err := t.shownRuns([]string{storable(id)})
			r, there := runs[id]
			if err == nil && !there {
				err = engine.ErrNotFound
			}
			return both.RunRow(r.Run, r.work()), r.Before, err
		})
	})
}

// Stage adds listed ids to the run, each once and in order, and answers how many were new. An id
// that any page gave as inside retention is not too old. The lists of a filter overlap, and a page is listed
// again after a crash.
func (db *DB) Stage(tx engine.Tx, run string, ids []league.Staged) (added int, err error) {
	t := own(tx)
	staged, err := db.Staged(tx, run)
	if err != nil {
		return 0, err
	}
	known := map[string]bool{} // as too old, or not
	for _, s := range staged {
		known[s.ID] = s.TooOld
	}
	for _, s := range ids {
		was, there := known[s.ID]
		if !there {
			added++
		}
		if !there || was && !s.TooOld {
			tStaged.put(t, both.StagedID{Run: run, Staged: s}) // one that is there keeps its place
		}
		known[s.ID] = s.TooOld && (was || !there)
	}
	return added, nil
}

// tStaged are the ids that a run has listed, until its last page makes their jobs. Their order is
// that in which they came (column n).
var tStaged = declare("fs_staged", "run, match", fields[both.StagedID](called{"ID": "match"}))

// Staged gives the run's ids in the order they were staged.
func (db *DB) Staged(tx engine.Tx, run string) (list []league.Staged, err error) {
	rows, err := tStaged.list(own(tx), "where run = $1 order by n", (*text)(&run))
	for _, s := range rows {
		list = append(list, s.Staged)
	}
	return list, err
}

// Unstage drops the run's staged ids.
func (db *DB) Unstage(tx engine.Tx, run string) error {
	own(tx).exec("delete from fs_staged where run = $1", (*text)(&run))
	return nil
}
