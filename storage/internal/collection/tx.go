package collection

import (
	"bytes"
	"fmt"
	"iter"
	"slices"
	"time"

	bolt "go.etcd.io/bbolt"

	"github.com/farsight-console/farsight/engine"
	"github.com/farsight-console/farsight/storage/internal/disk"
	"github.com/farsight-console/farsight/storage/internal/rec"
	"github.com/farsight-console/farsight/storage/key"
)

// Tx is one transaction, reading or writing. It must not be used after it has ended, nor by another
// goroutine.
type Tx struct {
	Bolt    *bolt.Tx
	Now     time.Time // of the whole group that is committed together, in UTC
	Dirty   bool      // something was written
	Size    int       // bytes written so far: keys and values
	Counted []string  // counters that changed, each once

	writable bool
	buckets  []*bolt.Bucket // by Table.at; filled when first used
	cursors  []*bolt.Cursor // by Table.at, as buckets: for looking up one row
	coder    coders         // of the row that is read or written

	mem   *arena // nil = memory from the heap
	draft []byte // of the record that is written; its memory serves the next one

	logs bool
	log  []byte // what was written, for others: see Log
}

// Holder is a transaction: a *Tx, or a pointer to what embeds a Tx and adds what its tables need
// besides.
type Holder interface{ base() *Tx }

func (t *Tx) base() *Tx { return t }

// Begin is a transaction with memory of its own; for those that follow one another see Memory.
func Begin(b *bolt.Tx, now time.Time) Tx {
	return Tx{
		Bolt: b, Now: now, writable: b.Writable(),
		buckets: make([]*bolt.Bucket, len(Tables)), cursors: make([]*bolt.Cursor, len(Tables)),
	}
}

// Bucket is the table as bbolt has it.
func (t *Tx) Bucket(tb *Table) *bolt.Bucket {
	b := t.buckets[tb.at]
	if b == nil {
		b = t.Bolt.Bucket([]byte(tb.Name))
		if tb.fill > 0 {
			b.FillPercent = tb.fill
		}
		t.buckets[tb.at] = b
	}
	return b
}

// cursor is for one look-up: the next one of the same table moves it. bbolt's own Get and Delete
// make one each.
func (t *Tx) cursor(tb *Table) *bolt.Cursor {
	c := t.cursors[tb.at]
	if c == nil {
		c = t.Bucket(tb).Cursor()
		t.cursors[tb.at] = c
	}
	return c
}

// Value is the raw value under k; nil when there is none. It is valid until the transaction writes
// or ends.
func (t *Tx) Value(tb *Table, k []byte) []byte {
	at, v := t.cursor(tb).Seek(k)
	if !bytes.Equal(at, k) {
		return nil
	}
	return v
}

// Has reports whether there is a row under k, whole or not.
func (t *Tx) Has(tb *Table, k []byte) bool { return t.Value(tb, k) != nil }

// HasUnder reports whether any key starts with prefix.
func (t *Tx) HasUnder(tb *Table, prefix []byte) bool {
	at, _ := t.cursor(tb).Seek(prefix)
	return at != nil && bytes.HasPrefix(at, prefix)
}

// Next gives the next number of the table's sequence, which starts at 1. A number that was given is
// never given again, but for those of a transaction that was not committed.
func (t *Tx) Next(tb *Table) (uint64, error) {
	if !t.writable {
		return 0, disk.ErrReadOnly
	}
	t.Dirty = true
	n, err := t.Bucket(tb).NextSequence()
	t.note(logNumber, tb, t.NumberKey(n))
	return n, err
}

// Given is the last number that Next has given; 0 when none.
func (t *Tx) Given(tb *Table) uint64 { return t.Bucket(tb).Sequence() }

// record begins a record, to be put before anything else is read or written.
func (t *Tx) record(format byte) *rec.Coder {
	t.coder.Coder = rec.Write(t.draft, format)
	return &t.coder.Coder
}

// putRecord stores a record under k.
func (t *Tx) putRecord(tb *Table, k []byte, c *rec.Coder) error {
	if !t.writable {
		return disk.ErrReadOnly
	}
	if t.logs && len(k) > longestKey {
		return fmt.Errorf("write to table %s: a key of %d bytes: %w", tb.Name, len(k), engine.ErrInvalid)
	}
	draft, err := tb.seed.Seal(k, c)
	if err != nil {
		return fmt.Errorf("write to table %s: %w", tb.Name, err)
	}
	if len(draft) < arenaChunk { // one large blob must not stay in memory for good
		t.draft = draft
	}
	v := append(t.Alloc(len(draft)), draft...)
	t.Dirty = true
	t.Size += len(k) + len(v)
	if err := t.Bucket(tb).Put(k, v); err != nil {
		return fmt.Errorf("write to table %s: %w", tb.Name, err)
	}
	t.note(logPut, tb, k, v)
	return nil
}

