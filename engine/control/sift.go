package control

import (
	"cmp"
	"context"
	"errors"
	"slices"
	"time"

	"github.com/farsight-console/farsight/engine"
	"github.com/farsight-console/farsight/engine/columns"
	"github.com/farsight-console/farsight/engine/filter"
)

// maxLook is how many jobs one answer looks at: a tenth of a second's work. A longer list
// goes on by its cursor, so that whoever asks can tell how far it is, or stop.
const maxLook = 20_000

// errEnough ends a look when the page is full.
var errEnough = errors.New("enough")

// scanJobs gives use the jobs of a list, wherever they stand in it, until use ends it with
// errEnough or the most of them were looked at. next is where the others begin, "" = there
// are none.
func (f finder) scanJobs(
	ctx context.Context, q engine.JobsQuery, use func(j engine.Job) error,
) (next string, looked int, err error) {
	q.Limit = engine.LargestPage
	for looked < cmp.Or(f.most, maxLook) {
		jobs, more, _, err := f.store.Jobs(ctx, q)
		if err != nil {
			return "", looked, err
		}
		for i := range jobs {
			looked++
			switch err := use(jobs[i]); {
			// A page that ends with the last job of all has no next one.
			case errors.Is(err, errEnough) && (i < len(jobs)-1 || more != ""):
				return string(jobs[i].ID), looked, nil
			case err != nil && !errors.Is(err, errEnough):
				return "", looked, err
			}
		}
		if q.After = more; more == "" {
			return "", looked, nil
		}
	}
	return q.After, looked, nil
}

// sifted lists the jobs that fit, whatever their place among all. Its total is -1, not known: to count
// would be to look at all of them.
func (f finder) sifted(ctx context.Context, q engine.JobsQuery) (page engine.JobsPage, err error) {
	fits, err := f.sieve(q)
	if err != nil {
		return page, err
	}
	limit := q.Rows()
	page = engine.JobsPage{Jobs: []engine.JobRow{}, Total: -1}
	page.Next, page.Looked, err = f.scanJobs(ctx, q, func(j engine.Job) error {
		row := f.live.row(j)
		if !fits(&row) {
			return nil
		}
		if page.Jobs = append(page.Jobs, row); len(page.Jobs) == limit {
			return errEnough
		}
		return nil
	})
	return page, err
}

// sift leaves those rows of a page that fit a filter; of gives what of a row it is about, nil = a record
// that cannot be read, which fits none.
func sift[R, T any](rows []R, text string, schema *filter.Schema[T], of func(*R) *T) ([]R, error) {
	if text == "" {
		return rows, nil
	}
	fit, err := parse(text, schema)
	if err != nil {
		return nil, err
	}
	now := time.Now()
	return slices.DeleteFunc(rows, func(r R) bool {
		one := of(&r)
		return one == nil || !fit.Match(one, now)
	}), nil
}

// parse reads a filter that was sent.
func parse[T any](text string, schema *filter.Schema[T]) (filter.Filter[T], error) {
	fit, err := filter.Parse(text, schema)
	if err != nil {
		err = engine.Problemf(engine.ErrInvalid, "", "filter: %v", err)
	}
	return fit, err
}

// sieve is what a query asks of each job.
func (f finder) sieve(q engine.JobsQuery) (fits func(*engine.JobRow) bool, err error) {
	fit, err := parse(q.Filter, columns.Jobs.Schema)
	if err != nil {
		return nil, err
	}
	now := time.Now()
	return func(j *engine.JobRow) bool {
		return (q.Class == "" || j.Job.Class != "" && engine.ClassOf(j.Job, f.lane(j.Job)).Fits(q.Class)) &&
			(q.Reason == "" || j.ReasonShape() == q.Reason) && fit.Match(j, now)
	}, nil
}

// reasons groups the next live jobs by why they do not run. Whoever wants them of all goes on with Next
// and adds the groups up.
func (f finder) reasons(ctx context.Context, q engine.ReasonsQuery) (a engine.ReasonsAnswer, err error) {
	var groups engine.Reasons
	jobs := engine.JobsQuery{Page: engine.Page{After: q.After}, Queue: q.Queue}
	a.Next, a.Looked, err = f.scanJobs(ctx, jobs, func(j engine.Job) error {
		if row, ok := engine.ReasonOf(f.live.row(j)); ok {
			groups.Add(row)
		}
		return nil
	})
	a.Reasons = groups.Rows()
	return a, err
}
