package collection

import (
	"bytes"
	"errors"
	"fmt"
	"iter"
	"slices"

	"github.com/farsight-console/farsight/engine"
	"github.com/farsight-console/farsight/storage/internal/rec"
	"github.com/farsight-console/farsight/storage/key"
)

// Records is a table whose rows are all of one kind: how a row is read and written, by what it is
// found and what it counts towards. What is saved, dropped and checked follows from that.
type Records[T any] struct {
	*Table
	Format byte
	Fields func(c *rec.Coder, v *T) // of the record, in their order
	Key    func(c *key.Coder, v *T) // the fields that stand in the key; nil = the value does not tell its key

	Indexes []Index[T]
	Counts  func(v *T) []string // names of the counters that it counts towards; nil = none
}

// declared are all tables of records.
var declared []interface{ check(c *Checker) }

// formats are the numbers of the shapes of records, which are on disk: each stands for one for
// ever.
var formats = map[byte]string{
	rec.Marker: "markers", rec.Number: "numbers", rec.Text: "texts", rec.Blob: "blobs", rec.Boot: "meta", rec.Time: "instants",
}

// Declare adds a table of records. A changed shape gets a new number and a migration; fields that
// are added at the end of a record do not (rec.Coder.More).
func Declare[T any](tb *Table, r Records[T]) *Records[T] {
	if other, taken := formats[r.Format]; taken && r.Format != rec.Time {
		panic(fmt.Sprintf("format %d of table %s is that of %s", r.Format, tb.Name, other))
	} else if !taken {
		formats[r.Format] = tb.Name
	}
	r.Table = tb
	if len(r.Indexes) > 0 || r.Counts != nil {
		tb.dropRow = r.dropAt
	}
	declared = append(declared, &r)
	return &r
}

// Decode reads one row.
func (r *Records[T]) Decode(k, v []byte) (out T, err error) {
	var c coders
	err = r.into(&c, k, v, &out)
	return out, err
}

// coders take a row apart, or make one. A transaction has one pair, and an iteration another:
// reading many rows costs no memory for each.
type coders struct {
	rec.Coder
	key key.Coder
}

func (r *Records[T]) into(c *coders, k, v []byte, out *T) error {
	body, err := r.body(k, v, r.Format)
	if err != nil {
		return err
	}
	if r.Key != nil {
		c.key = key.Parse(k)
		if r.Key(&c.key, out); c.key.Done() != nil {
			return r.Corrupt(k, c.key.Done())
		}
	}
	return read(&c.Coder, r.Table, k, body, r.Fields, out)
}

// Get reads the row under k; ok is false when there is none.
func (r *Records[T]) Get(h Holder, k []byte) (out T, ok bool, err error) {
	ok, err = r.Add(h, k, &out)
	return out, ok, err
}

// Want is Get of a row that must be there: engine.ErrNotFound with what was looked for, as `match
// "EUW1_7"`.
func (r *Records[T]) Want(h Holder, k []byte, what string, args ...any) (T, error) {
	out, ok, err := r.Get(h, k)
	if err == nil && !ok {
		err = fmt.Errorf(what+": %w", append(args, engine.ErrNotFound)...)
	}
	return out, err
}

// Add sets those fields of out that the row under k has; ok is false when there is none. A value
// that is kept in several tables is read by an Add from each.
func (r *Records[T]) Add(h Holder, k []byte, out *T) (ok bool, err error) {
	t := h.base()
	v := t.Value(r.Table, k)
	if v == nil {
		return false, nil
	}
	err = r.into(&t.coder, k, v, out)
	return err == nil, err
}

// Put stores a row under k, and nothing else: neither index rows nor counters, which Save writes.
func (r *Records[T]) Put(h Holder, k []byte, v *T) error {
	t := h.base()
	c := t.record(r.Format)
	r.Fields(c, v)
	return t.putRecord(r.Table, k, c)
}

// Same reports whether v is what is stored under k.
func (r *Records[T]) Same(h Holder, k []byte, v *T) bool {
	c := rec.Write(nil, r.Format)
	r.Fields(&c, v)
	sealed, err := r.seed.Seal(k, &c)
	return err == nil && bytes.Equal(h.base().Value(r.Table, k), sealed)
}

// KeyOf is the key of a value.
func (r *Records[T]) KeyOf(v *T) []byte {
	c := key.Build(nil)
	r.Key(&c, v)
	return c.Key()
}

// Under iterates the values whose key starts with prefix, in key order; all of them where it is
// nil. One that cannot be read comes with its error, and the iteration goes on. The table must not
// be changed meanwhile.
func (r *Records[T]) Under(h Holder, prefix []byte) iter.Seq2[T, error] {
	return r.each(h.base().Rows(r.Table, prefix))
}

// From iterates the values from the first key that is not before k on.
func (r *Records[T]) From(h Holder, k []byte) iter.Seq2[T, error] {
	return r.each(h.base().RowsFrom(r.Table, nil, k))
}

// Back is Under backwards, beginning before the key before (nil = at the end).
func (r *Records[T]) Back(h Holder, prefix, before []byte) iter.Seq2[T, error] {
	return r.each(h.base().RowsBack(r.Table, prefix, before))
}

func (r *Records[T]) each(rows iter.Seq[Row]) iter.Seq2[T, error] {
	return func(yield func(T, error) bool) {
		var c coders
		for at := range rows {
			var v T
			if err := r.into(&c, at.Key, at.Value, &v); !yield(v, err) {
				return
			}
		}
	}
}

// All gives the values of an iteration, up to the first that cannot be read.
func All[T any](rows iter.Seq2[T, error]) (list []T, err error) {
	for v, err := range rows {
		if err != nil {
			return nil, err
		}
		list = append(list, v)
	}
	return list, nil
}

// KeepLast stores v behind the rows under prefix, which a number ends, and removes the oldest of
// more than most.
func (r *Records[T]) KeepLast(h Holder, prefix []byte, most uint64, v *T) error {
	t := h.base()
	last, err := t.LastNumber(r.Table, prefix)
	if err != nil {
		return err
	}
	at := func(n uint64) []byte { return key.AppendUint64(slices.Clip(prefix), n) }
	if err := r.Put(t, at(last+1), v); err != nil || last < most {
		return err
	}
	return t.Remove(r.Table, at(last+1-most))
}

// Save stores v under k in place of old (nil = there was none), with its index rows and what it
// counts towards.
func (r *Records[T]) Save(h Holder, k []byte, old, v *T) error {
	return errors.Join(r.move(h.base(), old, v), r.Put(h, k, v))
}

// Drop removes what is stored under k with its index rows, and takes back what it counted. old is
// what is stored.
func (r *Records[T]) Drop(h Holder, k []byte, old *T) error {
	return errors.Join(r.move(h.base(), old, nil), h.base().Remove(r.Table, k))
}

// dropAt is Drop of what is stored under k, or of a row that cannot be read.
func (r *Records[T]) dropAt(t *Tx, k []byte) error {
	old, ok, err := r.Get(t, k)
	if err != nil || !ok {
		return t.Remove(r.Table, k)
	}
	return r.Drop(t, k, &old)
}
