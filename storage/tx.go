package storage

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

// txn is one transaction: a reading one, or the part of a group commit that one Write is. It is an engine.Tx. It must not
// be used after the function that it was given to has returned, nor by another goroutine.
type txn struct {
	b        *bolt.Tx
	writable bool
	now      time.Time // of the whole group, in UTC: the storage edge

	dirty   bool // something was written
	bytes   int  // written so far
	changes []engine.Change
	touched []string           // accounts whose row changed; their rows are made once, before the commit
	days    map[string]*dayRow // what was added to days' sums; written once, before the commit

	counted []string // counters that changed
	region  func(platform string) string
	page    int // rows of a table that a step of a migration goes through

	buckets []*bolt.Bucket // by table.at; filled when first used
	cursors []*bolt.Cursor // by table.at, as buckets: for looking up one row
	last    engine.Job     // the job that was read last: whoever moves a job reads it several times

	// Of the committer's transactions only.
	mem     *arena
	draft   []byte                 // of the record that is written; its memory serves the next one
	coder   coders                 // of the row that is read or written
	live    engine.Job             // the live job that is read
	moved   map[uint64]*engine.Job // jobs that were written: how they run now; nil = they do not
	running map[uint64]*engine.Job // before this transaction
}

var _ engine.Tx = (*txn)(nil)

func newTx(b *bolt.Tx, now time.Time) *txn {
	t := bareTx(b, now)
	t.buckets, t.cursors = make([]*bolt.Bucket, len(tables)), make([]*bolt.Cursor, len(tables))
	return t
}

// bareTx lacks the memory for what it opens.
func bareTx(b *bolt.Tx, now time.Time) *txn {
	return &txn{b: b, writable: b.Writable(), now: now, region: noRegion, page: disk.UsualPages.Migrate}
}

func noRegion(string) string { return "" }

// own gives our transaction back. Another backend's is a programming error.
func own(tx engine.Tx) *txn {
	t, ok := tx.(*txn)
	if !ok {
		panic(fmt.Sprintf("storage: a transaction of type %T is not from this store", tx))
	}
	return t
}

// Emit adds a change that is published after the commit of this transaction, and never if it fails.
func (t *txn) Emit(c engine.Change) { t.changes = append(t.changes, c) }

// touch asks for the account's row to be emitted as it is at the end of the transaction.
func (t *txn) touch(account string) {
	if account != "" && !slices.Contains(t.touched, account) {
		t.touched = append(t.touched, account)
	}
}

func (t *txn) bucket(tb *table) *bolt.Bucket {
	b := t.buckets[tb.at]
	if b == nil {
		b = t.b.Bucket([]byte(tb.name))
		if tb.fill > 0 {
			b.FillPercent = tb.fill
		}
		t.buckets[tb.at] = b
	}
	return b
}

// cursor is for one look-up: the next one of the same table moves it. bbolt's own Get and Delete make one each.
func (t *txn) cursor(tb *table) *bolt.Cursor {
	c := t.cursors[tb.at]
	if c == nil {
		c = t.bucket(tb).Cursor()
		t.cursors[tb.at] = c
	}
	return c
}

// value is the raw value under k; nil when there is none. It is valid until the transaction writes or ends.
func (t *txn) value(tb *table, k []byte) []byte {
	at, v := t.cursor(tb).Seek(k)
	if !bytes.Equal(at, k) {
		return nil
	}
	return v
}

// key is the key of one number, for this transaction only.
func (t *txn) key(n uint64) []byte { return key.AppendUint64(t.mem.take(8), n) }

// record begins a record, to be put before anything else is read or written.
func (t *txn) record(format byte) *rec.Coder {
	t.coder.Coder = rec.Write(t.draft, format)
	return &t.coder.Coder
}

// put stores a record under k.
func (t *txn) put(tb *table, k []byte, c *rec.Coder) error {
	if !t.writable {
		return disk.ErrReadOnly
	}
	draft, err := tb.seed.Seal(k, c)
	if err != nil {
		return fmt.Errorf("write to table %s: %w", tb.name, err)
	}
	if len(draft) < arenaChunk {
		t.draft = draft
	}
	v := append(t.mem.take(len(draft)), draft...)
	t.dirty = true
	t.bytes += len(k) + len(v)
	if err := t.bucket(tb).Put(k, v); err != nil {
		return fmt.Errorf("write to table %s: %w", tb.name, err)
	}
	return nil
}

// mark stores an index row.
func (t *txn) mark(tb *table, k []byte) error { return t.put(tb, k, t.record(rec.Marker)) }

