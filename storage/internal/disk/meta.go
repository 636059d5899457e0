package disk

import (
	"crypto/rand"
	"encoding/hex"

	bolt "go.etcd.io/bbolt"

	"github.com/farsight-console/farsight/storage/internal/rec"
)

// MetaTable is where a database file tells of itself: its schema version, its instance, and what else is about all of it.
const MetaTable = "meta"

var metaSeed = rec.TableSeed(MetaTable)

// Names in it.
var (
	MetaSchema   = []byte("schema")
	MetaInstance = []byte("instance")
)

// Meta reads and writes that table.
type Meta struct{ tx *bolt.Tx }

// MetaOf is the table of one transaction.
func MetaOf(tx *bolt.Tx) Meta { return Meta{tx} }

// Exists reports whether the file has the table, as every one of ours does.
func (m Meta) Exists() bool { return m.tx.Bucket([]byte(MetaTable)) != nil }

func (m Meta) Has(name []byte) bool { return m.tx.Bucket([]byte(MetaTable)).Get(name) != nil }

// Number is 0 when there is none.
func (m Meta) Number(name []byte) (n uint64, ok bool, err error) {
	ok, err = m.read(name, rec.Number, func(c *rec.Coder) { c.Uint(&n) })
	return n, ok, err
}

func (m Meta) PutNumber(name []byte, n uint64) error {
	return m.put(name, rec.Number, func(c *rec.Coder) { c.Uint(&n) })
}

// Text is "" when there is none.
func (m Meta) Text(name []byte) (s string, ok bool, err error) {
	ok, err = m.read(name, rec.Text, func(c *rec.Coder) { c.Str(&s) })
	return s, ok, err
}

func (m Meta) PutText(name []byte, s string) error {
	return m.put(name, rec.Text, func(c *rec.Coder) { c.Str(&s) })
}

func (m Meta) read(name []byte, format byte, fields func(*rec.Coder)) (ok bool, err error) {
	v := m.tx.Bucket([]byte(MetaTable)).Get(name)
	if v == nil {
		return false, nil
	}
	have, body, err := metaSeed.Open(name, v)
	if err == nil && have != format {
		err = rec.ErrBody
	}
	if err == nil {
		c := rec.Read(body)
		fields(&c)
		err = c.Done()
	}
	if err != nil {
		return false, &ErrCorrupt{Bucket: MetaTable, Key: name, Err: err}
	}
	return true, nil
}

func (m Meta) put(name []byte, format byte, fields func(*rec.Coder)) error {
	c := rec.Write(nil, format)
	fields(&c)
	v, err := metaSeed.Seal(name, &c)
	if err != nil {
		return err
	}
	return m.tx.Bucket([]byte(MetaTable)).Put(name, v)
}

// RandomID is 16 hexadecimal digits.
func RandomID() string {
	var b [8]byte
	rand.Read(b[:]) // never fails (crypto/rand, Go 1.24)
	return hex.EncodeToString(b[:])
}
