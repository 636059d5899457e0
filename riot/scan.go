package riot

import (
	"encoding/json"
	"errors"
	"math"
	"strconv"
	"unicode/utf8"
)

// scanner reads JSON in one pass: it checks the grammar of every byte, as json.Valid does, and hands out
// the few fields that are wanted. Written by hand because encoding/json needs several times as long for a
// timeline of half a megabyte of which four fields matter (BenchmarkTimeline prints the ratio).
//
// It is lenient where Riot is not reliable: a value of another type than expected is skipped and reads as
// zero. It is strict on form. The first fault is kept; after it every method returns at once.
type scanner struct {
	buf   []byte
	pos   int
	depth int
	err   error
}

// maxDepth bounds nesting. Riot's payloads nest eight deep.
const maxDepth = 128

var errSyntax = errors.New("is not valid JSON")

// fail ends the scan with a fault of form.
func (s *scanner) fail() { s.refuse(errSyntax) }

// refuse keeps the first fault and moves to the end, so that every loop stops.
func (s *scanner) refuse(err error) {
	if s.err == nil {
		s.err = err
	}
	s.pos = len(s.buf)
}

// peek skips white space and gives the next byte without taking it; 0 at the end.
func (s *scanner) peek() byte {
	for s.pos < len(s.buf) {
		c := s.buf[s.pos]
		if c > ' ' || (c != ' ' && c != '\n' && c != '\r' && c != '\t') {
			return c
		}
		s.pos++
	}
	return 0
}

// expect takes one byte, behind white space.
func (s *scanner) expect(c byte) {
	if s.peek() != c {
		s.fail()
		return
	}
	s.pos++
}

// end checks that nothing follows but white space, and reports the first fault.
func (s *scanner) end() error {
	if s.peek(); s.pos < len(s.buf) {
		s.fail()
	}
	return s.err
}

// object calls member for each key of the object that comes next; member must take the value, by skip or
// any other method. Another type is skipped, and the result is false.
func (s *scanner) object(member func(key []byte)) bool {
	if s.peek() != '{' {
		s.skip()
		return false
	}
	s.open()
	for more := s.first('}'); more; more = s.next('}') {
		key := s.key()
		s.expect(':')
		if s.err != nil {
			return false
		}
		member(key)
	}
	return s.err == nil
}

// array calls element for each element of the array that comes next; element must take it. Another type
// is skipped, and the result is false.
func (s *scanner) array(element func()) bool {
	if s.peek() != '[' {
		s.skip()
		return false
	}
	s.open()
	for more := s.first(']'); more; more = s.next(']') {
		element()
	}
	return s.err == nil
}

// member is a member of an object that is wanted, and where its value goes: a *string, *int64, *bool or *int (as small reads
// it), or a func() that takes the value.
type member struct {
	name string
	into any
}

// members takes the object that comes next, and skips what is not wanted of it. Another type is skipped, and the result is
// false. A member that is there twice counts as it stands the second time.
func (s *scanner) members(wanted ...member) bool {
	return s.object(func(key []byte) {
		for i := range wanted {
			if wanted[i].name == string(key) {
				s.readInto(wanted[i].into)
				return
			}
		}
		s.skip()
	})
}

// readInto reads the value that is next into a place of [member.into]. A place of another type takes
// nothing, which would leave the scan where it was: members are written in this package alone.
func (s *scanner) readInto(into any) {
	switch into := into.(type) {
	case *string:
		*into = s.str()
	case *int64:
		*into = s.integer()
	case *int:
		*into = s.small()
	case *bool:
		*into = s.boolean()
	case func():
		into()
	}
}

// list adds the elements of the array that comes next to all; more than most are refused with fault. element is told how many
// are there before it. Another type is skipped, and the result is false.
func list[T any](s *scanner, all []T, most int, fault error, element func(n int) T) ([]T, bool) {
	isList := s.array(func() {
		if len(all) == most {
			s.refuse(fault)
			return
		}
		all = append(all, element(len(all)))
	})
	return all, isList
}

// skip takes any value, checking its form.
func (s *scanner) skip() {
	switch c := s.peek(); c {
	case '{':
		s.open()
		for more := s.first('}'); more; more = s.next('}') {
			if s.peek() != '"' {
				s.fail()
				return
			}
			s.rawString()
			s.expect(':')
			s.skip()
		}
	case '[':
		s.open()
		for more := s.first(']'); more; more = s.next(']') {
			s.skip()
		}
	case '"':
		s.rawString()
	case 't':
		s.literal("true")
	case 'f':
		s.literal("false")
	case 'n':
		s.literal("null")
	default:
		s.number()
	}
}

// open takes the bracket that is next.
func (s *scanner) open() {
	s.pos++
	if s.depth++; s.depth > maxDepth {
		s.fail()
	}
}

// first reports whether there is an element after the opening bracket.
func (s *scanner) first(closing byte) bool {
	if s.peek() != closing {
		return s.err == nil
	}
	return s.close()
}

