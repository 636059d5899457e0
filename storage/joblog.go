package storage

import (
	"context"

	"github.com/farsight-console/farsight/engine"
)

// JobLog lists ended jobs, the newest first by their number (S4-10).
func (db *DB) JobLog(ctx context.Context, q engine.JobLogQuery) (page engine.JobLogPage, err error) {
	ended := engine.JobsQuery{Page: q.Page, Kind: q.Kind, Queue: q.Queue, States: []engine.State{engine.Completed, engine.Cancelled, engine.Discarded}}
	var before []byte
	if q.After != "" {
		if before, err = jobKey(engine.JobID(q.After)); err != nil {
			return page, badPage(q.After)
		}
	}
	err = db.view(ctx, func(t *txn) error {
		limit := pageSize(q.Page)
		var jobs []engine.Job
		jobs, page.Next = mergeJobs(jobScan{}, t.scanEnded(ended, before, limit), limit)
		for _, j := range jobs {
			page.Jobs = append(page.Jobs, t.logged(j))
		}
		return nil
	})
	return page, err
}

// logged makes the job's line. Retries are counted from its attempts: an operator's retry and each phase begin a round, whose
// first attempt is none.
func (t *txn) logged(j engine.Job) engine.JobLog {
	line := engine.JobLog{
		Job: j.ID, Type: j.Kind, Key: j.Key, Queue: j.Queue, Status: j.State, Error: j.LastError,
		Created: j.Created, Started: j.Started, Finished: j.Finished,
	}
	k, err := jobKey(j.ID)
	if err != nil {
		return line
	}
	attempts, _ := t.attempts(k)
	for _, a := range attempts {
		if retry, _ := a.Retry(); retry {
			line.Retries++
		}
	}
	return line
}
