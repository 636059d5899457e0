package storage

import (
	"context"
	"slices"

	"github.com/farsight-console/farsight/storage/internal/both"
	"github.com/farsight-console/farsight/storage/internal/disk"
	"github.com/farsight-console/farsight/storage/internal/payload"
	"github.com/farsight-console/farsight/storage/internal/rec"
)

// checker goes through the whole store in one transaction.
type checker struct {
	*txn
	ctx      context.Context
	payloads *payload.Store
	report   *CheckReport
	counts   map[string]int // what the rows say of the counters
	unsure   bool           // a row that counts cannot be read: nobody knows what the counters should be
}

// Finding is one thing that is not as it must be, and CheckReport what Check found.
type (
	Finding     = both.Finding
	CheckReport = both.CheckReport
)

func (c *checker) bad(tb string, k []byte, format string, args ...any) {
	c.report.Bad(tb, payload.ShowKey(k), format, args...)
}

// check reads every row of the table, and every row of its indexes in both directions.
func (r *records[T]) check(c *checker) {
	for at := range c.rows(r.table, nil) {
		v, err := r.decode(at.k, at.v)
		if err != nil {
			c.unsure = c.unsure || r.counts != nil
			if _, _, unsealed := r.seed.Open(at.k, at.v); unsealed == nil { // else named by sums
				c.badRecord(err)
			}
			continue
		}
		for _, name := range r.counted(&v) {
			c.counts[name]++
		}
		for i := range r.indexes {
			r.indexes[i].checkValue(c, r.name, at.k, &v)
		}
		if r.sound != nil {
			r.sound(c, at.k, &v)
		}
	}
	for i := range r.indexes {
		r.checkIndex(c, &r.indexes[i])
	}
}

// badRecord lists a record whose shape does not hold.
func (c *checker) badRecord(err error) {
	if e, ok := disk.AsCorrupt(err); ok {
		c.bad(e.Bucket, e.Key, "%v", e.Err)
	}
}

// checkValue checks that a value is found by its index rows.
func (x *index[T]) checkValue(c *checker, of string, k []byte, v *T) {
	for _, want := range x.entries(v) {
		if have, err := c.entry(x.table, []byte(want.k)); err == nil && have != want {
			c.bad(of, k, "%s", x.missing)
		}
	}
}

// checkIndex checks that every row of an index leads to a value that has it.
func (r *records[T]) checkIndex(c *checker, x *index[T]) {
	for at := range c.rows(x.table, nil) {
		have, err := c.entry(x.table, at.k)
		if err != nil {
			continue // named by sums
		}
		v, ok, err := r.get(c.txn, x.of(have))
		if err == nil && (!ok || !slices.Contains(x.entries(&v), have)) {
			c.bad(x.name, at.k, "%s", x.wrong)
		}
	}
}

// entry is the index row under k; the zero entry when there is none.
func (t *txn) entry(tb *table, k []byte) (e entry, err error) {
	v := t.value(tb, k)
	if v == nil {
		return e, nil
	}
	switch e.k = string(k); first(v) {
	case rec.Text:
		e.text, _, err = t.text(tb, k)
	case rec.Number:
		e.n, _, err = t.number(tb, k)
	default:
		_, err = tb.body(k, v, rec.Marker)
	}
	return e, err
}

// first is the format of a record, whatever else it is.
func first(v []byte) byte {
	if len(v) == 0 {
		return 0
	}
	return v[0]
}

// recount compares every counter with the rows.
func (c *checker) recount() {
	if c.unsure {
		return
	}
	for r := range c.rows(tCounters, nil) {
		c.counts[string(r.k)] += 0
	}
	for name, want := range c.counts {
		stored, _, err := c.number(tCounters, []byte(name))
		if err == nil && int(stored) != want {
			c.bad(tCounters.name, []byte(name), "says %d, the rows say %d", stored, want)
		}
	}
}