// next takes the comma or the closing bracket after an element, and reports whether another follows.
func (s *scanner) next(closing byte) bool {
	switch s.peek() {
	case ',':
		s.pos++
		return s.err == nil
	case closing:
		return s.close()
	}
	s.fail()
	return false
}

// close takes the closing bracket; it is false, for first and next to return.
func (s *scanner) close() bool {
	s.pos++
	s.depth--
	return false
}

// plain marks the bytes that stand for themselves inside a string.
var plain = func() (t [256]bool) {
	for c := range t {
		t[c] = c >= ' ' && c != '"' && c != '\\'
	}
	return t
}()

// rawString takes the string that is next, checked but still escaped and without its quotes.
func (s *scanner) rawString() (raw []byte, escaped bool) {
	start, buf := s.pos+1, s.buf
	for i := start; ; {
		for i < len(buf) && plain[buf[i]] {
			i++
		}
		if i < len(buf) && buf[i] == '"' {
			s.pos = i + 1
			return buf[start:i], escaped
		}
		n := escapeLen(buf[i:])
		if n == 0 {
			s.fail()
			return nil, false
		}
		escaped = true
		i += n
	}
}

// escapeLen is the length of the escape sequence at the start of b; 0 when it is none.
func escapeLen(b []byte) int {
	if len(b) < 2 || b[0] != '\\' {
		return 0
	}
	switch b[1] {
	case '"', '\\', '/', 'b', 'f', 'n', 'r', 't':
		return 2
	case 'u':
		if len(b) >= 6 && isHex(b[2]) && isHex(b[3]) && isHex(b[4]) && isHex(b[5]) {
			return 6
		}
	}
	return 0
}

// isHex reports whether a byte is a hexadecimal digit, in either case.
func isHex(c byte) bool {
	return '0' <= c && c <= '9' || 'a' <= c && c <= 'f' || 'A' <= c && c <= 'F'
}

func isDigit(c byte) bool { return '0' <= c && c <= '9' }

// key takes a member's name.
func (s *scanner) key() []byte {
	if s.peek() != '"' {
		s.fail()
		return nil
	}
	raw, escaped := s.rawString()
	if escaped {
		return []byte(unescape(raw))
	}
	return raw
}

// str takes a string; another type reads as "". Bytes that are not UTF-8 become U+FFFD.
func (s *scanner) str() string {
	if s.peek() != '"' {
		s.skip()
		return ""
	}
	raw, escaped := s.rawString()
	if escaped || !utf8.Valid(raw) {
		return unescape(raw)
	}
	return string(raw)
}

// unescape is the rare path: texts with quotes, backslashes, \u sequences or bytes that are not UTF-8.
func unescape(raw []byte) string {
	quoted := make([]byte, 0, len(raw)+2)
	quoted = append(append(append(quoted, '"'), raw...), '"')
	var text string
	if json.Unmarshal(quoted, &text) != nil { // cannot happen: rawString has checked the form
		return ""
	}
	return text
}

// boolean takes true or false; another type reads as false.
func (s *scanner) boolean() bool {
	yes := s.peek() == 't'
	s.skip()
	return yes && s.err == nil
}

// integer takes a number; another type, and a number beyond int64, reads as 0. A fraction is cut.
func (s *scanner) integer() int64 {
	if c := s.peek(); c != '-' && !isDigit(c) {
		s.skip()
		return 0
	}
	text := s.number()
	if n, err := strconv.ParseInt(string(text), 10, 64); err == nil {
		return n
	}
	f, err := strconv.ParseFloat(string(text), 64)
	if err != nil || math.Abs(f) > 1<<62 {
		return 0
	}
	return int64(f)
}

// small takes a number that any int32 holds; others read as 0.
func (s *scanner) small() int {
	n := s.integer()
	if n < math.MinInt32 || n > math.MaxInt32 {
		return 0
	}
	return int(n)
}

// number takes a number, checking its form, and gives its text.
func (s *scanner) number() []byte {
	start, i, buf := s.pos, s.pos, s.buf
	if i < len(buf) && buf[i] == '-' {
		i++
	}
	whole := digits(buf, i)
	if whole == i || (buf[i] == '0' && whole > i+1) {
		s.fail()
		return nil
	}
	if i = whole; i < len(buf) && buf[i] == '.' {
		i++
		end := digits(buf, i)
		if end == i {
			s.fail()
			return nil
		}
		i = end
	}
	if i < len(buf) && (buf[i] == 'e' || buf[i] == 'E') {
		i++
		if i < len(buf) && (buf[i] == '+' || buf[i] == '-') {
			i++
		}
		end := digits(buf, i)
		if end == i {
			s.fail()
			return nil
		}
		i = end
	}
	s.pos = i
	return buf[start:i]
}

// digits is the position after the digits that start at i.
func digits(buf []byte, i int) int {
	for i < len(buf) && isDigit(buf[i]) {
		i++
	}
	return i
}

// literal takes true, false or null.
func (s *scanner) literal(word string) {
	if len(s.buf)-s.pos < len(word) || string(s.buf[s.pos:s.pos+len(word)]) != word {
		s.fail()
		return
	}
	s.pos += len(word)
}
