package collection

import (
	"bytes"
	"fmt"

	bolt "go.etcd.io/bbolt"

	"github.com/farsight-console/farsight/storage/internal/disk"
	"github.com/farsight-console/farsight/storage/internal/rec"
)

// Table is one bbolt bucket.
type Table struct {
	Name  string
	Keyed string // what its keys are made of, for people: "str account, str queue, time"
	Says  string // what a row tells, for people
	Since uint64 // schema version that it came with; 0 = that of a migration

	seed  rec.Seed
	at    int     // index in Tables, and in what a transaction has open
	fill  float64 // how full a split leaves a page; 0 = bbolt's half
	owner Owner   // whose rows go with their owner; 0 = nobody's
	own   bool    // it is about this file, and in no log

	// dropRow removes a row with what follows from it; nil = nothing follows from a row.
	dropRow func(t *Tx, k []byte) error
}

// Tables are all that were declared, in the order in which the program's variables are set.
var Tables []*Table

// Counters has the numbers that a recount of rows must equal, by name: "accounts" -> 3. They are
// written with the rows that they count (Records.Counts).
var Counters = New("counters", "name", "a number that a recount of rows must equal")

// New declares a table. A name is on disk, and part of every checksum: a table is never renamed.
func New(name, keyed, says string) *Table {
	tb := &Table{Name: name, Keyed: keyed, Says: says, seed: rec.TableSeed(name), at: len(Tables)}
	Tables = append(Tables, tb)
	return tb
}

// Owner is what the first element of a table's keys names, as one bit: the rows go when that thing
// goes. Which things there are, whoever declares the tables says.
type Owner uint8

// BelongsTo says whose the rows are: the keys begin with the id of one of these.
func (tb *Table) BelongsTo(to Owner) *Table {
	tb.owner = to
	return tb
}

// OwnedBy are the tables whose rows go with such an owner.
func OwnedBy(by Owner) (list []*Table) {
	for _, tb := range Tables {
		if tb.owner&by != 0 {
			list = append(list, tb)
		}
	}
	return list
}

// CameWith says from which schema version on files have the table. One that came with a version of
// its own needs no migration.
func (tb *Table) CameWith(version uint64) *Table {
	tb.Since = version
	return tb
}

// Own says that the table describes the file that it is in: another file with the same data has other rows there.
func (tb *Table) Own() *Table {
	tb.own = true
	return tb
}

// Grows says that rows only ever come at the end. A page that is split there stays nearly full,
// since nothing is ever added to it; bbolt's usual half would double the file.
func (tb *Table) Grows() *Table {
	tb.fill = disk.AppendFill
	return tb
}

// Create makes the tables that a state file does not have: all of them in a new one.
func Create(b *bolt.Tx) error {
	for _, tb := range Tables {
		if _, err := b.CreateBucketIfNotExists([]byte(tb.Name)); err != nil {
			return fmt.Errorf("create table %s: %w", tb.Name, err)
		}
	}
	return nil
}

// Check verifies the checksum and the format of one value, whatever its body says.
func (tb *Table) Check(k, v []byte, format byte) error {
	_, err := tb.body(k, v, format)
	return err
}

// body checks one value and gives what its record holds.
func (tb *Table) body(k, v []byte, format byte) ([]byte, error) {
	f, body, err := tb.seed.Open(k, v)
	if err != nil {
		return nil, tb.Corrupt(k, err)
	}
	if f != format {
		return nil, tb.Corrupt(k, fmt.Errorf("format %d, want %d", f, format))
	}
	return body, nil
}

// Corrupt is the error of a row that is not as it must be. It keeps a copy of the key: k may be
// bbolt's.
func (tb *Table) Corrupt(k []byte, err error) error {
	return &disk.ErrCorrupt{Bucket: tb.Name, Key: bytes.Clone(k), Err: err}
}
