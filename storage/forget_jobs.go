package storage

import (
	"errors"

	"github.com/farsight-console/farsight/engine"
	"github.com/farsight-console/farsight/storage/internal/collection"
	"github.com/farsight-console/farsight/storage/internal/disk"
	"github.com/farsight-console/farsight/storage/key"
)

// jobs deletes the ended jobs of the account, and those of others that are about it alone, such as
// the events that told of it. A job that another account's sync counts stays, and becomes that
// account's. Syncs go first: as long as they are there, their groups count their children.
func (w *forgetter) jobs() error {
	// A sync's job has a lock, and a job that settles a group has its number. Those wait for
	// others, and nobody waits for them.
	syncs := func(_ *txn, r collection.Row) bool {
		j, err := tArchive.Decode(r.Key, r.Value)
		theirs := j.Owner == w.f.Account || namesAny(r.Value, w.f.Players)
		return err == nil && !w.dry && (len(j.Lock) > 0 || j.Group != 0) && theirs
	}
	err := w.pages(tArchive.Table, nil, syncs, func(page [][]byte) error {
		for _, k := range page {
			// It is done again after a crash from the start: children that have left are not there any
			// more.
			for more := true; more; {
				err := w.commit(func(t *txn, _ *Forgotten) (err error) {
					more, err = t.leaveSome(k, w.db.pages.Forget)
					return err
				})
				if err != nil {
					return err
				}
			}
		}
		return w.dropJobs(page)
	})
	if err != nil {
		return err
	}
	return w.pages(tArchive.Table, nil, w.names, w.dropJobs)
}

// dropJobs deletes a page of jobs in one transaction.
func (w *forgetter) dropJobs(page [][]byte) error {
	return w.commit(func(t *txn, f *Forgotten) error {
		keys := map[string]bool{}
		for _, k := range page {
			if err := w.dropJob(t, f, k, keys); err != nil {
				return err
			}
		}
		return t.repoint(keys)
	})
}

// leaveSome takes at most limit children out of a parent's groups. A sync may have thousands: one
// transaction for all of them would hold up what the engine has to write.
func (t *txn) leaveSome(parent []byte, limit int) (more bool, err error) {
	some, last := t.KeysAfter(tMembers.Table, parent, nil, limit)
	for _, k := range some {
		if err := t.leave(k); err != nil {
			return false, err
		}
	}
	return last != nil, nil
}

// dropJob deletes an ended job and adds its key to keys, or gives it to the other account whose
// sync counts it.
func (w *forgetter) dropJob(t *txn, f *Forgotten, k []byte, keys map[string]bool) error {
	j, ok, err := tArchive.Get(t, k)
	if disk.IsDamage(err) || err == nil && !ok {
		return nil // check names it; or it was opened again, and is another's
	}
	if err != nil {
		return err
	}
	heir, err := t.heirOf(k, j, f)
	if err != nil {
		return err
	}
	// Two accounts played the same match, and the job that fetched it counts in the sync of the
	// other one.
	if heir != "" {
		if j.Owner != w.f.Account || w.dry {
			return nil
		}
		j.Owner = heir
		t.last = engine.Job{}
		return tArchive.Put(t, k, &j)
	}
	f.Done.Jobs++
	if f.Done.Attempts += t.CountUnder(tAttempts.Table, k); w.dry {
		return nil
	}
	for _, g := range t.groupsOf(key.Read(k).Uint64()) {
		if err := t.leave(append(g, k...)); err != nil {
			return err
		}
	}
	// The transaction must not remember a job that is not there any more.
	t.last = engine.Job{}
	if err := t.pruneJob(k, j); err != nil {
		return err
	}
	keys[j.Key] = true
	// What the account itself did last goes with its own rows (ofAccount).
	if j.Owner == "" || j.Owner == w.f.Account {
		return nil
	}
	return t.forgetRecent(j.Owner, []uint64{key.Read(k).Uint64()})
}

// heirOf is another account whose sync counts the job, or a collection that does; "" = none does. The sync of a player who
// is forgotten has none, although its collection counts it.
func (t *txn) heirOf(k []byte, j engine.Job, f *Forgotten) (string, error) {
	if namesAny(j.Args, f.Players) {
		return "", nil
	}
	for _, g := range t.groupsOf(key.Read(k).Uint64()) {
		p, ok, err := t.readJob(g[:8])
		if err != nil && !disk.IsDamage(err) {
			return "", err
		}
		if ok && p.Owner != "" && p.Owner != f.Account {
			return p.Owner, nil
		}
	}
	return "", nil
}

// runs deletes the syncs of the account, with what they had listed.
func (w *forgetter) runs() error {
	mine := func(t *txn, r collection.Row) bool {
		run, err := tRuns.Decode(r.Key, r.Value)
		return err == nil && w.of(t, run.Account)
	}
	err := w.pages(tRuns.Table, nil, mine, func(page [][]byte) error {
		// Thousands of staged ids go before their run, a page per transaction: as long as the run is
		// there, a crash finds the way back to them.
		for _, tb := range collection.OwnedBy(ofRun) {
			for _, k := range page {
				if w.dry {
					break
				}
				if err := w.clear(tb, key.Strings(string(k)), anyRow, nil); err != nil {
					return err
				}
			}
		}
		return w.commit(func(t *txn, f *Forgotten) error {
			for _, k := range page {
				if f.Done.Runs++; w.dry {
					continue
				}
				if err := t.dropRun(k); err != nil {
					return err
				}
			}
			return nil
		})
	})
	if err != nil || w.dry {
		return err
	}
	// Both are found by what they hold: their keys begin with a job and with a match.
	return errors.Join(
		w.clear(tRunOfJob.Table, nil, func(t *txn, r collection.Row) bool {
			b, err := tRunOfJob.Decode(r.Key, r.Value)
			return err == nil && w.of(t, b.account)
		}, nil),
		w.clear(tGaps.Table, nil, func(t *txn, r collection.Row) bool {
			g, err := tGaps.Decode(r.Key, r.Value)
			return err == nil && w.of(t, g.Account)
		}, nil))
}

// dropRun deletes one sync with the ranges of time that it covered.
func (t *txn) dropRun(k []byte) error {
	r, err := t.run(string(k))
	if err != nil {
		return err
	}
	// A run that covers a list notes how far it is under its own id, until it is done.
	of := r.Ranges()
	errs := []error{t.Remove(tRuns.Table, k)}
	for _, owner := range []string{of.Making, of.Own, of.Filters} {
		errs = append(errs, t.RemoveAll(tCoverage.Table, key.Strings(owner)))
	}
	if job, err := jobKey(engine.JobID(r.Job)); err == nil {
		errs = append(errs, t.Remove(tRunOfJob.Table, job))
	}
	return errors.Join(errs...)
}
