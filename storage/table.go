package storage

import (
	"bytes"
	"errors"
	"fmt"
	"iter"
	"slices"

	bolt "go.etcd.io/bbolt"

	"github.com/farsight-console/farsight/engine"
	"github.com/farsight-console/farsight/storage/internal/disk"
	"github.com/farsight-console/farsight/storage/internal/rec"
	"github.com/farsight-console/farsight/storage/key"
)

// table is one bbolt bucket.
type table struct {
	name    string
	keyed   string // what its keys are made of, for people: "str account, str queue, time"
	says    string // what a row tells, for people
	seed    rec.Seed
	at      int                          // index in tables
	fill    float64                      // how full a split leaves a page; 0 = bbolt's half
	owner   owner                        // whose rows go with their owner
	dropRow func(t *txn, k []byte) error // removes a row with what follows from it; nil = nothing does
	since   uint64                       // schema version that it came with; 0 = that of a migration
}

// tables are all that were declared, as the program starts.
var tables []*table

func newTable(name, keyed, says string) *table {
	tb := &table{name: name, keyed: keyed, says: says, seed: rec.TableSeed(name), at: len(tables)}
	tables = append(tables, tb)
	return tb
}

// owner is what the first element of a table's keys names: with an account that is forgotten, a run or a match that is dropped,
// or a job that is pruned, its rows go.
type owner uint8

const (
	ofAccount owner = 1 << iota // str id
	ofRun                       // str id
	ofMatch                     // str id
	ofJob                       // u64 id
)

// belongs says whose the rows are.
func (tb *table) belongs(to owner) *table {
	tb.owner = to
	return tb
}

// owned are the tables whose rows go with such an owner.
func owned(by owner) (list []*table) {
	for _, tb := range tables {
		if tb.owner&by != 0 {
			list = append(list, tb)
		}
	}
	return list
}

// cameWith says from which schema version on files have the table. One that came with a version of its own needs no migration.
func (tb *table) cameWith(version uint64) *table {
	tb.since = version
	return tb
}

// grows says that rows only ever come at the end.
func (tb *table) grows() *table {
	tb.fill = disk.AppendFill
	return tb
}

// createTables makes the tables that a state file does not have: all of them in a new one.
func createTables(b *bolt.Tx) error {
	for _, tb := range tables {
		if _, err := b.CreateBucketIfNotExists([]byte(tb.name)); err != nil {
			return fmt.Errorf("create table %s: %w", tb.name, err)
		}
	}
	return nil
}

// body checks one value and gives what its record holds.
func (tb *table) body(k, v []byte, format byte) ([]byte, error) {
	f, body, err := tb.seed.Open(k, v)
	if err != nil {
		return nil, tb.corrupt(k, err)
	}
	if f != format {
		return nil, tb.corrupt(k, fmt.Errorf("format %d, want %d", f, format))
	}
	return body, nil
}

func (tb *table) corrupt(k []byte, err error) error {
	return &disk.ErrCorrupt{Bucket: tb.name, Key: bytes.Clone(k), Err: err}
}

// done ends the reading of a record.
func (tb *table) done(k []byte, c *rec.Coder) error {
	if err := c.Done(); err != nil {
		return tb.corrupt(k, err)
	}
	return nil
}

// records is a table whose rows are all of one kind, said once: how a row is read and written, by what it is found and what it
// counts towards. What is saved, dropped and checked follows from that.
type records[T any] struct {
	*table
	format byte
	fields func(c *rec.Coder, v *T) // of the record, in their order
	key    func(c *key.Coder, v *T) // the fields that stand in the key; nil = the value does not tell its key

	indexes []index[T]
	counts  func(v *T) []string // the counters that it counts towards; nil = none

	sound func(c *checker, k []byte, v *T) // names what else is not as it must be; nil = nothing can be
}

