package pg

import (
	"context"

	"github.com/farsight-console/farsight/engine"
	"github.com/farsight-console/farsight/storage/internal/both"
)

// tStates are small named blobs: the limiter's state, the name of the store ("instance"), a job
// that could not be read ("corrupt/fs_job/b41").
var tStates = declare("fs_state", "name", fields[both.State](nil))

// LoadState gives a small named blob; nil when there is none.
func (db *DB) LoadState(ctx context.Context, name string) ([]byte, error) {
	s, err := answer(ctx, db, func(t *txn) (both.State, error) {
		s, _, err := tStates.find(t, (*text)(&name))
		return s, err
	})
	return s.Blob, err
}

// SaveState keeps a small named blob.
func (db *DB) SaveState(ctx context.Context, name string, blob []byte) error {
	return db.Write(ctx, func(tx engine.Tx) error { return db.PutState(tx, name, blob) })
}

// PutState is SaveState within a transaction.
func (db *DB) PutState(tx engine.Tx, name string, blob []byte) error {
	if blob == nil {
		blob = []byte{}
	}
	tStates.put(own(tx), both.State{Name: name, Blob: blob})
	return nil
}
