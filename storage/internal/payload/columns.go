package payload

import (
	"bytes"
	"encoding/binary"
	"errors"
	"fmt"
	"strconv"
)

// The archiver takes JSON apart before it compresses it: what is always the same (braces, keys)
// goes into one stream, the values of each path into a column of their own, and a column of whole
// numbers becomes the differences between neighbours. A timeline tells thousands of numbers that
// change little from frame to frame, in an order that hides it: measured on recorded ones, zstd of
// columns is half of the gzip that Riot sends, zstd alone three quarters.
//
// Nothing is interpreted, so that the bytes come back exactly as they were:
// joinColumns(splitColumns(x)) == x, or splitColumns refuses x.
//
//	length of the skeleton, uvarint | skeleton | per column, in the order of first use: length, uvarint | kind, byte | values
//
// In the skeleton a string value is one ", any other value is one #; keys and white space stand as
// they were. Values of a text column end with a line feed. Those of a number column are zigzag
// varints, each the difference to the one before.
const (
	columnText    = 0
	columnNumbers = 1

	valueEnd = '\n'
	// deepest is how far JSON may nest; Riot's has seven levels.
	deepest = 64
)

// errColumns: the bytes are no JSON that can be taken apart. They are stored whole.
var errColumns = errors.New("not to be taken apart")

// place is a path in JSON: the chain of keys that leads to it. Elements of an array share the path
// of the array.
type place struct {
	kids map[string]*place
	col  *column
}

// Such as all of "timestamp" in a timeline: 0, 60021, 120043 are kept as 0, 60021, 60022.
type column struct {
	kind   byte
	values []byte // on the way back: those that are left
	prev   int64  // on the way back: the last number
}

// kid is the place below one, which is made when it is first met.
func (p *place) kid(key []byte) *place {
	if k := p.kids[string(key)]; k != nil {
		return k
	}
	if p.kids == nil {
		p.kids = map[string]*place{}
	}
	k := new(place)
	p.kids[string(key)] = k
	return k
}

// jsonWalk goes through JSON, or through the skeleton of one, and copies everything but values.
//
// Both ways go through the same rules in the same order, so that values meet their columns again
// without any of them being named.
type jsonWalk struct {
	in    []byte
	at    int
	out   []byte
	limit int // of out
	value func(p *place) error
}

// run goes through one value and what white space is around it.
func (w *jsonWalk) run() error {
	var root place
	w.space()
	if err := w.any(&root, 0); err != nil {
		return err
	}
	w.space()
	if w.at != len(w.in) {
		return errColumns
	}
	return nil
}

// peek is the next byte; 0 at the end, which no rule accepts.
func (w *jsonWalk) peek() byte {
	if w.at < len(w.in) {
		return w.in[w.at]
	}
	return 0
}

// copyBytes copies n bytes.
func (w *jsonWalk) copyBytes(n int) {
	w.out = append(w.out, w.in[w.at:w.at+n]...)
	w.at += n
}

// space copies white space.
func (w *jsonWalk) space() {
	for {
		switch w.peek() {
		case ' ', '\n', '\t', '\r':
			w.copyBytes(1)
		default:
			return
		}
	}
}

// any copies a value, or hands it to w.value.
func (w *jsonWalk) any(p *place, depth int) error {
	if depth > deepest || len(w.out) > w.limit {
		return errColumns
	}
	switch w.peek() {
	case '{':
		return w.list('}', func() error { return w.member(p, depth) })
	case '[':
		return w.list(']', func() error { return w.any(p, depth+1) })
	case 0:
		return errColumns
	}
	return w.value(p)
}

// list copies an object or array.
func (w *jsonWalk) list(end byte, element func() error) error {
	w.copyBytes(1)
	w.space()
	if w.peek() == end {
		w.copyBytes(1)
		return nil
	}
	for {
		if err := element(); err != nil {
			return err
		}
		w.space()
		switch w.peek() {
		case end:
			w.copyBytes(1)
			return nil
		case ',':
			w.copyBytes(1)
			w.space()
		default:
			return errColumns
		}
	}
}

// member copies a key and goes on with its value, one place further down.
func (w *jsonWalk) member(p *place, depth int) error {
	key, err := w.text()
	if err != nil {
		return err
	}
	w.copyBytes(len(key))
	w.space()
	if w.peek() != ':' {
		return errColumns
	}
	w.copyBytes(1)
	w.space()
	return w.any(p.kid(key), depth+1)
}

// text is the string at the present place, quotes and all.
func (w *jsonWalk) text() ([]byte, error) {
	if w.peek() != '"' {
		return nil, errColumns
	}
	for i := w.at + 1; i < len(w.in); i++ {
		switch w.in[i] {
		case '\\':
			i++
		// A string with a raw line feed is no JSON, and would end its value within a column.
		case valueEnd:
			return nil, errColumns
		case '"':
			return w.in[w.at : i+1], nil
		}
	}
	return nil, errColumns
}

