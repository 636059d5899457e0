package riot

import (
	"fmt"
	"math"
	"slices"
	"strconv"
	"strings"
)

// Type is what a picked value is.
type Type uint8

// Types of values.
const (
	Null Type = iota // there is none: the member is absent, null or of another type
	Text             // never empty
	Int              // fits into 32 bits
	ID               // an Int above 0: Riot writes 0 or -1 where there is none
	Float
	Bool
	Instant // Unix milliseconds above 0, within the years of four digits
	Ints    // a list of IDs
)

// String is the type's word in docs/data.md.
func (t Type) String() string {
	return [...]string{"null", "text", "int", "id", "float", "bool", "time", "list of ids"}[t]
}

// Value is one member of a payload.
type Value struct {
	Type Type
	Num  int64  // Int, ID, Instant; 1 for true; the bits of a Float
	Text string // Ints are separated by commas
}

// Pick is a member that is wanted, by its path below a row:
//
//	"championId"                        a member
//	"perks.styles.0.selections.1.perk"  of objects and lists within the row; * is any of their members
//	"participantId|killerId"            whichever is there
//	"allInPings+baitPings"              the sum of those that are there
//	"^timestamp"                        of the object that encloses the list of rows, for each of them
type Pick struct {
	Path string
	Type Type
}

// Picker reads the same members of all objects of one kind in a payload. It may be used by several goroutines.
type Picker struct {
	root  pickNode
	width int
}

// pickNode is what is wanted below one value of a payload.
type pickNode struct {
	names []string    // of members, or indexes of elements
	below []*pickNode // in the order of names
	any   *pickNode   // what every other member or element is

	row    bool       // each value here is a row
	shared []int      // columns of what encloses rows, which each of them gets
	leaves []pickLeaf // where the value goes
}

// pickLeaf is a column that a value goes to.
type pickLeaf struct {
	column int
	kind   Type
	sum    bool
	list   bool // the values of several elements are one list
}

// NewPicker makes a reader of the rows at a path, such as "info.participants.*".
func NewPicker(rows string, picks []Pick) *Picker {
	p := &Picker{width: len(picks)}
	row := p.root.at(rows)
	row.row = true
	outer := rows[:strings.LastIndex(rows[:len(rows)-1], "*")+1]
	for i, pick := range picks { // one without a path is for its caller to fill in
		for _, path := range strings.FieldsFunc(pick.Path, func(r rune) bool { return r == '|' || r == '+' }) {
			from := row
			if up, ok := strings.CutPrefix(path, "^"); ok {
				from, path = p.root.at(outer), up
				from.shared = append(from.shared, i)
			}
			leaf := from.at(path)
			leaf.leaves = append(leaf.leaves, pickLeaf{
				column: i, kind: pick.Type, sum: strings.Contains(pick.Path, "+"),
				list: pick.Type == Ints && strings.Contains(path, "*"),
			})
		}
	}
	return p
}

// at is the node of a path below n; it is made where there is none yet.
func (n *pickNode) at(path string) *pickNode {
	for name := range strings.SplitSeq(path, ".") {
		next := n.any
		if i := slices.Index(n.names, name); i >= 0 {
			next = n.below[i]
		}
		switch {
		case next != nil:
		case name == "*":
			n.any = &pickNode{}
			next = n.any
		default:
			next = &pickNode{}
			n.names, n.below = append(n.names, name), append(n.below, next)
		}
		n = next
	}
	return n
}

// find is the node of a member; nil = nothing is wanted of it.
func (n *pickNode) find(name []byte) *pickNode {
	for i := range n.names {
		if n.names[i] == string(name) {
			return n.below[i]
		}
	}
	return n.any
}

// mostRows bounds the rows of a payload. An hour of sixteen players has 3,000 events; a hostile body of 8 MiB millions.
const mostRows = 20_000

var errRows = fmt.Errorf("lists more than %d things of a kind", mostRows)

// Pick appends the rows of a payload to values, one for each Pick in every row, in Riot's order. The error completes
// "the answer …": the text is no JSON.
func (p *Picker) Pick(raw []byte, values []Value) ([]Value, error) {
	s := pickScan{scanner: scanner{buf: raw}, width: p.width, values: values, outer: make([]Value, p.width)}
	s.walk(&p.root)
	return s.values, s.end()
}

// pickScan is a payload while it is read.
type pickScan struct {
	scanner
	width  int
	values []Value // the rows so far
	row    []Value // the one that is read; nil = none
	outer  []Value // what encloses rows, by column
}

