package storage

import (
	"bytes"
	"context"
	"encoding/hex"
	"errors"
	"fmt"
	"iter"
	"time"

	"github.com/farsight-console/farsight/engine"
	"github.com/farsight-console/farsight/storage/internal/collection"
	"github.com/farsight-console/farsight/storage/internal/disk"
	"github.com/farsight-console/farsight/storage/key"
)

// Job gives a live or ended job; engine.ErrNotFound.
func (db *DB) Job(tx engine.Tx, id engine.JobID) (engine.Job, error) { return own(tx).job(id) }

// job is Job with the memory of this transaction: whoever moves a job reads it several times. Jobs
// that run are remembered by the committer from one transaction to the next, so that the outcome of
// an attempt reads no records.
func (t *txn) job(id engine.JobID) (engine.Job, error) {
	if id != "" && t.last.ID == id {
		return t.last, nil
	}
	n, err := jobNumber(id)
	if err != nil {
		return engine.Job{}, err
	}
	// The outcome of an attempt asks for a job that this committer has made running: see reuse.
	if j := t.atWork(n); j != nil {
		t.last = *j
		return *j, nil
	}
	j, ok, err := t.readJob(t.NumberKey(n))
	if err != nil {
		return j, err
	}
	if !ok {
		return j, noJob(id)
	}
	t.last = j
	return j, nil
}

// atWork gives a job that runs as it is stored, without reading it; nil = it must be read.
func (t *txn) atWork(n uint64) *engine.Job {
	if j, moved := t.moved[n]; moved {
		return j
	}
	return t.running[n]
}

// wrote notes that the records of a job were changed: what it is now.
func (t *txn) wrote(n uint64, j engine.Job) {
	t.last = engine.Job{}
	switch {
	case t.moved == nil:
	case j.State == engine.Running:
		t.moved[n] = asStored(j)
	default:
		t.moved[n] = nil
	}
}

// asStored gives a job as its records will give it back.
func asStored(j engine.Job) *engine.Job {
	for _, at := range []*time.Time{&j.Due, &j.Created, &j.Started, &j.Finished} {
		if !at.IsZero() {
			*at = time.UnixMilli(at.UnixMilli()).UTC()
		}
	}
	// A record does not tell nil from empty.
	if len(j.Args) == 0 {
		j.Args = nil
	}
	return &j
}

// JobByKey gives the live job that holds the key; engine.ErrNotFound.
func (db *DB) JobByKey(tx engine.Tx, unique string) (engine.Job, error) {
	t := own(tx)
	n, ok, err := t.Number(tJobKey, []byte(unique))
	if err != nil {
		return engine.Job{}, err
	}
	if unique == "" || !ok {
		return engine.Job{}, fmt.Errorf("live job with key %q: %w", unique, engine.ErrNotFound)
	}
	return t.job(jobID(n))
}

// Enqueue inserts jobs, one after the other. A spec whose key a live job holds adds its parents to that job and is
// answered as a duplicate; an ended job never blocks a key. None is inserted when one cannot be, since the caller's
// transaction ends with the error.
func (t *txn) Enqueue(specs ...engine.Spec) ([]engine.Enqueued, error) {
	answers := make([]engine.Enqueued, 0, len(specs))
	for _, s := range specs {
		a, err := t.enqueue(s)
		if err != nil {
			return nil, fmt.Errorf("enqueue %s %q: %w", s.Kind, s.Key, err)
		}
		answers = append(answers, a)
	}
	return answers, nil
}

// enqueue takes the next number of table job_state's sequence for a new job. Numbers only rise and
// are never given twice, so the order of ids is the order of creation.
func (t *txn) enqueue(s engine.Spec) (engine.Enqueued, error) {
	if s.Key != "" {
		// The look and the insertion are in one transaction, and there is one writer: no two live
		// jobs can have one key.
		n, held, err := t.Number(tJobKey, []byte(s.Key))
		if err != nil {
			return engine.Enqueued{}, err
		}
		if held {
			return t.join(jobID(n), s)
		}
	}
	t.last = engine.Job{}
	n, err := t.Next(tJobState.Table)
	if err != nil {
		return engine.Enqueued{}, err
	}
	j := newJob(jobID(n), s, t.Now)
	if err := t.putLive(t.NumberKey(n), &j, nil, false); err != nil {
		return engine.Enqueued{}, err
	}
	if j.Key != "" {
		if err := t.PutNumber(tJobKey, []byte(j.Key), n); err != nil {
			return engine.Enqueued{}, err
		}
	}
	if err := t.addParents(n, j.State, s.Parents); err != nil {
		return engine.Enqueued{}, err
	}
	t.Emit(engine.Change{Job: &j, Before: j.State, New: true, Joined: s.Parents})
	return engine.Enqueued{ID: j.ID, State: j.State}, nil
}