// index is a table by whose rows values of another table are found.
type index[T any] struct {
	*table
	rows func(v *T) []entry
	// of gives the key of the value that a row leads to.
	of func(e entry) []byte
	// missing and wrong say for people what is not as it must be: of the value, "is not found by its Riot ID", and of the row.
	missing, wrong string
}

// declared are all tables of records.
var declared []interface{ check(c *checker) }

// formats are the numbers of the shapes of records, which are on disk: each stands for one for ever.
var formats = map[byte]string{
	rec.Marker: "markers", rec.Number: "numbers", rec.Text: "texts", rec.Blob: "blobs", rec.Boot: "meta", rec.Time: "instants",
}

// declare adds a table of records. A changed shape gets a new number and a migration; fields that are added at the end of a
// record do not (rec.Coder.More).
func declare[T any](tb *table, r records[T]) *records[T] {
	if other, taken := formats[r.format]; taken && r.format != rec.Time {
		panic(fmt.Sprintf("format %d of table %s is that of %s", r.format, tb.name, other))
	} else if !taken {
		formats[r.format] = tb.name
	}
	r.table = tb
	if len(r.indexes) > 0 || r.counts != nil {
		tb.dropRow = r.dropAt
	}
	declared = append(declared, &r)
	return &r
}

// decode reads one row.
func (r *records[T]) decode(k, v []byte) (out T, err error) {
	var c coders
	err = r.into(&c, k, v, &out)
	return out, err
}

// coders take a row apart.
type coders struct {
	rec.Coder
	key key.Coder
}

func (r *records[T]) into(c *coders, k, v []byte, out *T) error {
	body, err := r.body(k, v, r.format)
	if err != nil {
		return err
	}
	if r.key != nil {
		c.key = key.Take(k)
		if r.key(&c.key, out); c.key.Done() != nil {
			return r.corrupt(k, c.key.Done())
		}
	}
	c.Coder = rec.Read(body)
	r.fields(&c.Coder, out)
	return r.done(k, &c.Coder)
}

// get reads the row under k; ok is false when there is none.
func (r *records[T]) get(t *txn, k []byte) (out T, ok bool, err error) {
	ok, err = r.add(t, k, &out)
	return out, ok, err
}

// want is get of a row that must be there: engine.ErrNotFound with what was looked for, as `match "EUW1_7"`.
func (r *records[T]) want(t *txn, k []byte, what string, args ...any) (T, error) {
	out, ok, err := r.get(t, k)
	if err == nil && !ok {
		err = fmt.Errorf(what+": %w", append(args, engine.ErrNotFound)...)
	}
	return out, err
}

// add sets the fields of the row under k; ok is false when there is none.
func (r *records[T]) add(t *txn, k []byte, out *T) (ok bool, err error) {
	v := t.value(r.table, k)
	if v == nil {
		return false, nil
	}
	err = r.into(&t.coder, k, v, out)
	return err == nil, err
}

// put stores a row under k, and nothing else: see save.
func (r *records[T]) put(t *txn, k []byte, v *T) error {
	c := t.record(r.format)
	r.fields(c, v)
	return t.put(r.table, k, c)
}

// same reports whether v is what is stored under k.
func (r *records[T]) same(t *txn, k []byte, v *T) bool {
	c := rec.Write(nil, r.format)
	r.fields(&c, v)
	sealed, err := r.seed.Seal(k, &c)
	return err == nil && bytes.Equal(t.value(r.table, k), sealed)
}

// keyOf is the key of a value.
func (r *records[T]) keyOf(v *T) []byte {
	c := key.Build(nil)
	r.key(&c, v)
	return c.Key()
}

// under iterates the values whose key starts with prefix, in key order. The table must not be changed meanwhile.
func (r *records[T]) under(t *txn, prefix []byte) iter.Seq2[T, error] {
	return r.each(t.rows(r.table, prefix))
}

// from iterates the values from the first key that is not before k on.
func (r *records[T]) from(t *txn, k []byte) iter.Seq2[T, error] {
	return r.each(t.rowsFrom(r.table, nil, k))
}

