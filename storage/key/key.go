// Package key builds and reads order-preserving keys: comparing two encoded keys byte by byte gives
// the same answer as comparing the tuples they were made of, element by element.
//
// An encoded element never runs into its neighbour: numbers and times have a fixed width and
// strings carry a terminator that cannot occur inside them. So different tuples of the same shape
// never share a key, whatever the text in them is, and a prefix of elements is a prefix of the key.
package key

import (
	"bytes"
	"encoding/binary"
	"errors"
	"fmt"
	"strconv"
	"strings"
	"time"
)

// errMalformed is wrapped by every error of a Reader: the bytes are no key of the expected shape.
var errMalformed = errors.New("malformed key")

// A zero byte inside a string is escaped, so that the terminator is the only 0x00 0x01. The
// terminator sorts before every continuation of the string (0x00 0xFF or a byte above zero), which
// keeps "a" before "a\x00" before "ab".
const (
	escape     = 0x00
	escapedNul = 0xFF
	terminator = 0x01
)

const (
	numberWidth = 8
	signBit     = 1 << 63
)

// AppendUint64 appends v in eight big-endian bytes.
func AppendUint64(b []byte, v uint64) []byte { return binary.BigEndian.AppendUint64(b, v) }

// appendInt64 appends v in eight bytes that sort negative numbers first.
func appendInt64(b []byte, v int64) []byte { return AppendUint64(b, uint64(v)^signBit) }

// AppendTime appends t as UTC milliseconds since 1970, earliest first. The zone and the monotonic
// reading of t do not matter; what is finer than a millisecond is cut off.
func AppendTime(b []byte, t time.Time) []byte { return appendInt64(b, t.UnixMilli()) }

// appendTimeDesc appends t like AppendTime, latest first.
func appendTimeDesc(b []byte, t time.Time) []byte {
	return AppendUint64(b, ^(uint64(t.UnixMilli()) ^ signBit))
}

// AppendString appends s, escaped and terminated. s may hold any bytes.
func AppendString(b []byte, s string) []byte {
	for {
		i := strings.IndexByte(s, escape)
		if i < 0 {
			break
		}
		b = append(append(b, s[:i]...), escape, escapedNul)
		s = s[i+1:]
	}
	return append(append(b, s...), escape, terminator)
}

// Strings returns the key of a tuple of strings, for example of a job's unique key.
func Strings(parts ...string) []byte {
	var b []byte
	for _, p := range parts {
		b = AppendString(b, p)
	}
	return b
}

// Uint64 returns the key of one number.
func Uint64(v uint64) []byte { return AppendUint64(nil, v) }

// A Reader takes a key apart, element by element and in the order it was built. The first fault
// sticks; elements read after it are zero. Ask Done at the end.
type Reader struct {
	rest []byte
	err  error
}

// Read returns a Reader of k. The Reader does not change k and keeps nothing of it: strings are
// copied.
func Read(k []byte) *Reader { return &Reader{rest: k} }

// Uint64 reads what AppendUint64 wrote.
func (r *Reader) Uint64() uint64 {
	if r.err != nil {
		return 0
	}
	if len(r.rest) < numberWidth {
		r.fail("a number needs %d bytes, %d are left", numberWidth, len(r.rest))
		return 0
	}
	v := binary.BigEndian.Uint64(r.rest)
	r.rest = r.rest[numberWidth:]
	return v
}

// Byte reads one byte.
func (r *Reader) Byte() byte {
	if r.err != nil {
		return 0
	}
	if len(r.rest) == 0 {
		r.fail("a byte is missing")
		return 0
	}
	v := r.rest[0]
	r.rest = r.rest[1:]
	return v
}

// Int64 reads what appendInt64 wrote.
func (r *Reader) Int64() int64 {
	v := r.Uint64()
	if r.err != nil {
		return 0
	}
	return int64(v ^ signBit)
}

// Time reads what AppendTime wrote, in UTC; the zero time after a fault.
func (r *Reader) Time() time.Time {
	v := r.Int64()
	if r.err != nil {
		return time.Time{}
	}
	return time.UnixMilli(v).UTC()
}

// TimeDesc reads what appendTimeDesc wrote, in UTC; the zero time after a fault.
func (r *Reader) TimeDesc() time.Time {
	v := r.Uint64()
	if r.err != nil {
		return time.Time{}
	}
	return time.UnixMilli(int64(^v ^ signBit)).UTC()
}

// String reads what AppendString wrote.
func (r *Reader) String() string {
	if r.err != nil {
		return ""
	}
	var s []byte
	for {
		i := bytes.IndexByte(r.rest, escape)
		if i < 0 || i+1 >= len(r.rest) {
			r.fail("a string of %d bytes has no end", len(r.rest))
			return ""
		}
		s = append(s, r.rest[:i]...)
		mark := r.rest[i+1]
		r.rest = r.rest[i+2:]
		switch mark {
		case terminator:
			return string(s)
		case escapedNul:
			s = append(s, escape)
		default:
			r.fail("0x%02X after a zero byte", mark)
			return ""
		}
	}
}

// More reports whether elements are left.
func (r *Reader) More() bool { return r.err == nil && len(r.rest) > 0 }

// Done returns the first fault, or an error when bytes are left that nobody read.
func (r *Reader) Done() error {
	if r.err == nil && len(r.rest) > 0 {
		r.fail("%d bytes too many", len(r.rest))
	}
	return r.err
}

func (r *Reader) fail(format string, args ...any) {
	r.err = fmt.Errorf("%w: %s", errMalformed, fmt.Sprintf(format, args...))
	r.rest = nil
}

// Next returns the smallest key that is greater than every key starting with prefix, for the end of
// a range; nil when there is none (prefix is empty or all 0xFF), which means "to the end of the
// table".
func Next(prefix []byte) []byte {
	for i := len(prefix) - 1; i >= 0; i-- {
		if prefix[i] == 0xFF {
			continue
		}
		next := append([]byte(nil), prefix[:i+1]...)
		next[i]++
		return next
	}
	return nil
}

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

// Parse begins to read the elements of k.
func Parse(k []byte) Coder { return Coder{from: Reader{rest: k}, reading: true} }

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

// A job id is the decimal number of a sequence, led by a letter that tells how many digits
// follow: a7, b12, c812. It is short enough to type and sorts as text in the order of creation.

// JobID is the id of the job with a number.
func JobID(n uint64) string {
	var b [21]byte
	digits := strconv.AppendUint(b[1:1], n, 10)
	b[0] = idLetter(len(digits))
	return string(b[:1+len(digits)])
}

func idLetter(digits int) byte { return 'a' + byte(digits) - 1 }

// JobNumber is the opposite of JobID; ok is false for what no job can be called.
func JobNumber(id string) (n uint64, ok bool) {
	if len(id) < 2 || id[0] != idLetter(len(id)-1) || id[1] == '0' {
		return 0, false
	}
	n, err := strconv.ParseUint(id[1:], 10, 64)
	return n, err == nil
}
