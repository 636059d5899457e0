package rec

import (
	"encoding/binary"
	"errors"
	"fmt"
	"time"
)

// Enc builds the body of a record. Numbers are varints, strings carry their length, times are UTC milliseconds.
type Enc struct{ b []byte }

// NewEnc begins a record of the given format; size is a guess of its length in bytes.
func NewEnc(format byte, size int) *Enc {
	return &Enc{append(make([]byte, 0, size+Overhead), format)}
}

// EncIn is NewEnc in memory that the caller gives and does not use otherwise; what does not fit goes elsewhere.
func EncIn(buf []byte, format byte) Enc { return Enc{append(buf[:0], format)} }

// Byte adds one byte.
func (e *Enc) Byte(v byte) { e.b = append(e.b, v) }

// Bool adds one byte.
func (e *Enc) Bool(v bool) {
	if v {
		e.Byte(1)
		return
	}
	e.Byte(0)
}

// Uint adds a number in 1 to 10 bytes.
func (e *Enc) Uint(v uint64) { e.b = binary.AppendUvarint(e.b, v) }

// Int adds a number of either sign in 1 to 10 bytes.
func (e *Enc) Int(v int64) { e.b = binary.AppendVarint(e.b, v) }

// Str adds a string of any bytes.
func (e *Enc) Str(v string) {
	e.Uint(uint64(len(v)))
	e.b = append(e.b, v...)
}

// Bytes adds bytes; nil and empty are the same.
func (e *Enc) Bytes(v []byte) {
	e.Uint(uint64(len(v)))
	e.b = append(e.b, v...)
}

// Strs adds a list of strings; nil and empty are the same.
func (e *Enc) Strs(v []string) {
	e.Uint(uint64(len(v)))
	for _, s := range v {
		e.Str(s)
	}
}

// Time adds an instant in UTC milliseconds, or the zero time.
func (e *Enc) Time(t time.Time) {
	if t.IsZero() {
		e.Byte(0)
		return
	}
	e.Uint(zigzag(t.UnixMilli()) + 1)
}

// Dur adds a duration in microseconds; what is finer is cut off.
func (e *Enc) Dur(d time.Duration) { e.Int(d.Microseconds()) }

// Len is the length of the record so far, format byte included.
func (e *Enc) Len() int { return len(e.b) }

func zigzag(v int64) uint64   { return uint64(v<<1) ^ uint64(v>>63) }
func unzigzag(v uint64) int64 { return int64(v>>1) ^ -int64(v&1) }

// ErrBody is wrapped by every error of a Dec: the checksum held, but the bytes are no record of that shape.
var ErrBody = errors.New("record cannot be read")

// Dec reads the body of a record in the order it was built. The first fault sticks and every later read is zero. Ask
// Done at the end.
type Dec struct {
	rest []byte
	err  error
}

// NewDec reads body. Strings and bytes are copied, so body may point into a transaction that ends.
func NewDec(body []byte) *Dec { return &Dec{rest: body} }

// Byte reads one byte.
func (d *Dec) Byte() byte {
	b := d.take(1)
	if b == nil {
		return 0
	}
	return b[0]
}

// Bool reads one byte that is 0 or 1.
func (d *Dec) Bool() bool {
	v := d.Byte()
	if v > 1 {
		d.fail("%d is no truth value", v)
	}
	return v == 1
}

// Uint reads what Enc.Uint wrote.
func (d *Dec) Uint() uint64 {
	if d.err != nil {
		return 0
	}
	v, n := binary.Uvarint(d.rest)
	if n <= 0 {
		d.fail("a number is cut or too long")
		return 0
	}
	d.rest = d.rest[n:]
	return v
}

// Int reads what Enc.Int wrote.
func (d *Dec) Int() int64 { return unzigzag(d.Uint()) }

// Num reads what Enc.Int wrote, as an int.
func (d *Dec) Num() int { return int(d.Int()) }

// Str reads a string.
func (d *Dec) Str() string { return string(d.sized()) }

// Bytes reads bytes into memory of their own; nil when there are none.
func (d *Dec) Bytes() []byte { return append([]byte(nil), d.sized()...) }

// Strs reads a list of strings; nil when it is empty.
func (d *Dec) Strs() []string {
	n := d.Count(1)
	if n == 0 {
		return nil
	}
	list := make([]string, 0, n)
	for range n {
		list = append(list, d.Str())
	}
	return list
}

// Count reads the number of elements of a list whose elements have at least size bytes each; a number that the rest of
// the record cannot hold is a fault, so that a bad record never asks for much memory.
func (d *Dec) Count(size int) int {
	n := d.Uint()
	if n > uint64(len(d.rest)/size) {
		d.fail("%d elements in %d bytes", n, len(d.rest))
		return 0
	}
	return int(n)
}

// Time reads an instant, in UTC.
func (d *Dec) Time() time.Time {
	v := d.Uint()
	if v == 0 {
		return time.Time{}
	}
	return time.UnixMilli(unzigzag(v - 1)).UTC()
}

// Dur reads a duration.
func (d *Dec) Dur() time.Duration { return time.Duration(d.Int()) * time.Microsecond }

// More reports whether fields are left: those that were added to a record later stand at its end, and a record that is
// older than they are has none.
func (d *Dec) More() bool { return d.err == nil && len(d.rest) > 0 }

// Done returns the first fault, or an error when bytes are left that nobody read.
func (d *Dec) Done() error {
	if d.err == nil && len(d.rest) > 0 {
		d.fail("%d bytes too many", len(d.rest))
	}
	return d.err
}

func (d *Dec) sized() []byte {
	n := d.Uint()
	if n > uint64(len(d.rest)) {
		d.fail("%d bytes wanted, %d are left", n, len(d.rest))
		return nil
	}
	return d.take(int(n))
}

func (d *Dec) take(n int) []byte {
	if d.err != nil {
		return nil
	}
	if n > len(d.rest) {
		d.fail("%d bytes wanted, %d are left", n, len(d.rest))
		return nil
	}
	b := d.rest[:n]
	d.rest = d.rest[n:]
	return b
}

// fail keeps the first fault. Its text names sizes only: the bytes of a record may be a player's.
func (d *Dec) fail(format string, args ...any) {
	if d.err == nil {
		d.err = fmt.Errorf("%w: %s", ErrBody, fmt.Sprintf(format, args...))
	}
	d.rest = nil
}
