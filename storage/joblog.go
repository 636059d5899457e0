package storage

import (
	"context"

	"github.com/farsight-console/farsight/engine"
	"github.com/farsight-console/farsight/storage/internal/both"
	"github.com/farsight-console/farsight/storage/key"
)

// JobLog lists ended jobs, the newest first by their number (S4-10).
func (db *DB) JobLog(ctx context.Context, q engine.JobLogQuery) (page engine.JobLogPage, err error) {
	ended := engine.JobsQuery{
		Page: q.Page, Kind: q.Kind, Queue: q.Queue,
		States: []engine.State{engine.Completed, engine.Cancelled, engine.Discarded},
	}
	var before []byte
	if q.After != "" {
		if before, err = jobKey(engine.JobID(q.After)); err != nil {
			return page, both.BadPage(q.After)
		}
	}
	// A page may come back short with a next: see maxScan. Attempts that cannot be read are left
	// out of a job's retries, which are then too few; check names them.
	err = db.view(ctx, func(t *txn) error {
		limit := both.PageSize(q.Page)
		var jobs []engine.Job
		jobs, page.Next = mergeJobs(jobScan{}, t.scanEnded(ended, before, limit), limit)
		for _, j := range jobs {
			attempts, _ := t.attempts(key.Uint64(mustNumber(j.ID)))
			page.Jobs = append(page.Jobs, both.JobLog(j, attempts))
		}
		return nil
	})
	return page, err
}
