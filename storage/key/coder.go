package key

import "time"

// Coder is one key that is built or taken apart. The function that names the elements of a key, in
// their order, is the same for both: each method appends what its arguments point to, or sets them.
// For example, of where an account stood in a queue:
//
//	func rankKey(c *key.Coder, r *league.Rank) { c.Str(&r.Account, &r.Queue); c.Time(&r.At) }
type Coder struct {
	b       []byte
	from    Reader
	reading bool
}

// Build begins a key in memory that the caller does not use otherwise.
func Build(buf []byte) Coder { return Coder{b: buf[:0]} }

// Take begins to take k apart.
func Take(k []byte) Coder { return Coder{from: Reader{rest: k}, reading: true} }

// Reading reports whether elements are set, not appended.
func (c *Coder) Reading() bool { return c.reading }

// Key is what was built.
func (c *Coder) Key() []byte { return c.b }

// Done is as Reader.Done.
func (c *Coder) Done() error { return c.from.Done() }

// Uint64 is what AppendUint64 writes, for each.
func (c *Coder) Uint64(elements ...*uint64) {
	for _, e := range elements {
		if c.reading {
			*e = c.from.Uint64()
		} else {
			c.b = AppendUint64(c.b, *e)
		}
	}
}

// Byte is one byte, for each.
func (c *Coder) Byte(elements ...*byte) {
	for _, e := range elements {
		if c.reading {
			*e = c.from.Byte()
		} else {
			c.b = append(c.b, *e)
		}
	}
}

// Str is what AppendString writes, for each.
func (c *Coder) Str(elements ...*string) {
	for _, e := range elements {
		if c.reading {
			*e = c.from.String()
		} else {
			c.b = AppendString(c.b, *e)
		}
	}
}

// Rest is a text as it is: the last element of a key, or all of it.
func (c *Coder) Rest(e *string) {
	if !c.reading {
		c.b = append(c.b, *e...)
		return
	}
	*e, c.from.rest = string(c.from.rest), nil
}

// Time is what AppendTime writes.
func (c *Coder) Time(e *time.Time) {
	if c.reading {
		*e = c.from.Time()
	} else {
		c.b = AppendTime(c.b, *e)
	}
}

// TimeDesc is what appendTimeDesc writes.
func (c *Coder) TimeDesc(e *time.Time) {
	if c.reading {
		*e = c.from.TimeDesc()
	} else {
		c.b = appendTimeDesc(c.b, *e)
	}
}
