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
func (db *DB) Detail(ctx context.Context, q engine.JobQuery) (engine.JobDetail, error) {
	return answer(ctx, db, func(t *txn) (d engine.JobDetail, err error) {
		j, err := t.findJob(q)
		if err != nil {
			return d, err
		}
		attempts, holds, err := t.attempts(j.ID)
		if err != nil {
			return d, err
		}
		d = both.Detail(j, attempts, holds)
		if d.Groups, err = db.Groups(t, j.ID); err != nil {
			return d, err
		}
		waiting, err := t.waiting(j.ID)
		for _, g := range waiting {
			d.Parents = append(d.Parents, g.Parent)
		}
		if err != nil {
			return d, err
		}
		d.History, err = t.history(string(j.ID))
		return d, err
	})
}

// findJob takes what a person has in hand: an external id, else an id, else a key.
func (t *txn) findJob(q engine.JobQuery) (engine.Job, error) {
	if q.External != "" {
		return t.jobOfExternal(q.External)
	}
	if q.ID != "" || q.Key == "" {
		return t.job(q.ID)
	}
	j, ok, err := tLive.first(t, liveWithKey, (*text)(&q.Key))
	if ok || err != nil {
		return j, err
	}
	return tEnded.want(t, fmt.Sprintf("job with key %q", q.Key),
		"where key = $1 and key <> '' order by id desc limit 1", (*text)(&q.Key))
}

// jobOfExternal finds the job by the external id of one of its attempts: a call's in the index,
// any other among the newest attempts. engine.ErrNotFound.
//
// The id of a call to a person ("CA5f3a9c…") is asked for when the provider reports back, perhaps days
// later, and there are few of them. That of an answer of Riot's is asked for by who has just read it in
// the log; an index over one per call to Riot would cost more than it ever saves.
func (t *txn) jobOfExternal(external string) (engine.Job, error) {
	for _, where := range []string{
		"where external = $1 and kind = '" + string(engine.KindCall) + "' order by id desc limit 1",
		// As many as 200 calls a second leave in 25 s.
		"where external = $1 and id > (select max(id) - 5000 from fs_attempt) order by id desc limit 1",
	} {
		a, ok, err := tAttempts.first(t, where, (*text)(&external))
		if err != nil {
			return engine.Job{}, err
		}
		if ok {
			return t.job(a.Job)
		}
	}
	return engine.Job{}, fmt.Errorf("job with the external id %q: %w", external, engine.ErrNotFound)
}