// Remove deletes what is under k, if anything is. It leaves index rows and counters: see RemoveRow.
func (t *Tx) Remove(tb *Table, k []byte) error {
	if !t.writable {
		return disk.ErrReadOnly
	}
	t.Dirty = true
	t.Size += len(k)
	c := t.cursor(tb)
	if at, _ := c.Seek(k); !bytes.Equal(at, k) {
		return nil
	}
	t.note(logRemove, tb, k)
	if err := c.Delete(); err != nil {
		return fmt.Errorf("delete from table %s: %w", tb.Name, err)
	}
	return nil
}

// RemoveRow deletes a row with its index rows, and takes back what it counted. A row that cannot be
// read goes alone: what followed from it is not known, and Check names what is left.
func (t *Tx) RemoveRow(tb *Table, k []byte) error {
	if tb.dropRow != nil {
		return tb.dropRow(t, k)
	}
	return t.Remove(tb, k)
}

// RemoveAll deletes every row under prefix, as RemoveRow.
func (t *Tx) RemoveAll(tb *Table, prefix []byte) error {
	return t.RemoveFitting(tb, prefix, func(Row) bool { return true })
}

// RemoveFitting deletes the rows under prefix that fit, as RemoveRow. Keys are collected first:
// deleting moves a bbolt cursor past rows.
func (t *Tx) RemoveFitting(tb *Table, prefix []byte, fits func(r Row) bool) error {
	var keys [][]byte
	for r := range t.Rows(tb, prefix) {
		if fits(r) {
			keys = append(keys, bytes.Clone(r.Key))
		}
	}
	return t.RemoveKeys(tb, keys)
}

// RemoveKeys deletes the rows under the keys, as RemoveRow.
func (t *Tx) RemoveKeys(tb *Table, keys [][]byte) error {
	for _, k := range keys {
		if err := t.RemoveRow(tb, k); err != nil {
			return err
		}
	}
	return nil
}

// RemoveOwned deletes the rows of one owner in all tables that have any: prefix is its id as the
// keys begin with it.
func (t *Tx) RemoveOwned(by Owner, prefix []byte) error {
	for _, tb := range OwnedBy(by) {
		if err := t.RemoveAll(tb, prefix); err != nil {
			return err
		}
	}
	return nil
}

// Row is a raw row of a table. It is valid until the transaction writes or ends.
type Row struct{ Key, Value []byte }

// Rows iterates the rows whose key starts with prefix, in key order. The table must not be changed
// meanwhile: collect first, then write.
func (t *Tx) Rows(tb *Table, prefix []byte) iter.Seq[Row] {
	return t.RowsFrom(tb, prefix, prefix)
}

// RowsFrom is Rows, beginning at the first key that is not before from.
func (t *Tx) RowsFrom(tb *Table, prefix, from []byte) iter.Seq[Row] {
	return func(yield func(Row) bool) {
		c := t.Bucket(tb).Cursor()
		for k, v := c.Seek(from); k != nil && bytes.HasPrefix(k, prefix); k, v = c.Next() {
			if !yield(Row{k, v}) {
				return
			}
		}
	}
}

// RowsBack iterates the rows whose key starts with prefix backwards, beginning before the key
// before (nil = at the end).
func (t *Tx) RowsBack(tb *Table, prefix, before []byte) iter.Seq[Row] {
	if before == nil {
		before = key.Next(prefix)
	}
	return func(yield func(Row) bool) {
		c := t.Bucket(tb).Cursor()
		k, v := seekBefore(c, before)
		for ; k != nil && bytes.HasPrefix(k, prefix); k, v = prev(c, k) {
			if !yield(Row{k, v}) {
				return
			}
		}
	}
}

// CountUnder counts the rows whose key starts with prefix.
func (t *Tx) CountUnder(tb *Table, prefix []byte) (n int) {
	for range t.Rows(tb, prefix) {
		n++
	}
	return n
}

// KeysAfter gives the next keys under prefix, most of them at a time; last is nil when there are no
// more behind them.
func (t *Tx) KeysAfter(tb *Table, prefix, after []byte, most int) (page [][]byte, last []byte) {
	if bytes.Compare(after, prefix) < 0 {
		after = prefix
	}
	for r := range t.RowsFrom(tb, prefix, after) {
		if len(after) > 0 && bytes.Equal(r.Key, after) {
			continue
		}
		if len(page) == most {
			return page, page[len(page)-1]
		}
		page = append(page, bytes.Clone(r.Key))
	}
	return page, nil
}

