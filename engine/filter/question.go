package filter

import (
	"slices"
	"strconv"
	"time"
)

// test is one question about one value. The value is of the field that the test was compiled for. One
// that is not there fits "none" and a lone star, and of the others a text that the empty text fits.
//
// One of its members tells the question; those that are functions must not allocate.
type test struct {
	in   func(s string) bool // asks about a text, or about each of several
	bits uint64              // words of an Enum, of which the row must have one
	ask  func(v Value, now time.Time) bool
	any  bool // it excludes nothing, whatever the others say: a lone star
}

func (t *test) fits(v Value, now time.Time) bool {
	switch {
	case t.any:
		return true
	case t.in != nil && v.list != nil:
		return slices.ContainsFunc(*v.list, t.in)
	case t.in != nil:
		return t.in(v.text)
	case t.bits != 0:
		return v.Has(t.bits)
	}
	return t.ask(v, now)
}

// isNone asks whether there is no value.
func isNone() test { return test{ask: func(v Value, _ time.Time) bool { return !v.set }} }

// ofDigits asks for a number by some of its digits: 5xx.
func ofDigits(g glob) test {
	return test{ask: func(v Value, _ time.Time) bool {
		var buf [20]byte
		digits := strconv.AppendInt(buf[:0], v.n, 10)
		return v.set && g.fits(string(digits))
	}}
}

// inOrder asks for letters in their order. It goes through the text once: of each letter the first
// place is taken, which never loses a fit. letters are folded, and there is at least one.
func inOrder(letters []rune) test {
	return test{in: func(s string) bool {
		n := 0
		for _, r := range s {
			if fold(r) == letters[n] {
				if n++; n == len(letters) {
					return true
				}
			}
		}
		return false
	}}
}

// compared asks for a number, a size or a duration.
func compared(o op, with quantity) test {
	return test{ask: func(v Value, _ time.Time) bool { return v.set && with.holds(o, v.n) }}
}

// holds compares n with the quantity. ":" asks whether it lies in the step that was typed: age:5m is
// from 5 minutes to less than 6.
func (q quantity) holds(o op, n int64) bool {
	switch o {
	case less:
		return n < q.n
	case atMost:
		return n <= q.n
	case more:
		return n > q.n
	case atLeast:
		return n >= q.n
	}
	return n >= q.n && uint64(n-q.n) < uint64(q.step) // unsigned: the difference may take 64 bits
}

// awayBy compares how far an instant is from now; ahead of it, or behind.
func awayBy(o op, with quantity, ahead bool) test {
	return test{ask: func(v Value, now time.Time) bool {
		far := now.UnixNano() - v.n
		if ahead {
			far = -far
		}
		return v.set && with.holds(o, far)
	}}
}

// dated compares an instant with a date or a time, which is a stretch: created:today is all of today,
// created>today what comes after it.
func dated(o op, w when) test {
	return test{ask: func(v Value, now time.Time) bool {
		if !v.set {
			return false
		}
		from, to := w.span(now)
		switch o {
		case less:
			return v.n < from
		case atLeast:
			return v.n >= from
		case atMost:
			return v.n <= w.last(from, to)
		case more:
			return v.n > w.last(from, to)
		}
		return v.n >= from && v.n < to
	}}
}
