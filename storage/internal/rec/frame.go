// Package rec frames and encodes the records of the store.
//
// A record on disk is one format byte, a body and four bytes of CRC-32C. bbolt itself has no
// checksum on data pages: about four in ten flipped bytes pass its own page check unseen. The sum
// also covers the table's name and the key, so that a record that turns up under another key, or in
// another table, is found out as well.
package rec

import (
	"encoding/binary"
	"encoding/json"
	"errors"
	"fmt"
	"hash/crc32"
	"maps"
	"slices"
	"time"
)

const (
	formatSize = 1
	sumSize    = 4
	// overhead is what a frame adds to a body, in bytes.
	overhead = formatSize + sumSize
)

// Formats of records that are not of one table alone. Formats are on disk: each stands for one
// shape for ever.
const (
	Marker byte = 1
	Number byte = 2
	Text   byte = 3
	Blob   byte = 4
	Boot   byte = 5
	Time   byte = 25
)

// Sizes is the format of what the store keeps about itself, numbered apart from the others.
const Sizes byte = 130

// Faults of a frame.
var (
	errShort = errors.New("record is shorter than its frame")
	ErrSum   = errors.New("checksum does not hold")
)

var castagnoli = crc32.MakeTable(crc32.Castagnoli)

// Sum is the CRC-32C of data.
func Sum(data []byte) uint32 { return crc32.Checksum(data, castagnoli) }

// Seed is the part of the sum that all records of a table share.
type Seed uint32

// TableSeed returns the seed of the table called name.
func TableSeed(name string) Seed { return Seed(Sum([]byte(name))) }

// Of is the CRC-32C of data that is stored under key in the seed's table.
func (s Seed) Of(key, data []byte) uint32 {
	return crc32.Update(crc32.Update(uint32(s), castagnoli, key), castagnoli, data)
}

// Seal closes the record that c wrote: the bytes to store under key. c is not used afterwards. The
// error is that of a value that cannot be written as JSON.
func (s Seed) Seal(key []byte, c *Coder) ([]byte, error) {
	return binary.LittleEndian.AppendUint32(c.b, s.Of(key, c.b)), c.err
}

// Open checks the record stored under key and returns its format and body. The body points into
// value.
func (s Seed) Open(key, value []byte) (format byte, body []byte, err error) {
	if len(value) < overhead {
		return 0, nil, errShort
	}
	framed := value[:len(value)-sumSize]
	if s.Of(key, framed) != binary.LittleEndian.Uint32(value[len(framed):]) {
		return 0, nil, ErrSum
	}
	return framed[0], framed[formatSize:], nil
}

// Coder is one record on its way to disk or back. The function that names a record's fields, in the
// order in which they lie there, is the same for both ways: each method writes what its arguments
// point to, or sets them.
//
//	func rank(c *rec.Coder, r *league.Rank) {
//		c.Flags(&r.Unranked, &r.Unsure)
//		c.Str(&r.Tier, &r.Division)
//		c.Int(&r.Points, &r.Wins, &r.Losses)
//	}
//
// Numbers are varints, strings carry their length, times are UTC milliseconds. The first fault of a
// reading sticks and what is read after it is zero: ask Done at the end.
type Coder struct {
	b       []byte // a record that is written: format and body so far
	rest    []byte // a body that is read: what is left
	reading bool
	err     error
}

// Write begins a record of the given format in memory that the caller does not use otherwise; what
// does not fit goes elsewhere.
func Write(buf []byte, format byte) Coder { return Coder{b: append(buf[:0], format)} }

// Read begins to read a body. Strings and bytes are copied, so body may point into a transaction
// that ends.
func Read(body []byte) Coder { return Coder{rest: body, reading: true} }

// ErrBody is wrapped by every error of Done: the checksum held, but the bytes are no record of that
// shape.
var ErrBody = errors.New("record cannot be read")

// Reading reports whether fields are set, not written.
func (c *Coder) Reading() bool { return c.reading }

// Byte is one byte each.
func (c *Coder) Byte(fields ...*byte) {
	for _, f := range fields {
		if !c.reading {
			c.b = append(c.b, *f)
			continue
		}
		*f = 0
		if b := c.next(1); b != nil {
			*f = b[0]
		}
	}
}

// Bool is one byte each, 0 or 1.
func (c *Coder) Bool(fields ...*bool) {
	for _, f := range fields {
		v := byte(0)
		if *f {
			v = 1
		}
		if c.Byte(&v); !c.reading {
			continue
		}
		if *f = v == 1; v > 1 {
			c.fail("%d is no truth value", v)
		}
	}
}

// Flags are at most eight truth values in one byte, the first in its lowest bit.
func (c *Coder) Flags(fields ...*bool) {
	var v byte
	for i, f := range fields {
		if *f {
			v |= 1 << i
		}
	}
	if c.Byte(&v); !c.reading {
		return
	}
	for i, f := range fields {
		*f = v&(1<<i) != 0
	}
}

// Uint is a number of 1 to 10 bytes each.
func (c *Coder) Uint(fields ...*uint64) {
	for _, f := range fields {
		if c.reading {
			*f = c.uvarint()
		} else {
			c.b = binary.AppendUvarint(c.b, *f)
		}
	}
}

// Uint32 is as Uint.
func (c *Coder) Uint32(f *uint32) {
	v := uint64(*f)
	if c.Uint(&v); c.reading {
		*f = uint32(v)
	}
}

// Int is a number of either sign in 1 to 10 bytes each.
func (c *Coder) Int(fields ...*int) {
	for _, f := range fields {
		if c.reading {
			*f = int(unzigzag(c.uvarint()))
		} else {
			c.b = binary.AppendVarint(c.b, int64(*f))
		}
	}
}

