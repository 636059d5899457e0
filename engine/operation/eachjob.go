package operation

import (
	"context"
	"iter"
	"slices"

	"github.com/farsight-console/farsight/engine"
)

// storePage is how many rows the store gives at the most.
const storePage = 500

// jobStore is where jobs are kept.
type jobStore interface {
	// Jobs lists live jobs (q.Ended: ended ones too), newest first.
	Jobs(ctx context.Context, q engine.JobsQuery) (jobs []engine.Job, next string, total int, err error)
	// Live iterates all live jobs; one that cannot be read comes with its error.
	Live(ctx context.Context) iter.Seq2[engine.Job, error]
}

// EachJob gives every job in one of the states, live ones first. A job that cannot
// be read is skipped: check names it.
func EachJob(ctx context.Context, store jobStore, states []engine.State, each func(engine.Job) error) error {
	for j, err := range store.Live(ctx) {
		if err != nil || !slices.Contains(states, j.State) {
			if j.ID == "" && err != nil {
				return err // not one job: the table
			}
			continue
		}
		if err := each(j); err != nil {
			return err
		}
	}
	// A job that moves between the two may be met twice, or not at all: whoever acts on one checks its
	// revision.
	ended := slices.DeleteFunc(slices.Clone(states), engine.State.Live)
	if len(ended) == 0 {
		return nil
	}
	// From the archive, page by page: there may be hundreds of thousands.
	q := engine.JobsQuery{States: ended, Page: engine.Page{Limit: storePage}}
	for {
		jobs, next, _, err := store.Jobs(ctx, q)
		if err != nil {
			return err
		}
		for _, j := range jobs {
			if err := each(j); err != nil {
				return err
			}
		}
		if next == "" {
			return nil
		}
		q.After = next
	}
}