// remove deletes what is under k, if anything is.
func (t *txn) remove(tb *table, k []byte) error {
	if !t.writable {
		return disk.ErrReadOnly
	}
	t.dirty = true
	t.bytes += len(k)
	c := t.cursor(tb)
	if at, _ := c.Seek(k); !bytes.Equal(at, k) {
		return nil
	}
	if err := c.Delete(); err != nil {
		return fmt.Errorf("delete from table %s: %w", tb.name, err)
	}
	return nil
}

// get begins to read the record under k, to be read before anything else is; ok is false when there is none. The record must
// be of the given format.
func (t *txn) get(tb *table, k []byte, format byte) (c *rec.Coder, ok bool, err error) {
	v := t.value(tb, k)
	if v == nil {
		return nil, false, nil
	}
	body, err := tb.body(k, v, format)
	t.coder.Coder = rec.Read(body)
	return &t.coder.Coder, err == nil, err
}

func (t *txn) has(tb *table, k []byte) bool { return t.value(tb, k) != nil }

// row is a raw row of a table. It is valid until the transaction writes or ends.
type row struct{ k, v []byte }

// rows iterates the rows whose key starts with prefix, in key order. The table must not be changed meanwhile: collect
// first, then write.
func (t *txn) rows(tb *table, prefix []byte) iter.Seq[row] {
	return t.rowsFrom(tb, prefix, prefix)
}

// rowsFrom is rows, beginning at the first key that is not before from.
func (t *txn) rowsFrom(tb *table, prefix, from []byte) iter.Seq[row] {
	return func(yield func(row) bool) {
		c := t.bucket(tb).Cursor()
		for k, v := c.Seek(from); k != nil && bytes.HasPrefix(k, prefix); k, v = c.Next() {
			if !yield(row{k, v}) {
				return
			}
		}
	}
}

// rowsBack iterates the rows whose key starts with prefix backwards, beginning before the key before (nil = at the end).
func (t *txn) rowsBack(tb *table, prefix, before []byte) iter.Seq[row] {
	if before == nil {
		before = key.Next(prefix)
	}
	return func(yield func(row) bool) {
		c := t.bucket(tb).Cursor()
		k, v := seekBefore(c, before)
		for ; k != nil && bytes.HasPrefix(k, prefix); k, v = prev(c, k) {
			if !yield(row{k, v}) {
				return
			}
		}
	}
}

// seekBefore moves c to the last key that is before k; nil k = the last of all.
func seekBefore(c *bolt.Cursor, k []byte) ([]byte, []byte) {
	if k == nil {
		return last(c)
	}
	if at, _ := c.Seek(k); at == nil {
		return last(c)
	}
	return prev(c, k)
}

// last moves c to the last key. A transaction that has deleted all rows of several pages leaves these pages empty until it
// is committed, and among nothing but such pages bbolt's Last (1.5.0) looks for the last key for ever.
func last(c *bolt.Cursor) ([]byte, []byte) {
	if first, _ := c.First(); first == nil {
		return nil, nil
	}
	return c.Last()
}