// newJob is the job of a spec that is inserted now. One that is to run later is scheduled, and is
// available when its time has come; a priority of 0 is the normal one.
func newJob(id engine.JobID, s engine.Spec, now time.Time) engine.Job {
	j := engine.Job{
		ID: id, Rev: 1, Round: 1, State: engine.Available, Created: now,
		Kind: s.Kind, Queue: s.Queue, Key: s.Key, Lock: s.Lock, Owner: s.Owner, Args: s.Args,
		Priority: s.Priority, Policy: s.Policy, By: s.By, HasParents: len(s.Parents) > 0,
	}
	if j.Priority == 0 {
		j.Priority = engine.PriorityNormal
	}
	if s.RunAt.After(now) {
		j.State, j.Due = engine.Scheduled, s.RunAt
	}
	return j
}

// join makes the parents wait for a live job that is there already. One that somebody wants more urgently than those
// before goes as it would be theirs: an account's match does not wait behind a collection that wants it, too.
func (t *txn) join(id engine.JobID, s engine.Spec) (engine.Enqueued, error) {
	parents := s.Parents
	j, err := t.job(id)
	if err != nil {
		return engine.Enqueued{}, err
	}
	_, collected := engine.CollectionOf(j.Queue)
	_, collects := engine.CollectionOf(s.Queue)
	if s.Priority != 0 && j.State != engine.Running && (s.Priority < j.Priority || collected && !collects) {
		j.Rev++
		j.Priority = min(j.Priority, s.Priority)
		if collected || !collects { // whoever pauses a collection pauses no account
			j.Queue, j.Owner = s.Queue, s.Owner
		}
		if err := t.saveJob(j); err != nil {
			return engine.Enqueued{}, err
		}
	}
	n, err := jobNumber(id)
	if err != nil {
		return engine.Enqueued{}, err
	}
	if err := t.addParents(n, j.State, parents); err != nil {
		return engine.Enqueued{}, err
	}
	if len(parents) > 0 {
		if !j.HasParents {
			// Its revision stays: whoever runs it is not late.
			j.HasParents = true
			t.wrote(n, j)
			if err := tJobState.Put(t, t.NumberKey(n), &j); err != nil {
				return engine.Enqueued{}, err
			}
		}
		t.Emit(engine.Change{Job: &j, Before: j.State, Joined: parents})
	}
	return engine.Enqueued{ID: j.ID, Duplicate: true, State: j.State}, nil
}

// SaveJob stores j where its state belongs, takes or frees its key and emits the change.
// engine.ErrStale when j's revision is not newer than the stored one, engine.ErrConflict when
// another live job holds its key.
func (db *DB) SaveJob(tx engine.Tx, j engine.Job) error { return own(tx).saveJob(j) }

// saveJob writes by where the job was and where it goes, since live and ended jobs have different
// records:
//
//	live  -> live   the records that differ
//	live  -> ended  its records and its key go, the archive gets one
//	ended -> live   an operator runs it again: the archive's row goes, the key is taken again
//	ended -> ended  the archive's row is written anew
func (t *txn) saveJob(j engine.Job) error {
	old, err := t.job(j.ID)
	if err != nil {
		return err
	}
	n, err := jobNumber(j.ID)
	if err != nil {
		return err
	}
	if err := t.mayReplace(&old, &j); err != nil {
		return err
	}
	// It is lost otherwise whenever a sync joins a job that is running.
	j.HasParents = j.HasParents || old.HasParents // a joined parent that the writer has not seen yet
	t.wrote(n, j)
	k := t.NumberKey(n)
	switch {
	case old.State.Live() && j.State.Live():
		err = t.putLive(k, &j, &old, true)
	case old.State.Live():
		err = errors.Join(t.dropLive(k, &old), t.putEnded(n, k, &j))
	case j.State.Live():
		err = errors.Join(t.dropEnded(k, old), t.revive(n, k, &j))
	default:
		err = errors.Join(t.dropEnded(k, old), t.putEnded(n, k, &j))
	}
	if err != nil {
		return fmt.Errorf("save job %s: %w", j.ID, err)
	}
	t.countMove(&old, &j)
	t.Emit(engine.Moved(&old, &j))
	return nil
}

