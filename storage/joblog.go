package storage

import (
	"context"

	"github.com/farsight-console/farsight/engine"
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
			return page, badPage(q.After)
		}
	}
	// A page may come back short with a next: see maxScan. Attempts that cannot be read are left
	// out of a job's retries, which are then too few; check names them.
	err = db.view(ctx, func(t *txn) error {
		limit := pageSize(q.Page)
		var jobs []engine.Job
		jobs, page.Next = mergeJobs(jobScan{}, t.scanEnded(ended, before, limit), limit)
		for _, j := range jobs {
			attempts, _ := t.attempts(key.Uint64(mustNumber(j.ID)))
			page.Jobs = append(page.Jobs, jobLog(j, attempts))
		}
		return nil
	})
	return page, err
}

// jobLog is an ended job's line in the log of jobs. Retries are counted from its attempts: an
// operator's retry and each phase begin a round, whose first attempt is none.
func jobLog(j engine.Job, attempts []engine.Attempt) engine.JobLog {
	line := engine.JobLog{
		Job: j.ID, Type: j.Kind, Key: j.Key, Queue: j.Queue, Status: j.State, Error: j.LastError,
		Created: j.Created, Started: j.Started, Finished: j.Finished,
	}
	for _, a := range attempts {
		if retry, _ := a.Retry(); retry {
			line.Retries++
		}
	}
	return line
}
