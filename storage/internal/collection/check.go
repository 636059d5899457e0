package collection

import (
	"context"
	"slices"

	"github.com/farsight-console/farsight/storage/internal/disk"
)

// Checker compares all rows with what the declarations of their tables say.
type Checker struct {
	tx     *Tx
	bad    func(table string, k []byte, format string, args ...any)
	also   map[*Table]any // func(k []byte, v *T) of the table's T
	counts map[string]int // what the rows say of the counters
	unsure bool           // a row that counts cannot be read: nobody knows what the counters should be
}

// NewChecker checks in one transaction. bad is told of each finding: the table, the key as it is
// stored, and why.
func NewChecker(h Holder, bad func(table string, k []byte, format string, args ...any)) *Checker {
	return &Checker{tx: h.base(), bad: bad, also: map[*Table]any{}, counts: map[string]int{}}
}

// Also has check called for each row of a table that can be read, to name what else is not as it
// must be: what must hold between this table and others.
func Also[T any](c *Checker, r *Records[T], check func(k []byte, v *T)) { c.also[r.Table] = check }

// Sums verifies the checksum of every value, and counts the rows of each table.
func (c *Checker) Sums(ctx context.Context, rows map[string]int) error {
	for _, tb := range Tables {
		for r := range c.tx.Rows(tb, nil) {
			rows[tb.Name]++
			if _, _, err := tb.seed.Open(r.Key, r.Value); err != nil {
				c.bad(tb.Name, r.Key, "%v", err)
			}
		}
		if ctx.Err() != nil {
			return context.Cause(ctx)
		}
	}
	return nil
}

// Declared reads every row of every table of records: its shape, its index rows in both directions,
// what Also has added, and each counter against a recount. A row whose checksum does not hold is
// left to Sums.
func (c *Checker) Declared(ctx context.Context) error {
	for _, r := range declared {
		if r.check(c); ctx.Err() != nil {
			return context.Cause(ctx)
		}
	}
	c.recount()
	return nil
}

// check reads every row of the table, and every row of its indexes.
func (r *Records[T]) check(c *Checker) {
	also, _ := c.also[r.Table].(func(k []byte, v *T))
	for at := range c.tx.Rows(r.Table, nil) {
		v, err := r.Decode(at.Key, at.Value)
		if err != nil {
			c.unsure = c.unsure || r.Counts != nil
			if _, _, unsealed := r.seed.Open(at.Key, at.Value); unsealed == nil { // else named by Sums
				c.BadRecord(err)
			}
			continue
		}
		for _, name := range r.counted(&v) {
			c.counts[name]++
		}
		for i := range r.Indexes {
			r.Indexes[i].checkValue(c, r.Name, at.Key, &v)
		}
		if also != nil {
			also(at.Key, &v)
		}
	}
	for i := range r.Indexes {
		r.checkIndex(c, &r.Indexes[i])
	}
}

// BadRecord is told of a record whose shape does not hold, by the error of reading it; of any other
// error it says nothing.
func (c *Checker) BadRecord(err error) {
	if e, ok := disk.AsCorrupt(err); ok {
		c.bad(e.Bucket, e.Key, "%v", e.Err)
	}
}

// checkValue checks that a value is found by its index rows.
func (x *Index[T]) checkValue(c *Checker, of string, k []byte, v *T) {
	for _, want := range x.entries(v) {
		if have, err := c.tx.entry(x.Table, []byte(want.Key)); err == nil && have != want {
			c.bad(of, k, "%s", x.Missing)
		}
	}
}

// checkIndex checks that every row of an index leads to a value that has it.
func (r *Records[T]) checkIndex(c *Checker, x *Index[T]) {
	for at := range c.tx.Rows(x.Table, nil) {
		have, err := c.tx.entry(x.Table, at.Key)
		if err != nil {
			continue // named by Sums
		}
		v, ok, err := r.Get(c.tx, x.Of(have))
		if err == nil && (!ok || !slices.Contains(x.entries(&v), have)) {
			c.bad(x.Name, at.Key, "%s", x.Wrong)
		}
	}
}

// recount compares every counter with the rows. A counter of which no row is left must be 0.
func (c *Checker) recount() {
	if c.unsure {
		return
	}
	for r := range c.tx.Rows(Counters, nil) {
		c.counts[string(r.Key)] += 0
	}
	for name, want := range c.counts {
		stored, _, err := c.tx.Number(Counters, []byte(name))
		if err == nil && int(stored) != want {
			c.bad(Counters.Name, []byte(name), "says %d, the rows say %d", stored, want)
		}
	}
}
