package control

import (
	"context"

	"github.com/farsight-console/farsight/engine"
)

// listSchedules adds to each schedule what became of the job that it inserted last.
func (f finder) listSchedules(ctx context.Context) (page engine.SchedulesPage, err error) {
	if f.schedules == nil {
		return page, nil
	}
	page.Schedules = f.schedules.List()
	for i := range page.Schedules {
		row := &page.Schedules[i]
		if row.Last.Job == "" {
			continue
		}
		// A job that was pruned since has no outcome any more.
		if d, err := f.store.Detail(ctx, engine.JobQuery{ID: row.Last.Job}); err == nil {
			row.Outcome = d.Job.State.String()
		}
	}
	return page, nil
}
