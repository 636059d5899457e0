package filter

import (
	"regexp"
	"strconv"
	"time"
	"unicode/utf8"
)

// test is one question about one value. v is of the field that the test was compiled for. A value that
// is not there fits noneTest and anyTest, and of the others a text test that the empty text fits.
type test interface {
	fits(v Value, now time.Time) bool
}

// anyOf asks about each of several texts. It takes the test itself, since a
// method value would cost an allocation for each row.
func anyOf(list []string, t interface{ in(string) bool }) bool {
	for _, s := range list {
		if t.in(s) {
			return true
		}
	}
	return false
}

// anyTest is a question that excludes nothing: a lone star.
type anyTest struct{}

func (anyTest) fits(Value, time.Time) bool { return true }

// noneTest asks whether there is no value.
type noneTest struct{}

func (noneTest) fits(v Value, _ time.Time) bool { return !v.set }

// bitsTest asks for words of an Enum.
type bitsTest uint64

func (t bitsTest) fits(v Value, _ time.Time) bool { return uint64(v.n)&uint64(t) != 0 }

// globTest asks for a text.
type globTest struct{ glob }

func (t *globTest) fits(v Value, _ time.Time) bool {
	if v.list != nil {
		return anyOf(*v.list, t)
	}
	return t.glob.fits(v.text)
}
func (t *globTest) in(s string) bool { return t.glob.fits(s) }

// needleTest asks for a text that may stand anywhere: a globTest for the most
// frequent question.
type needleTest struct{ needle }

func (t *needleTest) fits(v Value, _ time.Time) bool {
	if v.list != nil {
		return anyOf(*v.list, t)
	}
	return t.index(v.text) >= 0
}
func (t *needleTest) in(s string) bool { return t.index(s) >= 0 }

// digitsTest asks for a number by some of its digits: 5xx.
type digitsTest struct{ glob }

func (t *digitsTest) fits(v Value, _ time.Time) bool {
	var buf [20]byte
	digits := strconv.AppendInt(buf[:0], v.n, 10)
	return v.set && t.glob.fits(string(digits))
}

// fuzzyTest asks for letters in their order.
type fuzzyTest struct{ letters []rune }

func (t *fuzzyTest) fits(v Value, _ time.Time) bool {
	if v.list != nil {
		return anyOf(*v.list, t)
	}
	return t.in(v.text)
}

// in goes through the text once: of each letter the first place is taken, which never loses a fit.
func (t *fuzzyTest) in(s string) bool {
	n := 0
	for i := 0; i < len(s); {
		r, size := rune(lower[s[i]]), 1
		if r >= utf8.RuneSelf {
			r, size = utf8.DecodeRuneInString(s[i:])
			r = fold(r)
		}
		if r == t.letters[n] {
			if n++; n == len(t.letters) {
				return true
			}
		}
		i += size
	}
	return false
}

// regexTest asks for a regular expression. needs is text that whatever fits has
// in it, in this order, and tail what it ends with: looking for that first
// spares most rows the machine.
type regexTest struct {
	re    *regexp.Regexp
	needs []needle
	tail  string
}

func (t *regexTest) fits(v Value, _ time.Time) bool {
	if v.list != nil {
		return anyOf(*v.list, t)
	}
	return t.in(v.text)
}

// in asks the cheap questions first: how the text ends, then what must be in it, then the expression.
func (t *regexTest) in(s string) bool {
	if cut := len(s) - len(t.tail); cut < 0 || !equalFold(s[cut:], t.tail) {
		return false
	}
	rest := s
	for i := range t.needs {
		at := t.needs[i].index(rest)
		if at < 0 {
			return false
		}
		rest = rest[at+len(t.needs[i].text):]
	}
	return t.re.MatchString(s)
}

// quantityTest compares a number, a size or a duration.
type quantityTest struct {
	op op
	quantity
}

func (t *quantityTest) fits(v Value, _ time.Time) bool { return v.set && t.holds(v.n) }

// holds compares. ":" asks whether the number lies in the step that was typed: age:5m is from 5 minutes
// to less than 6.
func (t *quantityTest) holds(n int64) bool {
	switch t.op {
	case less:
		return n < t.n
	case atMost:
		return n <= t.n
	case more:
		return n > t.n
	case atLeast:
		return n >= t.n
	}
	return n >= t.n && uint64(n-t.n) < uint64(t.step) // unsigned: the difference may take 64 bits
}

// distanceTest compares how far an instant is from now.
type distanceTest struct {
	quantityTest
	ahead bool
}

func (t *distanceTest) fits(v Value, now time.Time) bool {
	far := now.UnixNano() - v.n
	if t.ahead {
		far = -far
	}
	return v.set && t.holds(far)
}

// whenTest compares an instant with a date or a time.
type whenTest struct {
	op op
	when
}

// fits compares with a stretch of time: created:today is all of today, created>today what comes after
// it.
func (t *whenTest) fits(v Value, now time.Time) bool {
	if !v.set {
		return false
	}
	from, to := t.span(now)
	switch t.op {
	case less:
		return v.n < from
	case atLeast:
		return v.n >= from
	case atMost:
		return v.n <= t.last(from, to)
	case more:
		return v.n > t.last(from, to)
	}
	return v.n >= from && v.n < to
}
