package collection

import (
	"time"

	"github.com/farsight-console/farsight/storage/internal/rec"
)

// Shape is how one kind of value is written that stands among rows of other kinds, as in a table of
// counters, marks and blobs. A table that has rows of one kind alone is Records.
type Shape[T any] rec.Shape[T]

var (
	numbers  = Shape[uint64](rec.Numbers)
	texts    = Shape[string](rec.Texts)
	instants = Shape[time.Time](rec.Instants)
	blobs    = Shape[[]byte](rec.Blobs)
)

// Get reads the value under k; ok is false when there is none.
func (s Shape[T]) Get(h Holder, tb *Table, k []byte) (v T, ok bool, err error) {
	t := h.base()
	value := t.Value(tb, k)
	if value == nil {
		return v, false, nil
	}
	err = s.into(&t.coder.Coder, tb, k, value, &v)
	return v, err == nil, err
}

// Put stores v under k, in place of what was there.
func (s Shape[T]) Put(h Holder, tb *Table, k []byte, v T) error {
	t := h.base()
	c := t.record(s.Format)
	s.Fields(c, &v)
	return t.putRecord(tb, k, c)
}

func (s Shape[T]) into(c *rec.Coder, tb *Table, k, value []byte, v *T) error {
	body, err := tb.body(k, value, s.Format)
	if err != nil {
		return err
	}
	return read(c, tb, k, body, s.Fields, v)
}

// read takes the body of one record apart.
func read[T any](c *rec.Coder, tb *Table, k, body []byte, fields func(*rec.Coder, *T), v *T) error {
	*c = rec.Read(body)
	if fields(c, v); c.Done() != nil {
		return tb.Corrupt(k, c.Done())
	}
	return nil
}

// Number reads a record that is one number; 0 when there is none.
func (t *Tx) Number(tb *Table, k []byte) (n uint64, ok bool, err error) { return numbers.Get(t, tb, k) }

// PutNumber stores one.
func (t *Tx) PutNumber(tb *Table, k []byte, n uint64) error { return numbers.Put(t, tb, k, n) }

// Text reads a record that is one text; "" when there is none.
func (t *Tx) Text(tb *Table, k []byte) (s string, ok bool, err error) { return texts.Get(t, tb, k) }

// PutText stores one.
func (t *Tx) PutText(tb *Table, k []byte, s string) error { return texts.Put(t, tb, k, s) }

// Instant reads a record that is one instant, in milliseconds; the zero time when there is none.
func (t *Tx) Instant(tb *Table, k []byte) (at time.Time, ok bool, err error) {
	return instants.Get(t, tb, k)
}

// PutInstant stores one.
func (t *Tx) PutInstant(tb *Table, k []byte, at time.Time) error { return instants.Put(t, tb, k, at) }

// Blob reads a record that is any bytes, in memory of their own; nil when there is none.
func (t *Tx) Blob(tb *Table, k []byte) (b []byte, ok bool, err error) { return blobs.Get(t, tb, k) }

// PutBlob stores one.
func (t *Tx) PutBlob(tb *Table, k, b []byte) error { return blobs.Put(t, tb, k, b) }

// BlobOf is Blob of a value that an iteration has given.
func (tb *Table) BlobOf(k, v []byte) (b []byte, err error) {
	var c rec.Coder
	err = blobs.into(&c, tb, k, v, &b)
	return b, err
}

// TextOf is Text of a value that an iteration has given.
func (tb *Table) TextOf(k, v []byte) (s string, err error) {
	var c rec.Coder
	err = texts.into(&c, tb, k, v, &s)
	return s, err
}

// Mark stores a row of which the key says all.
func (t *Tx) Mark(tb *Table, k []byte) error { return t.putRecord(tb, k, t.record(rec.Marker)) }
