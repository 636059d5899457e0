package pg

import (
	"context"
	"slices"
	"strconv"
	"strings"

	"github.com/farsight-console/farsight/engine"
	"github.com/farsight-console/farsight/storage/internal/both"
)

// Jobs lists live jobs (q.Ended, or ended ones among q.States: ended ones too), newest first; with
// q.Oldest live ones alone, the other way round. total counts the live jobs that fit, for the first
// page; -1 on others. Both tables are read by their primary key from the end, which is the order of
// the list, so that where many fit a page costs a page however many jobs there are. Jobs that cannot
// be read are left out.
func (db *DB) Jobs(ctx context.Context, q engine.JobsQuery) (jobs []engine.Job, next string, total int, err error) {
	w, err := jobsThatFit(q)
	if err != nil {
		return nil, "", 0, err
	}
	var from []string
	if q.Oldest || len(q.States) == 0 || slices.ContainsFunc(q.States, engine.State.Live) {
		from = append(from, tLive.sql().from+w.sql())
	}
	if !q.Oldest && (q.Ended && len(q.States) == 0 || slices.ContainsFunc(q.States, engine.State.Terminal)) {
		from = append(from, tEnded.sql().from+w.sql())
	}
	// One more than the page has tells whether there is another one.
	order := " order by id desc limit "
	if q.Oldest {
		order = " order by id limit "
	}
	limit := both.PageSize(q.Page)
	err = db.view(ctx, func(t *txn) error {
		total = -1
		if q.After == "" {
			if total, _, err = value[int](t, "select count(*) from fs_job "+w.sql(), w.args...); err != nil {
				return err
			}
		}
		jobs, err = tLive.of(strings.Join(from, " union all ")).sound(t, order+strconv.Itoa(limit+1), w.args...)
		return err
	})
	if len(jobs) > limit {
		jobs = jobs[:limit]
		next = string(jobs[limit-1].ID)
	}
	return jobs, next, total, err
}

// jobsThatFit is the condition of a list of jobs, with the place to go on from: ids are numbers in the
// database, so that b9 comes before b10. engine.ErrInvalid of a place that is no job's id.
func jobsThatFit(q engine.JobsQuery) (*where, error) {
	w := &where{}
	if q.After != "" {
		n, err := JobNumber(engine.JobID(q.After))
		if err != nil {
			return nil, both.BadPage(q.After)
		}
		if q.Oldest {
			w.and("id > ?", n)
		} else {
			w.and("id < ?", n)
		}
	}
	if len(q.States) > 0 {
		w.and("state = any(?)", words(q.States))
	}
	for _, c := range []struct{ name, is string }{{"queue", string(q.Queue)}, {"kind", string(q.Kind)},
		{"owner", q.Owner}} {
		if c.is != "" {
			w.and(c.name+" = ?", storable(c.is))
		}
	}
	if q.Text != "" {
		w.and("strpos(lower(key), ?) > 0", storable(strings.ToLower(q.Text)))
	}
	return w, nil
}

// words are states as they are stored: "available", "running".
func words(states []engine.State) (list []string) {
	for _, s := range states {
		list = append(list, s.String())
	}
	return list
}

// JobLog lists ended jobs, the newest first by their number (S4-10).
func (db *DB) JobLog(ctx context.Context, q engine.JobLogQuery) (engine.JobLogPage, error) {
	w, err := jobsThatFit(engine.JobsQuery{Page: q.Page, Kind: q.Kind, Queue: q.Queue})
	if err != nil {
		return engine.JobLogPage{}, err
	}
	return answer(ctx, db, func(t *txn) (page engine.JobLogPage, err error) {
		jobs, next, err := tEnded.page(t, both.PageSize(q.Page), idOf, w.sql()+" order by id desc", w.args...)
		if err != nil {
			return page, err
		}
		page.Next = next
		of, err := t.attemptsOf(jobs)
		for _, j := range jobs {
			page.Jobs = append(page.Jobs, both.JobLog(j, of[j.ID]))
		}
		return page, err
	})
}

// idOf is the place of a job in lists.
func idOf(j engine.Job) string { return string(j.ID) }

// attemptsOf gives the closed attempts of several jobs, oldest first: those of a page in one question.
// Holds, whose number is 0, are none.
func (t *txn) attemptsOf(jobs []engine.Job) (map[engine.JobID][]engine.Attempt, error) {
	all, err := tAttempts.sound(t, "where job = any($1) and number > 0 order by id", numbers(jobs))
	of := map[engine.JobID][]engine.Attempt{}
	for _, a := range all {
		of[a.Job] = append(of[a.Job], a.Attempt)
	}
	return of, err
}

// Discards gives the number of discarded jobs that are kept, by queue; a queue without any is
// left out.
func (db *DB) Discards(ctx context.Context) (map[engine.Queue]int, error) {
	return answer(ctx, db, (*txn).discards)
}
