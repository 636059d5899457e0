package pg

import (
	"slices"

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
	specs = slices.Clone(specs) // they are the caller's
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

// holders gives the live jobs that hold the keys of specs, by key. They are locked, in the order of
// their ids, so that two transactions that enqueue the same keys wait for each other and do not
// meet crosswise. A key that nobody holds cannot be locked: of two that insert it at once the index
// on fs_job refuses the second, which runs again and finds the first (anotherWon).
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
	holders, err := tLive.list(t, "where key = any($1) and key <> '' order by id"+t.lock, keys)
	for _, j := range holders {
		t.know(j)
		held[j.Key] = j.ID
	}
	return held, err
}

// newIDs takes an id for each spec that will be a job of its own: neither its key is held, nor has
// an earlier spec of the same call the same key. An id that is taken by a transaction which is
// taken back is not used again.
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
	return values[engine.JobID](t, "select nextval('fs_job_id') from generate_series(1, $1)", n)
}

// enqueue inserts the job of one spec, with the next of ids, or joins who holds its key. held
// learns of the job, for specs that follow with the same key.
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
	t.know(j)
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
		t.move(*j, *j) // its state stays, so nothing is counted
		return nil
	})
}