// LastNumber is the u64 at the end of the last key under prefix; 0 when there is none.
func (t *Tx) LastNumber(tb *Table, prefix []byte) (uint64, error) {
	k, _ := seekBefore(t.cursor(tb), key.Next(prefix))
	if k == nil || !bytes.HasPrefix(k, prefix) {
		return 0, nil
	}
	read := key.Read(k[len(prefix):])
	n := read.Uint64()
	if err := read.Done(); err != nil {
		return 0, tb.Corrupt(k, err)
	}
	return n, nil
}

// count adds n to a counter. What it counts, Check recounts.
func (t *Tx) count(name string, n int) error {
	k := []byte(name)
	old, _, err := t.Number(Counters, k)
	if err != nil {
		return err
	}
	if n < 0 && old < uint64(-n) {
		return fmt.Errorf("counter %s would fall below zero: %w", name, engine.ErrBroken)
	}
	if !slices.Contains(t.Counted, name) {
		t.Counted = append(t.Counted, name)
	}
	return t.PutNumber(Counters, k, old+uint64(n))
}

// Going backwards through a table from which this transaction has deleted: bbolt (1.5.0) leaves the
// pages that were emptied where they are until the commit, and its Last and Prev do not expect such
// pages.

// seekBefore moves c to the last key that is before k; nil k = the last of all. Nil when there is
// none.
func seekBefore(c *bolt.Cursor, k []byte) (at, v []byte) {
	if k == nil {
		return last(c)
	}
	if at, _ := c.Seek(k); at == nil {
		return last(c)
	}
	return prev(c, k)
}

// last moves c to the last key. Among nothing but emptied pages bbolt's Last looks for the last key
// for ever.
func last(c *bolt.Cursor) (at, v []byte) {
	if first, _ := c.First(); first == nil {
		return nil, nil
	}
	return c.Last()
}

// prev moves c, which stands at k, one key back. On an emptied page bbolt's Prev gives none though
// there are keys before it: the next Prev goes on from there.
func prev(c *bolt.Cursor, k []byte) (at, v []byte) {
	if at, v = c.Prev(); at != nil {
		return at, v
	}
	if first, _ := c.Bucket().Cursor().First(); first == nil || bytes.Compare(first, k) >= 0 {
		return nil, nil
	}
	for at == nil {
		at, v = c.Prev()
	}
	return at, v
}

// arenaChunk holds the keys and records of an ordinary group.
const arenaChunk = 256 << 10

// arena gives out memory that lasts until the next reset: bbolt keeps the values that it is given
// until the transaction ends, and copies the keys. A nil arena gives memory from the heap.
type arena struct{ rest, chunk []byte }

// alloc gives an empty slice with room for n bytes; an append beyond that moves to the heap.
func (a *arena) alloc(n int) []byte {
	if a == nil || n > arenaChunk/8 {
		return make([]byte, 0, n)
	}
	if n > len(a.rest) {
		a.chunk = make([]byte, arenaChunk)
		a.rest = a.chunk
	}
	b := a.rest[:0:n]
	a.rest = a.rest[n:]
	return b
}

// reset takes everything back. Nobody may hold any of it.
func (a *arena) reset() { a.rest = a.chunk }

// Memory is what a committer's transactions use one after the other, so that a row costs as little
// memory as it may.
type Memory struct {
	mem     arena
	draft   []byte
	log     []byte
	buckets []*bolt.Bucket
	cursors []*bolt.Cursor
}

// NewMemory is that of one file: a transaction uses it at a time.
func NewMemory() *Memory {
	return &Memory{buckets: make([]*bolt.Bucket, len(Tables)), cursors: make([]*bolt.Cursor, len(Tables))}
}

// Begin gives a transaction what the one before it used. That one must have ended.
func (m *Memory) Begin(b *bolt.Tx, now time.Time) Tx {
	m.mem.reset()
	clear(m.buckets)
	clear(m.cursors)
	return Tx{
		Bolt: b, Now: now, writable: b.Writable(),
		mem: &m.mem, draft: m.draft, log: m.log[:0], buckets: m.buckets, cursors: m.cursors,
	}
}

// Keep takes over, after the commit of t, the memory that t has made.
func (m *Memory) Keep(t *Tx) { m.draft, m.log = t.draft, t.log }

// Alloc gives an empty slice with room for n bytes that lasts as long as the transaction.
func (t *Tx) Alloc(n int) []byte { return t.mem.alloc(n) }

// NumberKey is the key of one number, for this transaction only.
func (t *Tx) NumberKey(n uint64) []byte { return key.AppendUint64(t.Alloc(8), n) }