// walk takes the value that is next.
func (s *pickScan) walk(n *pickNode) {
	if n == nil {
		s.skip()
		return
	}
	if at := s.pos; len(n.leaves) > 0 {
		for _, leaf := range n.leaves {
			s.pos = at
			s.leaf(leaf)
		}
		return
	}
	if n.row {
		at := len(s.values)
		if at >= mostRows*s.width {
			s.refuse(errRows)
			return
		}
		s.values = append(s.values, make([]Value, s.width)...)
		s.row = s.values[at:]
		defer func() { s.row = nil }()
	}
	first := len(s.values)
	for _, column := range n.shared {
		s.outer[column] = Value{}
	}
	switch s.peek() {
	case '{':
		s.object(func(key []byte) { s.walk(n.find(key)) })
	case '[':
		i := 0
		s.array(func() {
			var name [4]byte
			s.walk(n.find(strconv.AppendInt(name[:0], int64(i), 10)))
			i++
		})
	default:
		s.skip()
	}
	// What encloses rows may stand behind them.
	for ; len(n.shared) > 0 && first < len(s.values); first += s.width {
		for _, column := range n.shared {
			s.values[first+column] = s.outer[column]
		}
	}
}

// leaf takes a value that is wanted. One of another type is none.
func (s *pickScan) leaf(n pickLeaf) {
	into := s.row
	if into == nil {
		into = s.outer
	}
	v := &into[n.column]
	got := s.value(n.kind, n.list)
	switch {
	case n.list && got.Type == ID:
		v.add(got)
	case n.list:
	case n.sum && v.Type == Int && got.Type == Int:
		if v.Num += got.Num; v.Num > math.MaxInt32 { // PostgreSQL would refuse the whole match
			*v = Value{}
		}
	case got.Type != Null:
		*v = got
	}
}

// add appends to Ints.
func (v *Value) add(n Value) {
	if v.Type == Ints && v.Text != "" {
		v.Text += ","
	}
	v.Type, v.Text = Ints, v.Text+strconv.FormatInt(n.Num, 10)
}

// value takes the value that is next, as of a type.
func (s *pickScan) value(kind Type, listed bool) Value {
	if listed {
		kind = ID
	}
	c := s.peek()
	switch {
	case kind == Text && c == '"':
		if text := s.str(); text != "" {
			return Value{Type: Text, Text: text}
		}
		return Value{}
	case kind == Bool && (c == 't' || c == 'f'):
		v := Value{Type: Bool}
		if s.boolean() {
			v.Num = 1
		}
		return v
	case kind == Ints && c == '[':
		v := Value{Type: Ints}
		s.array(func() {
			if n := s.value(ID, false); n.Type == ID {
				v.add(n)
			}
		})
		return v
	case c != '-' && !isDigit(c) || kind == Text || kind == Bool || kind == Ints:
		s.skip()
		return Value{}
	}
	return number(s.number(), kind)
}

// number reads the text of a number as of a type. One that the type cannot hold is none.
func number(text []byte, kind Type) Value {
	n, whole := short(text)
	if !whole {
		f, err := strconv.ParseFloat(string(text), 64)
		if err != nil {
			return Value{}
		}
		if kind == Float {
			return Value{Type: Float, Num: int64(math.Float64bits(f))}
		}
		if math.Abs(f) > 1<<62 {
			return Value{}
		}
		n = int64(f)
	}
	switch {
	case kind == Float:
		return Value{Type: Float, Num: int64(math.Float64bits(float64(n)))}
	case kind == Instant && n > 0 && n <= lastInstant,
		kind == Int && n >= math.MinInt32 && n <= math.MaxInt32,
		kind == ID && n > 0 && n <= math.MaxInt32:
		return Value{Type: kind, Num: n}
	}
	return Value{}
}

// short reads a whole number of at most 18 digits, of which Riot has hardly any other.
func short(text []byte) (n int64, ok bool) {
	digits := text
	if len(text) > 0 && text[0] == '-' {
		digits = text[1:]
	}
	if len(digits) == 0 || len(digits) > 18 {
		return 0, false
	}
	for _, c := range digits {
		if !isDigit(c) {
			return 0, false
		}
		n = n*10 + int64(c-'0')
	}
	if len(digits) < len(text) {
		n = -n
	}
	return n, true
}

// ParseMatch reads Riot's JSON of a match; the error completes "the answer …".
func ParseMatch(raw []byte, id string) (Match, error) { return scanMatch(raw, id) }
