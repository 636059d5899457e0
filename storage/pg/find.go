package pg

import (
	"context"
	"slices"
	"strconv"
	"strings"

	"github.com/farsight-console/farsight/engine"
	"github.com/farsight-console/farsight/storage/internal/both"
)

// Jobs lists live jobs (q.Ended, or ended ones among q.States: ended ones too), newest first;
// with q.Oldest live ones alone, the other way round. total counts the live jobs that fit, for
// the first page; -1 on others.
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
		return tLive.each(t, func(j engine.Job, err error) {
			if err == nil { // check names one that cannot be read
				jobs = append(jobs, j)
			}
		}, strings.Join(from, " union all ")+order+strconv.Itoa(limit+1), w.args...)
	})
	if len(jobs) > limit {
		jobs = jobs[:limit]
		next = string(jobs[limit-1].ID)
	}
	return jobs, next, total, err
}

func jobsThatFit(q engine.JobsQuery) (*where, error) {
	w := &where{}
	if q.After != "" {
		n, err := number(engine.JobID(q.After))
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
	for _, c := range []struct{ name, is string }{{"queue", string(q.Queue)}, {"kind", string(q.Kind)}, {"owner", q.Owner}} {
		if c.is != "" {
			w.and(c.name+" = ?", storable(c.is))
		}
	}
	if q.Text != "" {
		w.and("strpos(lower(key), ?) > 0", storable(strings.ToLower(q.Text)))
	}
	return w, nil
}

func words(states []engine.State) (list []string) {
	for _, s := range states {
		list = append(list, s.String())
	}
	return list
}

// JobLog lists ended jobs, the newest first by their number (S4-10).
func (db *DB) JobLog(ctx context.Context, q engine.JobLogQuery) (page engine.JobLogPage, err error) {
	w, err := jobsThatFit(engine.JobsQuery{Page: q.Page, Kind: q.Kind, Queue: q.Queue})
	if err != nil {
		return page, err
	}
	limit := both.PageSize(q.Page)
	err = db.view(ctx, func(t *txn) error {
		jobs, err := tEnded.list(t, tEnded.sql().from+w.sql()+" order by id desc limit "+strconv.Itoa(limit+1), w.args...)
		if err != nil {
			return err
		}
		if len(jobs) > limit {
			jobs = jobs[:limit]
			page.Next = string(jobs[limit-1].ID)
		}
		of, err := t.attemptsOf(jobs)
		for _, j := range jobs {
			page.Jobs = append(page.Jobs, both.JobLog(j, of[j.ID]))
		}
		return err
	})
	return page, err
}

// attemptsOf gives the closed attempts of several jobs, oldest first.
func (t *txn) attemptsOf(jobs []engine.Job) (map[engine.JobID][]engine.Attempt, error) {
	of := map[engine.JobID][]engine.Attempt{}
	return of, tAttempts.each(t, func(a both.Tried, err error) {
		if err == nil {
			of[a.Job] = append(of[a.Job], a.Attempt)
		}
	}, tAttempts.sql().from+"where job = any($1) and number > 0 order by id", numbers(jobs))
}

// Discards gives the number of discarded jobs that are kept, by queue; a queue without any is
// left out.
func (db *DB) Discards(ctx context.Context) (by map[engine.Queue]int, err error) {
	err = db.view(ctx, func(t *txn) error {
		by, err = t.discards()
		return err
	})
	return by, err
}