// back is under backwards, beginning before the key before (nil = at the end).
func (r *records[T]) back(t *txn, prefix, before []byte) iter.Seq2[T, error] {
	return r.each(t.rowsBack(r.table, prefix, before))
}

// all gives the values of an iteration, up to the first that cannot be read.
func all[T any](rows iter.Seq2[T, error]) (list []T, err error) {
	for v, err := range rows {
		if err != nil {
			return nil, err
		}
		list = append(list, v)
	}
	return list, nil
}

// keepLast stores v behind the rows under prefix, which a number ends, and removes the oldest of more than most.
func (r *records[T]) keepLast(t *txn, prefix []byte, most uint64, v *T) error {
	last, err := t.lastNumber(r.table, prefix)
	if err != nil {
		return err
	}
	at := func(n uint64) []byte { return key.AppendUint64(slices.Clip(prefix), n) }
	if err := r.put(t, at(last+1), v); err != nil || last < most {
		return err
	}
	return t.remove(r.table, at(last+1-most))
}

func (r *records[T]) each(rows iter.Seq[row]) iter.Seq2[T, error] {
	return func(yield func(T, error) bool) {
		var c coders
		for at := range rows {
			var v T
			if err := r.into(&c, at.k, at.v, &v); !yield(v, err) {
				return
			}
		}
	}
}

// save stores v under k in place of old (nil = there was none), with its index rows and what it counts towards.
func (r *records[T]) save(t *txn, k []byte, old, v *T) error {
	return errors.Join(r.move(t, old, v), r.put(t, k, v))
}

// drop removes what is stored under k with its index rows, and takes back what it counted.
func (r *records[T]) drop(t *txn, k []byte, old *T) error {
	return errors.Join(r.move(t, old, nil), t.remove(r.table, k))
}

// dropAt is drop of what is stored under k, or of a row that cannot be read.
func (r *records[T]) dropAt(t *txn, k []byte) error {
	old, ok, err := r.get(t, k)
	if err != nil || !ok {
		return t.remove(r.table, k)
	}
	return r.drop(t, k, &old)
}

// move brings the index rows and the counters from old to v; nil = none.
func (r *records[T]) move(t *txn, old, v *T) error {
	var errs []error // most often none
	for i := range r.indexes {
		x := &r.indexes[i]
		was, is := x.entries(old), x.entries(v)
		for _, e := range was {
			if !slices.Contains(is, e) {
				errs = append(errs, t.remove(x.table, []byte(e.k)))
			}
		}
		for _, e := range is {
			if !slices.Contains(was, e) {
				errs = append(errs, t.putEntry(x.table, e))
			}
		}
	}
	was, is := r.counted(old), r.counted(v)
	for _, name := range was {
		if !slices.Contains(is, name) {
			errs = append(errs, t.count(name, -1))
		}
	}
	for _, name := range is {
		if !slices.Contains(was, name) {
			errs = append(errs, t.count(name, 1))
		}
	}
	return errors.Join(errs...)
}

// entry is a row of an index. One with neither a text nor a number is a marker: all is in its key.
type entry struct {
	k, text string
	n       uint64
}

// entries are the rows by which v is found; none of nil.
func (x *index[T]) entries(v *T) []entry {
	if v == nil {
		return nil
	}
	return x.rows(v)
}

// counted are the counters that v counts towards; none of nil.
func (r *records[T]) counted(v *T) []string {
	if v == nil || r.counts == nil {
		return nil
	}
	return r.counts(v)
}

func (t *txn) putEntry(tb *table, e entry) error {
	switch k := []byte(e.k); {
	case e.text != "":
		return t.putText(tb, k, e.text)
	case e.n != 0:
		return t.putNumber(tb, k, e.n)
	default:
		return t.mark(tb, k)
	}
}

// errMissing: an index or a sibling names a row that is not there.
var errMissing = errors.New("a row that belongs to it is missing")
