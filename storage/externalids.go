package storage

import (
	"fmt"

	"github.com/farsight-console/farsight/engine"
	"github.com/farsight-console/farsight/storage/internal/collection"
	"github.com/farsight-console/farsight/storage/key"
)

var tCallSID = collection.New("call_sid", "external id as it is",
	"u64 id of the job of kind alert.call that had it in an attempt")

// externalScan is how many of the newest attempts are looked through for an external id that is in
// no index.
const externalScan = 5000

// noteExternal makes an attempt of a call known by its external id, for whoever asks with the id of
// the call that was made. Riot's trace ids are not kept so: there is one per call to Riot, and
// nobody asks for an old one.
func (t *txn) noteExternal(k []byte, j engine.Job, a engine.Attempt) error {
	if j.Kind != engine.KindCall || !keepable(a.External) {
		return nil
	}
	return t.PutNumber(tCallSID, []byte(a.External), key.Read(k).Uint64())
}

// keepable reports whether a text can be a key of bbolt's.
func keepable(external string) bool { return external != "" && len(external) <= maxExternal }

// maxExternal bounds what the other side may make us keep as a key. Twilio's ids have 34 bytes.
const maxExternal = 256

// jobOfExternal finds the job by the external id of one of its attempts: a call's in the index, any
// other among the newest jobs' attempts. engine.ErrNotFound.
func (t *txn) jobOfExternal(external string) (engine.Job, error) {
	missing := fmt.Errorf("job with the external id %q: %w", external, engine.ErrNotFound)
	if !keepable(external) {
		return engine.Job{}, missing
	}
	n, ok, err := t.Number(tCallSID, []byte(external))
	if err != nil {
		return engine.Job{}, err
	}
	if ok {
		return t.job(jobID(n))
	}
	// The newest attempts are those of the highest job numbers, not those that ended last: an old
	// job that was tried again just now is far back.
	looked := 0
	for r := range t.RowsBack(tAttempts.Table, nil, nil) {
		if looked++; looked > externalScan {
			break
		}
		if a, err := tAttempts.Decode(r.Key, r.Value); err == nil && a.External == external {
			return t.job(jobID(key.Read(r.Key).Uint64()))
		}
	}
	return engine.Job{}, missing
}

// forgetCalls takes a job that is pruned out of the index.
func (t *txn) forgetCalls(j engine.Job) error {
	if j.Kind != engine.KindCall {
		return nil
	}
	k, err := t.jobKey(j.ID)
	if err != nil {
		return err
	}
	attempts, holds := t.attempts(k)
	for _, a := range append(attempts, holds...) {
		if !keepable(a.External) {
			continue
		}
		// A call's id is in one attempt only, so nobody else needs the row.
		if err := t.Remove(tCallSID, []byte(a.External)); err != nil {
			return err
		}
	}
	return nil
}