// prev moves c, which stands at k, one key back. On a page that this transaction has emptied bbolt's Prev gives none though
// there are keys before it: the next Prev goes on from there.
func prev(c *bolt.Cursor, k []byte) ([]byte, []byte) {
	at, v := c.Prev()
	if at != nil {
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

// lastNumber is the u64 at the end of the last key under prefix; 0 when there is none.
func (t *txn) lastNumber(tb *table, prefix []byte) (uint64, error) {
	k, _ := seekBefore(t.cursor(tb), key.Next(prefix))
	if k == nil || !bytes.HasPrefix(k, prefix) {
		return 0, nil
	}
	read := key.Read(k[len(prefix):])
	n := read.Uint64()
	if err := read.Done(); err != nil {
		return 0, tb.corrupt(k, err)
	}
	return n, nil
}

// number reads a record that is one number; 0 when there is none.
func (t *txn) number(tb *table, k []byte) (n uint64, ok bool, err error) {
	c, ok, err := t.get(tb, k, rec.Number)
	if !ok {
		return 0, false, err
	}
	c.Uint(&n)
	return n, true, tb.done(k, c)
}

func (t *txn) putNumber(tb *table, k []byte, n uint64) error {
	c := t.record(rec.Number)
	c.Uint(&n)
	return t.put(tb, k, c)
}

// text reads a record that is one text; "" when there is none.
func (t *txn) text(tb *table, k []byte) (s string, ok bool, err error) {
	c, ok, err := t.get(tb, k, rec.Text)
	if !ok {
		return "", false, err
	}
	c.Str(&s)
	return s, true, tb.done(k, c)
}

func (t *txn) putText(tb *table, k []byte, s string) error {
	c := t.record(rec.Text)
	c.Str(&s)
	return t.put(tb, k, c)
}

// instant reads a record that is one instant; the zero time when there is none.
func (t *txn) instant(tb *table, k []byte) (at time.Time, ok bool, err error) {
	c, ok, err := t.get(tb, k, rec.Time)
	if !ok {
		return at, false, err
	}
	c.Time(&at)
	return at, true, tb.done(k, c)
}

func (t *txn) putTime(tb *table, k []byte, at time.Time) error {
	c := t.record(rec.Time)
	c.Time(&at)
	return t.put(tb, k, c)
}

// blob reads a record that is any bytes; nil when there is none.
func (t *txn) blob(tb *table, k []byte) (b []byte, ok bool, err error) {
	c, ok, err := t.get(tb, k, rec.Blob)
	if !ok {
		return nil, false, err
	}
	c.Bytes(&b)
	return b, true, tb.done(k, c)
}

// blobOf reads one value that is any bytes.
func (tb *table) blobOf(k, v []byte) (b []byte, err error) {
	body, err := tb.body(k, v, rec.Blob)
	if err != nil {
		return nil, err
	}
	c := rec.Read(body)
	c.Bytes(&b)
	return b, tb.done(k, &c)
}

func (t *txn) putBlob(tb *table, k, b []byte) error {
	c := t.record(rec.Blob)
	c.Bytes(&b)
	return t.put(tb, k, c)
}

// count adds n to a counter. What it counts, check recounts.
func (t *txn) count(name string, n int) error {
	if n == 0 {
		return nil
	}
	k := []byte(name)
	old, _, err := t.number(tCounters, k)
	if err != nil {
		return err
	}
	if n < 0 && old < uint64(-n) {
		return fmt.Errorf("counter %s would fall below zero: %w", name, engine.ErrBroken)
	}
	return t.setCounter(name, old+uint64(n))
}

func (t *txn) setCounter(name string, n uint64) error {
	if !slices.Contains(t.counted, name) {
		t.counted = append(t.counted, name)
	}
	return t.putNumber(tCounters, []byte(name), n)
}

// dayRow is one UTC day in table days. A job counts on the day it ended, as long as it stays ended: one that is opened again
// is taken back, and counts when it ends the next time. An attempt counts on the day it ended.
//
// pruned is the part of all whose jobs and attempts Prune has removed, so that check can recount the day: all is what is
// there, and pruned.
type dayRow struct{ all, pruned engine.DaySum }

// keysAfter gives the next keys under prefix; last is nil when there are no more behind them.
func (t *txn) keysAfter(tb *table, prefix, after []byte) (page [][]byte, last []byte) {
	if bytes.Compare(after, prefix) < 0 {
		after = prefix
	}
	for r := range t.rowsFrom(tb, prefix, after) {
		if len(after) > 0 && bytes.Equal(r.k, after) {
			continue
		}
		if len(page) == t.page {
			return page, page[len(page)-1]
		}
		page = append(page, bytes.Clone(r.k))
	}
	return page, nil
}

// rowsUnder counts the rows whose key starts with prefix.
func (t *txn) rowsUnder(tb *table, prefix []byte) (n int) {
	for range t.rows(tb, prefix) {
		n++
	}
	return n
}

// removeAll deletes every row under prefix. Keys are collected first: deleting moves a bbolt cursor past rows.
func (t *txn) removeAll(tb *table, prefix []byte) error {
	var keys [][]byte
	for r := range t.rows(tb, prefix) {
		keys = append(keys, bytes.Clone(r.k))
	}
	return t.removeKeys(tb, keys)
}

func (t *txn) removeKeys(tb *table, keys [][]byte) error {
	for _, k := range keys {
		if err := t.removeRow(tb, k); err != nil {
			return err
		}
	}
	return nil
}

// removeRow deletes a row with its index rows, and takes back what it counted.
func (t *txn) removeRow(tb *table, k []byte) error {
	if tb.dropRow != nil {
		return tb.dropRow(t, k)
	}
	return t.remove(tb, k)
}

// removeOwned deletes the rows of one owner in all tables.
func (t *txn) removeOwned(by owner, prefix []byte) error {
	for _, tb := range owned(by) {
		if err := t.removeAll(tb, prefix); err != nil {
			return err
		}
	}
	return nil
}
