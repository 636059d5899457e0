package pg

import (
	"errors"
	"slices"

	"github.com/jackc/pgx/v5"

	"github.com/farsight-console/farsight/engine"
	"github.com/farsight-console/farsight/storage/internal/both"
)

// Enqueue inserts jobs. A spec whose key a live job holds adds its parents to that job and is
// answered as a duplicate; an ended job never blocks a key. However many there are, it asks the
// database twice.
func (t *txn) Enqueue(specs ...engine.Spec) ([]engine.Enqueued, error) {
	if t.lock == "" {
		return nil, engine.ErrReadOnly
	}
	specs = slices.Clone(specs)
	for i := range specs {
		specs[i].Key = storable(specs[i].Key)
	}
	holders, err := t.holders(specs)
	if err != nil {
		return nil, err
	}
	ids, err := t.newIDs(specs, holders)
	if err != nil {
		return nil, err
	}
	return both.Enqueue(specs, func(s engine.Spec) (engine.Enqueued, error) { return t.enqueue(s, holders, &ids) })
}

// holders gives the live jobs that hold the keys of specs, by key.
func (t *txn) holders(specs []engine.Spec) (map[string]engine.JobID, error) {
	var keys []*text
	for i := range specs {
		if specs[i].Key != "" {
			keys = append(keys, (*text)(&specs[i].Key))
		}
	}
	held := map[string]engine.JobID{}
	if len(keys) == 0 {
		return held, nil
	}
	var bad error
	err := tLive.each(t, func(j engine.Job, err error) {
		if err != nil {
			bad = err
			return
		}
		_, _ = t.know(j, nil)
		held[j.Key] = j.ID
	}, tLive.sql().from+"where key = any($1) and key <> '' order by id"+t.lock, keys)
	if err == nil {
		err = bad
	}
	return held, err
}

// newIDs takes an id for each spec that will be a job of its own.
func (t *txn) newIDs(specs []engine.Spec, held map[string]engine.JobID) (ids []engine.JobID, err error) {
	n, seen := 0, map[string]bool{}
	for _, s := range specs {
		if _, is := held[s.Key]; !is && !seen[s.Key] {
			n++
			seen[s.Key] = s.Key != ""
		}
	}
	if n == 0 {
		return nil, nil
	}
	return t.jobIDs("select nextval('fs_job_id') from generate_series(1, $1)", n)
}

// jobIDs reads the only column of a query.
func (t *txn) jobIDs(sql string, args ...any) (ids []engine.JobID, err error) {
	var bad error
	err = t.query(func(rows pgx.Rows) {
		var id engine.JobID
		if err := scan(rows, []any{(*jobID)(&id)}); err != nil {
			bad = err
		}
		ids = append(ids, id)
	}, sql, args...)
	return ids, errors.Join(err, bad)
}

func (t *txn) enqueue(s engine.Spec, held map[string]engine.JobID, ids *[]engine.JobID) (engine.Enqueued, error) {
	if id, is := held[s.Key]; is {
		return t.join(id, s.Parents)
	}
	j := both.NewJob((*ids)[0], s, t.now)
	*ids = (*ids)[1:]
	if j.Key != "" {
		held[j.Key] = j.ID
	}
	tLive.add(t, j)
	_, _ = t.know(j, nil)
	if err := t.addParents(j, s.Parents); err != nil {
		return engine.Enqueued{}, err
	}
	return both.Inserted(t, &j, s.Parents), nil
}

// join makes the parents wait for a live job that is there already.
func (t *txn) join(id engine.JobID, parents []engine.GroupID) (engine.Enqueued, error) {
	j, err := t.job(id)
	if err != nil {
		return engine.Enqueued{}, err
	}
	if err := t.addParents(j, parents); err != nil {
		return engine.Enqueued{}, err
	}
	return both.Join(t, &j, parents, func(j *engine.Job) error {
		t.move(*j, *j)
		return nil
	})
}
