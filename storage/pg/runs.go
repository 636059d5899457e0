package pg

import (
	"context"
	"fmt"
	"sync"

	"github.com/farsight-console/farsight/engine"
	"github.com/farsight-console/farsight/engine/league"
	"github.com/farsight-console/farsight/storage/internal/both"
)

var (
	tRuns     = declare("fs_run", "id", runColumns)
	runFields = fields[league.Run](called{"Ask": "*", "Job": "-", "From": "list_from", "Left": "left_alone", "By": "asked_by"})
)

// runColumns are the columns of a run, which reads of its row alone and of more share. Its job is a
// text to package league, which knows none, and a number in the table.
func runColumns(r *league.Run) []column {
	return append(runFields(r), column{"job", (*jobID)(&r.Job)})
}

// Run gives a run by its id; engine.ErrNotFound.
func (db *DB) Run(tx engine.Tx, id string) (league.Run, error) {
	t := own(tx)
	return tRuns.want(t, fmt.Sprintf("run %q", id), tRuns.sql().get+t.lock, (*text)(&id))
}

// SaveRun stores the run and emits its account's row.
func (db *DB) SaveRun(tx engine.Tx, r league.Run) error {
	t := own(tx)
	if err := both.LegalRun(r); err != nil {
		return err
	}
	if r.Job != "" {
		if _, err := number(engine.JobID(r.Job)); err != nil {
			return err
		}
	}
	tRuns.put(t, r)
	t.touch(r.Account)
	return nil
}

// shownRun is a run with what its job and groups tell of it.
type shownRun struct {
	league.Run
	queue              string
	calls, throttled   int
	matches, timelines engine.GroupStat
}

var tShownRuns = declare("fs_run", "id", func(r *shownRun) []column {
	columns := append(runColumns(&r.Run), column{"queue", (*text)(&r.queue)}, column{"own_calls", &r.calls}, column{"own_throttled", &r.throttled})
	for _, g := range []*engine.GroupStat{&r.matches, &r.timelines} {
		columns = append(columns, column{"", &g.Total}, column{"", &g.Open}, column{"", &g.Retrying}, column{"", &g.Done},
			column{"", &g.Dead}, column{"", &g.Cancelled}, column{"", &g.Calls}, column{"", &g.Throttled})
	}
	return columns
})

// shown reads runs as shownRun: any number of them in one question.
var shown = sync.OnceValue(func() string {
	sql := tRuns.sql().these + `, coalesce(l.queue, e.queue), own_calls, own_throttled`
	for _, g := range []string{"m", "t"} {
		for _, name := range []string{"total", "open", "retrying", "done", "dead", "cancelled", "calls", "throttled"} {
			sql += fmt.Sprintf(", coalesce(%s.%s, 0)", g, name)
		}
	}
	return sql + fmt.Sprintf(` from (select *, id as run_id from fs_run) r
left join (select id as live, queue from fs_job) l on l.live = r.job left join (select id as ended, queue from fs_job_ended) e on e.ended = r.job
left join (select parent, total, open, retrying, done, dead, cancelled, calls, throttled from fs_group where grp = %d) m on m.parent = r.job
left join (select parent, total, open, retrying, done, dead, cancelled, calls, throttled from fs_group where grp = %d) t on t.parent = r.job `,
		league.GroupMatches, league.GroupTimelines)
})

// work is nil while the run has no job.
func (r *shownRun) work() *both.RunWork {
	if r.Job == "" {
		return nil
	}
	return &both.RunWork{Queue: engine.Queue(r.queue), Calls: r.calls, Throttled: r.throttled, Matches: r.matches, Timelines: r.timelines}
}

func (t *txn) shownRuns(ids []string) (map[string]shownRun, error) {
	list, err := tShownRuns.list(t, shown()+"where run_id = any($1)", ids)
	runs := map[string]shownRun{}
	for _, r := range list {
		runs[r.ID] = r
	}
	return runs, err
}

// Runs lists the last n runs of an account, the newest first. One that is not kept any more ends
// the list.
func (db *DB) Runs(ctx context.Context, account string, n int) (list []engine.RunRow, err error) {
	err = db.view(ctx, func(t *txn) error {
		a, err := t.account(account)
		if err != nil {
			return err
		}
		list, err = both.Runs(a.Run, n, func(id string) (engine.RunRow, string, error) {
			runs, err := t.shownRuns([]string{storable(id)})
			r, there := runs[id]
			if err == nil && !there {
				err = engine.ErrNotFound
			}
			return both.RunRow(r.Run, r.work()), r.Before, err
		})
		return err
	})
	return list, err
}

// Stage adds listed ids to the run, each once and in order, and answers how many were new. An id
// that any page gave as too old stays too old.
func (db *DB) Stage(tx engine.Tx, run string, ids []league.Staged) (added int, err error) {
	t := own(tx)
	known, err := t.stagedOf(run)
	if err != nil {
		return 0, err
	}
	for _, s := range ids {
		was, there := known[s.ID]
		if !there {
			added++
		}
		if !there || s.TooOld && !was {
			tStaged.put(t, both.StagedID{Run: run, Staged: s}) // one that is there keeps its place
		}
		known[s.ID] = was || s.TooOld
	}
	return added, nil
}

var tStaged = declare("fs_staged", "run, match", fields[both.StagedID](called{"ID": "match"}))

func (t *txn) stagedOf(run string) (map[string]bool, error) {
	list, err := t.db.Staged(t, run)
	known := map[string]bool{}
	for _, s := range list {
		known[s.ID] = s.TooOld
	}
	return known, err
}

// Staged gives the run's ids in the order they were staged.
func (db *DB) Staged(tx engine.Tx, run string) (list []league.Staged, err error) {
	rows, err := tStaged.list(own(tx), tStaged.sql().from+"where run = $1 order by n", (*text)(&run))
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
