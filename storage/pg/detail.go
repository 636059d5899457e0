package pg

import (
	"context"
	"fmt"

	"github.com/farsight-console/farsight/engine"
	"github.com/farsight-console/farsight/storage/internal/both"
)

// Detail gives what is stored about one job: its attempts (the running one last, without an
// end), holds, groups, parents and history. By key: the live job that holds it, else the latest
// that had it. engine.ErrNotFound.
func (db *DB) Detail(ctx context.Context, q engine.JobQuery) (d engine.JobDetail, err error) {
	err = db.view(ctx, func(t *txn) error {
		j, err := t.findJob(q)
		if err != nil {
			return err
		}
		attempts, holds, err := t.attempts(j.ID)
		if err != nil {
			return err
		}
		d = both.Detail(j, attempts, holds)
		if d.Groups, err = t.groups(j.ID); err != nil {
			return err
		}
		waiting, err := t.waiting(j.ID)
		for _, g := range waiting {
			d.Parents = append(d.Parents, g.Parent)
		}
		if err != nil {
			return err
		}
		d.History, err = t.history(string(j.ID))
		return err
	})
	return d, err
}

func (t *txn) findJob(q engine.JobQuery) (engine.Job, error) {
	if q.External != "" {
		return t.jobOfExternal(q.External)
	}
	if q.ID != "" || q.Key == "" {
		return t.job(q.ID)
	}
	j, ok, err := tLive.first(t, tLive.sql().from+liveWithKey, (*text)(&q.Key))
	if ok || err != nil {
		return j, err
	}
	return tEnded.want(t, fmt.Sprintf("job with key %q", q.Key), tEnded.sql().from+"where key = $1 and key <> '' order by id desc limit 1", (*text)(&q.Key))
}

// jobOfExternal finds the job by the external id of one of its attempts: a call's in the index,
// any other among the newest attempts. engine.ErrNotFound.
func (t *txn) jobOfExternal(external string) (engine.Job, error) {
	for _, where := range []string{
		"where external = $1 and kind = '" + string(engine.KindCall) + "' order by id desc limit 1",
		"where external = $1 and id > (select max(id) - 5000 from fs_attempt) order by id desc limit 1",
	} {
		a, ok, err := tAttempts.first(t, tAttempts.sql().from+where, (*text)(&external))
		if err != nil {
			return engine.Job{}, err
		}
		if ok {
			return t.job(a.Job)
		}
	}
	return engine.Job{}, fmt.Errorf("job with the external id %q: %w", external, engine.ErrNotFound)
}