// mayReplace checks, before anything is written, that j may take the place of old. Whoever has read a job, decided and
// writes it later is refused when another has written meanwhile. A key is for life, because its row is changed when a job
// begins and ends, and not between.
func (t *txn) mayReplace(old, j *engine.Job) error {
	if j.Rev <= old.Rev {
		return fmt.Errorf("job %s at revision %d, stored is %d: %w", j.ID, j.Rev, old.Rev, engine.ErrStale)
	}
	if j.Key != old.Key {
		return fmt.Errorf("job %s cannot change its key: %w", j.ID, engine.ErrInvalid)
	}
	if j.Key == "" || old.State.Live() || !j.State.Live() {
		return nil
	}
	n, held, err := t.Number(tJobKey, []byte(j.Key))
	if err != nil || !held {
		return err
	}
	p := engine.Problemf(engine.ErrConflict, "act on that job", "job %s holds %s", jobID(n), j.Key)
	p.Job = jobID(n)
	return p
}

// revive puts an ended job back among the live ones and takes its key.
func (t *txn) revive(n uint64, k []byte, j *engine.Job) error {
	if err := t.putLive(k, j, nil, false); err != nil || j.Key == "" {
		return err
	}
	return t.PutNumber(tJobKey, []byte(j.Key), n)
}

// dropLive removes the records of a live job and frees its key. j is the job as it is stored: its
// error and its key say which rows there are.
func (t *txn) dropLive(k []byte, j *engine.Job) error {
	err := errors.Join(t.Remove(tJobState.Table, k), t.Remove(tJobSpec.Table, k))
	if j.Class != "" || j.LastError != "" {
		err = errors.Join(err, t.Remove(tJobError.Table, k))
	}
	if j.Key != "" {
		err = errors.Join(err, t.Remove(tJobKey, t.bytesOf(j.Key)))
	}
	return err
}

// bytesOf is a text as a key, in the transaction's memory.
func (t *txn) bytesOf(s string) []byte { return append(t.Alloc(len(s)), s...) }

func (t *txn) dropEnded(k []byte, j engine.Job) error { return tArchive.Drop(t, k, &j) }

// putEnded stores an ended job, gives it the next place in the feed of jobs, and lets its key find
// it. Of several ended jobs with one key the youngest is found: of a match that was fetched again
// there are two.
func (t *txn) putEnded(n uint64, k []byte, j *engine.Job) error {
	if err := errors.Join(tArchive.Save(t, k, nil, j), t.feedEnded(j)); err != nil || j.Key == "" {
		return err
	}
	unique := t.bytesOf(j.Key)
	latest, _, err := t.Number(tArchiveKey, unique)
	// A job that is run again ends after a younger one with its key: that one stays the latest.
	if err != nil || latest >= n {
		return err
	}
	return t.PutNumber(tArchiveKey, unique, n)
}

// Live iterates all live jobs in id order, a page per transaction. A job that cannot be read is
// yielded with its id and error.
func (db *DB) Live(ctx context.Context) iter.Seq2[engine.Job, error] {
	return func(yield func(engine.Job, error) bool) {
		var from []byte
		for more := true; more; {
			var page []loaded
			var err error
			if page, from, more, err = db.livePage(ctx, from); err != nil {
				yield(engine.Job{}, err)
				return
			}
			for _, l := range page {
				if !yield(l.job, l.err) {
					return
				}
			}
		}
	}
}

// loaded is a job of a page; of one that cannot be read its id, and why.
type loaded struct {
	job engine.Job
	err error
}

// livePage gives one page of live jobs; next is where the following one begins. One transaction for
// all of them would keep bbolt from reusing the pages that others free, for as long as the reader
// takes.
func (db *DB) livePage(ctx context.Context, from []byte) (page []loaded, next []byte, more bool, err error) {
	err = db.view(ctx, func(t *txn) error {
		for r := range t.RowsFrom(tJobState.Table, nil, from) {
			if len(page) == db.pages.Load {
				next, more = append([]byte(nil), r.Key...), true
				return nil
			}
			j, _, err := t.readLive(r.Key)
			if err != nil {
				j = engine.Job{ID: jobID(key.Read(r.Key).Uint64())}
			}
			page = append(page, loaded{j, err})
		}
		return nil
	})
	return page, next, more, err
}