// Int64 is as Int.
func (c *Coder) Int64(fields ...*int64) {
	for _, f := range fields {
		if c.reading {
			*f = unzigzag(c.uvarint())
		} else {
			c.b = binary.AppendVarint(c.b, *f)
		}
	}
}

// Str is a string of any bytes each.
func (c *Coder) Str(fields ...*string) {
	for _, f := range fields {
		if c.reading {
			*f = string(c.sized())
			continue
		}
		c.b = binary.AppendUvarint(c.b, uint64(len(*f)))
		c.b = append(c.b, *f...)
	}
}

// Bytes is any bytes, in memory of their own; nil and empty are the same.
func (c *Coder) Bytes(f *[]byte) {
	if c.reading {
		*f = append([]byte(nil), c.sized()...)
		return
	}
	c.b = binary.AppendUvarint(c.b, uint64(len(*f)))
	c.b = append(c.b, *f...)
}

// JSON is what v points to as JSON, for what only people and exports read.
func (c *Coder) JSON(v any) {
	var body []byte
	if !c.reading {
		body, c.err = json.Marshal(v)
	}
	if c.Bytes(&body); c.reading && c.err == nil {
		if err := json.Unmarshal(body, v); err != nil {
			c.fail("%w", err)
		}
	}
}

// Strs is a list of strings; nil and empty are the same.
func (c *Coder) Strs(f *[]string) { List(c, f, 1, func(c *Coder, s *string) { c.Str(s) }) }

// Map is texts by a text, in the order of those.
func (c *Coder) Map(f *map[string]string) {
	names := slices.Sorted(maps.Keys(*f))
	n := c.Count(len(names), 2)
	if c.reading && n > 0 {
		*f = make(map[string]string, n)
	}
	for i := range n {
		var name, text string
		if !c.reading {
			name, text = names[i], (*f)[names[i]]
		}
		if c.Str(&name, &text); c.reading {
			(*f)[name] = text
		}
	}
}

// Time is an instant in UTC milliseconds each, or the zero time.
func (c *Coder) Time(fields ...*time.Time) {
	for _, f := range fields {
		switch {
		case c.reading:
			*f = time.Time{}
			if v := c.uvarint(); v != 0 {
				*f = time.UnixMilli(unzigzag(v - 1)).UTC()
			}
		case f.IsZero():
			c.b = append(c.b, 0)
		default:
			c.b = binary.AppendUvarint(c.b, zigzag(f.UnixMilli())+1)
		}
	}
}

// Dur is a duration in microseconds each; what is finer is cut off.
func (c *Coder) Dur(fields ...*time.Duration) {
	for _, f := range fields {
		if c.reading {
			*f = time.Duration(unzigzag(c.uvarint())) * time.Microsecond
		} else {
			c.b = binary.AppendVarint(c.b, f.Microseconds())
		}
	}
}

// Count is the number of elements of a list whose elements have at least size bytes each: n as it
// is written, or as it is read. One that the rest of the record cannot hold is a fault, so that a
// bad record never asks for much memory.
func (c *Coder) Count(n, size int) int {
	v := uint64(n)
	c.Uint(&v)
	if c.reading && v > uint64(len(c.rest)/size) {
		c.fail("%d elements in %d bytes", v, len(c.rest))
		return 0
	}
	return int(v)
}

// List is a list whose elements have at least size bytes each; nil and empty are the same.
func List[T any](c *Coder, f *[]T, size int, fields func(c *Coder, v *T)) {
	n := c.Count(len(*f), size)
	if c.reading {
		if *f = nil; n > 0 {
			*f = make([]T, n)
		}
	}
	for i := range *f {
		fields(c, &(*f)[i])
	}
}

// More reports whether the fields of a later version follow, which stand at a record's end: when it
// is written, if there is something to say; when it is read, if bytes are left, for a record that
// is older than they are has none.
func (c *Coder) More(say bool) bool {
	if c.reading {
		return c.err == nil && len(c.rest) > 0
	}
	return say
}

// Done returns the first fault, or an error when bytes are left that nobody read.
func (c *Coder) Done() error {
	if c.err == nil && len(c.rest) > 0 {
		c.fail("%d bytes too many", len(c.rest))
	}
	return c.err
}

func zigzag(v int64) uint64   { return uint64(v<<1) ^ uint64(v>>63) }
func unzigzag(v uint64) int64 { return int64(v>>1) ^ -int64(v&1) }

func (c *Coder) uvarint() uint64 {
	if c.err != nil {
		return 0
	}
	v, n := binary.Uvarint(c.rest)
	if n <= 0 {
		c.fail("a number is cut or too long")
		return 0
	}
	c.rest = c.rest[n:]
	return v
}

func (c *Coder) sized() []byte {
	n := c.uvarint()
	if n > uint64(len(c.rest)) {
		c.fail("%d bytes wanted, %d are left", n, len(c.rest))
		return nil
	}
	return c.next(int(n))
}

func (c *Coder) next(n int) []byte {
	if c.err != nil {
		return nil
	}
	if n > len(c.rest) {
		c.fail("%d bytes wanted, %d are left", n, len(c.rest))
		return nil
	}
	b := c.rest[:n]
	c.rest = c.rest[n:]
	return b
}

// fail keeps the first fault. Its text names sizes only: the bytes of a record may be a player's.
func (c *Coder) fail(format string, args ...any) {
	if c.err == nil {
		c.err = fmt.Errorf("%w: "+format, append([]any{ErrBody}, args...)...)
	}
	c.rest = nil
}
