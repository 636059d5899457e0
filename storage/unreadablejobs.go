package storage

import (
	"bytes"
	"encoding/hex"
	"errors"
	"fmt"

	"github.com/farsight-console/farsight/engine"
	"github.com/farsight-console/farsight/storage/internal/collection"
	"github.com/farsight-console/farsight/storage/internal/disk"
	"github.com/farsight-console/farsight/storage/key"
)

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