// bare is the number or word at the present place.
func (w *jsonWalk) bare() ([]byte, error) {
	i := w.at
	for i < len(w.in) && isBare(w.in[i]) {
		i++
	}
	if i == w.at {
		return nil, errColumns
	}
	return w.in[w.at:i], nil
}

// isBare reports whether a byte may be part of a number, true, false or null. Whether together they
// are one does not matter: they come back as they were.
func isBare(b byte) bool {
	return b >= '0' && b <= '9' || b >= 'a' && b <= 'z' || b >= 'A' && b <= 'Z' || b == '-' || b == '+' || b == '.'
}

// splitColumns takes JSON apart.
func splitColumns(raw []byte) ([]byte, error) {
	var cols []*column
	w := &jsonWalk{in: raw, limit: len(raw)}
	w.value = func(p *place) error {
		if p.col == nil {
			p.col = new(column)
			cols = append(cols, p.col)
		}
		return w.split(p.col)
	}
	if err := w.run(); err != nil {
		return nil, err
	}
	out := binary.AppendUvarint(make([]byte, 0, len(raw)/2), uint64(len(w.out)))
	out = append(out, w.out...)
	for _, c := range cols {
		kind, v := c.pack()
		out = binary.AppendUvarint(out, uint64(len(v)))
		out = append(append(out, kind), v...)
	}
	return out, nil
}

// split moves one value from the JSON to its column.
func (w *jsonWalk) split(c *column) error {
	if w.peek() == '"' {
		s, err := w.text()
		if err != nil {
			return err
		}
		c.values = append(append(c.values, s[1:len(s)-1]...), valueEnd)
		w.out = append(w.out, '"')
		w.at += len(s)
		return nil
	}
	s, err := w.bare()
	if err != nil {
		return err
	}
	c.values = append(append(c.values, s...), valueEnd)
	w.out = append(w.out, '#')
	w.at += len(s)
	return nil
}

// pack makes differences of a column that has whole numbers only, as Go writes them.
// "007" or "1e3" would come back in another form: such a column stays text.
func (c *column) pack() (kind byte, v []byte) {
	var prev int64
	var again [20]byte
	for rest := c.values; len(rest) > 0; {
		s, after, _ := bytes.Cut(rest, []byte{valueEnd})
		n, err := strconv.ParseInt(string(s), 10, 64)
		if err != nil || !bytes.Equal(strconv.AppendInt(again[:0], n, 10), s) {
			return columnText, c.values
		}
		v = binary.AppendVarint(v, n-prev) // wraps around, as it does on the way back
		prev, rest = n, after
	}
	return columnNumbers, v
}

// joinColumns puts JSON of at most size bytes together again.
func joinColumns(b []byte, size int) ([]byte, error) {
	skeleton, rest, err := cutLength(b, 0)
	if err != nil {
		return nil, err
	}
	w := &jsonWalk{in: skeleton, out: make([]byte, 0, size), limit: size}
	w.value = func(p *place) (err error) {
		if p.col == nil {
			var all []byte
			if all, rest, err = cutLength(rest, 1); err != nil {
				return err
			}
			p.col = &column{kind: all[0], values: all[1:]}
		}
		return w.join(p.col)
	}
	if err := w.run(); err != nil {
		return nil, fmt.Errorf("columns: %w", err)
	}
	if len(rest) > 0 {
		return nil, errors.New("columns: more of them than the skeleton names")
	}
	return w.out, nil
}

// cutLength cuts the first piece of b: its length, head bytes, and as many bytes as the length
// says.
func cutLength(b []byte, head int) (piece, rest []byte, err error) {
	n, k := binary.Uvarint(b)
	if k <= 0 || n > uint64(len(b)) || k+head+int(n) > len(b) {
		return nil, nil, errors.New("columns: cut short")
	}
	end := k + head + int(n)
	return b[k:end], b[end:], nil
}

// join puts the next value of a column in the place of its mark.
func (w *jsonWalk) join(c *column) error {
	mark := w.peek()
	if mark != '"' && mark != '#' {
		return errColumns
	}
	w.at++
	if mark == '"' {
		w.out = append(w.out, '"')
	}
	if err := w.next(c); err != nil {
		return err
	}
	if mark == '"' {
		w.out = append(w.out, '"')
	}
	return nil
}

// next appends the next value of a column.
func (w *jsonWalk) next(c *column) error {
	switch c.kind {
	case columnText:
		s, rest, ok := bytes.Cut(c.values, []byte{valueEnd})
		if !ok {
			return errColumns
		}
		w.out, c.values = append(w.out, s...), rest
	case columnNumbers:
		d, n := binary.Varint(c.values)
		if n <= 0 {
			return errColumns
		}
		c.prev += d
		w.out, c.values = strconv.AppendInt(w.out, c.prev, 10), c.values[n:]
	default:
		return errColumns
	}
	return nil
}
