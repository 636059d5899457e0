package disk

import (
	"crypto/rand"
	"encoding/hex"

	bolt "go.etcd.io/bbolt"

	"github.com/farsight-console/farsight/storage/internal/rec"
)

// MetaTable is where a database file tells of itself: its schema version, its instance, and what
// else is about all of it.
const MetaTable = "meta"

// Names in it.
var (
	MetaSchema   = []byte("schema")
	MetaInstance = []byte("instance")
)

// Table reads and writes single records of a table by name, for those who do not know what else is
// in it.
type Table struct {
	tx   *bolt.Tx
	name string
}

// TableOf is a table of one transaction.
func TableOf(tx *bolt.Tx, name string) Table { return Table{tx, name} }

// MetaOf is the table in which the file tells of itself.
func MetaOf(tx *bolt.Tx) Table { return Table{tx, MetaTable} }

func (t Table) bucket() *bolt.Bucket { return t.tx.Bucket([]byte(t.name)) }

// Exists reports whether the file has the table.
func (t Table) Exists() bool { return t.bucket() != nil }

// Has reports whether there is such a record, whole or not.
func (t Table) Has(name []byte) bool { return t.bucket().Get(name) != nil }

// Remove deletes a record, if it is there.
func (t Table) Remove(name []byte) error { return t.bucket().Delete(name) }

// Number is 0 when there is none.
func (t Table) Number(name []byte) (uint64, bool, error) { return read(t, name, rec.Numbers) }

// PutNumber keeps a number under a name, in place of what was there.
func (t Table) PutNumber(name []byte, n uint64) error { return put(t, name, rec.Numbers, n) }

// Text is "" when there is none.
func (t Table) Text(name []byte) (string, bool, error) { return read(t, name, rec.Texts) }

// PutText keeps a text likewise.
func (t Table) PutText(name []byte, s string) error { return put(t, name, rec.Texts, s) }

// Blob is nil when there is none.
func (t Table) Blob(name []byte) ([]byte, bool, error) { return read(t, name, rec.Blobs) }

// PutBlob keeps bytes likewise.
func (t Table) PutBlob(name, b []byte) error { return put(t, name, rec.Blobs, b) }

func read[T any](t Table, name []byte, as rec.Shape[T]) (value T, ok bool, err error) {
	v := t.bucket().Get(name)
	if v == nil {
		return value, false, nil
	}
	have, body, err := rec.TableSeed(t.name).Open(name, v)
	if err == nil && have != as.Format {
		err = rec.ErrBody
	}
	if err == nil {
		c := rec.Read(body)
		as.Fields(&c, &value)
		err = c.Done()
	}
	if err != nil {
		return value, false, &ErrCorrupt{Bucket: t.name, Key: name, Err: err}
	}
	return value, true, nil
}

func put[T any](t Table, name []byte, as rec.Shape[T], value T) error {
	// The same frame as of all other tables, so that check need not know who wrote a row.
	c := rec.Write(nil, as.Format)
	as.Fields(&c, &value)
	v, err := rec.TableSeed(t.name).Seal(name, &c)
	if err != nil {
		return err
	}
	return t.bucket().Put(name, v)
}

// SchemaOf reads the version of a file, and refuses what is not ours or later than newest.
func SchemaOf(tx *bolt.Tx, path string, newest uint64) (uint64, error) {
	if !MetaOf(tx).Exists() {
		return 0, &Damaged{Path: path, Why: "it is a database, but not one of Farsight's"}
	}
	have, ok, err := MetaOf(tx).Number(MetaSchema)
	switch {
	// The version is the first thing that is ever written: a file that has none was never
	// completed, or is damaged.
	case err != nil || !ok || have < 1:
		return 0, &Damaged{Path: path, Why: "its schema version cannot be read"}
	case have > newest:
		return 0, &ErrNewer{Path: path, Have: int(have), Know: int(newest)}
	}
	return have, nil
}

// RandomID is 16 hexadecimal digits.
func RandomID() string {
	var b [8]byte
	rand.Read(b[:]) // never fails (crypto/rand, Go 1.24)
	return hex.EncodeToString(b[:])
}
