package collection

import (
	"errors"
	"slices"

	"github.com/farsight-console/farsight/storage/internal/rec"
)

// Index is a table by whose rows the values of another table are found.
type Index[T any] struct {
	*Table
	// Rows are those by which v is found; none for a value that this index leaves out.
	Rows func(v *T) []Entry
	// Of gives the key of the value that a row leads to. It must take any bytes: Check calls it for
	// damaged rows too.
	Of func(e Entry) []byte
	// Missing is the finding about a value whose row is missing, such as "is not found by its Riot ID";
	// Wrong about a row without such a value, such as "leads to no account of that name".
	Missing, Wrong string
}

// Entry is a row of an index. One with neither a text nor a number is a marker: all is in its key.
type Entry struct {
	Key, Text string
	Number    uint64
}

// entries are the rows by which v is found; none of nil.
func (x *Index[T]) entries(v *T) []Entry {
	if v == nil {
		return nil
	}
	return x.Rows(v)
}

// counted are the counters that v counts towards; none of nil.
func (r *Records[T]) counted(v *T) []string {
	if v == nil || r.Counts == nil {
		return nil
	}
	return r.Counts(v)
}

// move brings the index rows and the counters from old to v; nil = none. What both have is not
// touched: most values that are saved change no index row.
func (r *Records[T]) move(t *Tx, old, v *T) error {
	var err error
	for i := range r.Indexes {
		x := &r.Indexes[i]
		err = errors.Join(err, swap(x.entries(old), x.entries(v),
			func(e Entry) error { return t.Remove(x.Table, []byte(e.Key)) },
			func(e Entry) error { return t.putEntry(x.Table, e) }))
	}
	return errors.Join(err, swap(r.counted(old), r.counted(v),
		func(name string) error { return t.count(name, -1) },
		func(name string) error { return t.count(name, 1) }))
}

// swap lets those that only was has go, and those that only is has come.
func swap[E comparable](was, is []E, gone, come func(E) error) error {
	var errs []error
	for _, e := range was {
		if !slices.Contains(is, e) {
			errs = append(errs, gone(e))
		}
	}
	for _, e := range is {
		if !slices.Contains(was, e) {
			errs = append(errs, come(e))
		}
	}
	return errors.Join(errs...)
}

func (t *Tx) putEntry(tb *Table, e Entry) error {
	switch k := []byte(e.Key); {
	case e.Text != "":
		return t.PutText(tb, k, e.Text)
	case e.Number != 0:
		return t.PutNumber(tb, k, e.Number)
	default:
		return t.Mark(tb, k)
	}
}

// entry is the index row under k; the zero Entry when there is none.
func (t *Tx) entry(tb *Table, k []byte) (e Entry, err error) {
	v := t.Value(tb, k)
	if v == nil {
		return e, nil
	}
	e.Key = string(k)
	var format byte // the first byte of a record, whatever else it is
	if len(v) > 0 {
		format = v[0]
	}
	switch format {
	case rec.Text:
		e.Text, _, err = t.Text(tb, k)
	case rec.Number:
		e.Number, _, err = t.Number(tb, k)
	default:
		err = tb.Check(k, v, rec.Marker)
	}
	return e, err
}

// ErrMissing is that of an index row, or of a record with parts in several tables, which names a
// row that is not there.
var ErrMissing = errors.New("a row that belongs to it is missing")
