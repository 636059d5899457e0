package storage

import (
	"context"

	"github.com/farsight-console/farsight/engine"
	"github.com/farsight-console/farsight/storage/internal/collection"
)

// tState has what its owners keep in a form of their own. Each name is one owner's, as
// "limits" of the limiter's learnt buckets; a prefix is that of many, as "forget:" of accounts that
// are half forgotten.
var tState = collection.New("state", "name", "a small blob of its owner's, such as the limiter's state")

// LoadState gives a small named blob; nil when there is none.
func (db *DB) LoadState(ctx context.Context, name string) (blob []byte, err error) {
	err = db.view(ctx, func(t *txn) error {
		blob, _, err = t.Blob(tState, []byte(name))
		return err
	})
	return blob, err
}

// SaveState keeps a small named blob.
// It is a commit of its own. Whoever saves a blob with other rows uses PutState.
func (db *DB) SaveState(ctx context.Context, name string, blob []byte) error {
	return db.Write(ctx, func(tx engine.Tx) error { return db.PutState(tx, name, blob) })
}

// PutState is SaveState within a transaction.
func (db *DB) PutState(tx engine.Tx, name string, blob []byte) error {
	return own(tx).PutBlob(tState, []byte(name), blob)
}