// AddAttempt appends one closed attempt or hold to a job, and to what its owner did last, counts it
// on its day, and emits the change.
func (db *DB) AddAttempt(tx engine.Tx, id engine.JobID, a engine.Attempt) error {
	t := own(tx)
	j, err := t.job(id)
	if err != nil {
		return err
	}
	k, err := t.jobKey(id)
	if err != nil {
		return err
	}
	n, err := t.LastNumber(tAttempts.Table, k)
	if err != nil {
		return err
	}
	n++
	if err := tAttempts.Put(t, key.AppendUint64(append(t.Alloc(16), k...), n), &a); err != nil {
		return err
	}
	// Days, feeds of the account and calls are written with the attempt: a crash loses all of it or
	// nothing.
	t.onDay(a.End).all.CountAttempt(a, 1)
	t.Emit(engine.Change{Attempt: &a, Of: id})
	if err := t.noteExternal(k, j, a); err != nil {
		return err
	}
	if err := t.countCalls(k, a); err != nil || j.Owner == "" {
		return err
	}
	return tRecent.KeepLast(t, key.Strings(j.Owner), maxRecent, &attemptAt{key.Read(k).Uint64(), n})
}

// maxRecent attempts are kept per owner in table recent; the attempts themselves are kept for ever.
const maxRecent = 200

// A record whose checksum or shape does not hold is set aside: its raw bytes go to table state
// under corrupt/table/key, from where they can be exported, and what it was about goes on without
// it.

const asidePrefix = "corrupt/"

// undecodable is the error class of a job that was discarded because its record cannot be read
// (P-28).
const undecodable engine.Class = "undecodable"

func asideName(tb *collection.Table, k []byte) []byte {
	return []byte(asidePrefix + tb.Name + "/" + hex.EncodeToString(k))
}

// setAside keeps the raw bytes of a record, if there is one.
func (t *txn) setAside(tb *collection.Table, k []byte) error {
	v := t.Value(tb, k)
	if v == nil {
		return nil
	}
	return t.PutBlob(tState, asideName(tb, k), v)
}

// DiscardUnreadable ends a live job whose records cannot be read (Live yields it with its error):
// it is discarded as undecodable with what can still be read of it, its raw records are set aside,
// its key is free. Whoever calls this settles the job's groups in the same transaction (Mark).
// engine.ErrRefused when the job can be read.
func (db *DB) DiscardUnreadable(tx engine.Tx, id engine.JobID) (engine.Job, error) {
	t := own(tx)
	k, err := jobKey(id)
	if err != nil {
		return engine.Job{}, err
	}
	_, ok, err := t.readLive(k)
	if _, corrupt := disk.AsCorrupt(err); !corrupt {
		// A mistake of the caller's, which must not cost a job that is well.
		if err == nil && ok {
			err = fmt.Errorf("job %s can be read: %w", id, engine.ErrRefused)
		}
		if err == nil {
			err = noJob(id)
		}
		return engine.Job{}, err
	}
	j := t.salvage(k)
	j.Rev++
	j.State, j.Finished, j.Hold = engine.Discarded, t.Now, engine.HoldNone
	j.Class, j.LastError = undecodable, "its record cannot be read: "+err.Error()
	if err := t.bury(k, j); err != nil {
		return j, fmt.Errorf("discard job %s: %w", id, err)
	}
	t.Emit(engine.Change{Job: &j, Before: engine.Available})
	return j, nil
}

// salvage reads what can be read of a job.
func (t *txn) salvage(k []byte) engine.Job {
	var j engine.Job
	if spec, ok, err := tJobSpec.Get(t, k); ok && err == nil {
		j = spec
	}
	// The state is read into a copy: a record that breaks off half way has set some fields already.
	whole := j
	if ok, err := tJobState.Add(t, k, &whole); ok && err == nil {
		j = whole
	}
	j.ID = jobID(key.Read(k).Uint64())
	j.HasParents = len(t.groupsOf(key.Read(k).Uint64())) > 0
	return j
}

// bury moves a job to the archive, whatever state its records are in.
func (t *txn) bury(k []byte, j engine.Job) error {
	for _, tb := range []*collection.Table{tJobState.Table, tJobSpec.Table, tJobError.Table} {
		if err := errors.Join(t.setAside(tb, k), t.Remove(tb, k)); err != nil {
			return err
		}
	}
	t.wrote(key.Read(k).Uint64(), engine.Job{})

	if err := t.RemoveFitting(tJobKey, nil, func(r collection.Row) bool {
		n, _, err := t.Number(tJobKey, r.Key)
		return err == nil && bytes.Equal(key.Uint64(n), k)
	}); err != nil {
		return err
	}
	t.countMove(&engine.Job{}, &j)
	return t.putEnded(key.Read(k).Uint64(), k, &j)
}
