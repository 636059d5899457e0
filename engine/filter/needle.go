package filter

import (
	"strings"
	"unicode"
	"unicode/utf8"
)

// needle is lower-case ASCII to look for in text of any case. It looks for its
// rarest byte first, since the library finds a byte many at a time.
type needle struct {
	text   string
	anchor int  // of the rarest byte
	up     byte // its upper case
}

// common are the bytes of our rows, the most frequent first. What is not listed
// is rarer; letters stand early because they are looked for twice.
const common = "e0taniorsmc1l2h3u4d5g6p7f8w9ykbvxqjz. -:/_"

// newNeedle takes text that is not empty.
func newNeedle(text string) needle {
	n := needle{text: text}
	rarest := -1
	for i := range len(text) {
		rank := strings.IndexByte(common, text[i])
		if rank < 0 {
			rank = len(common)
		}
		if rank > rarest {
			n.anchor, rarest = i, rank
		}
	}
	n.up = byte(unicode.ToUpper(rune(text[n.anchor])))
	return n
}

// index is where the needle begins in s; -1 if it is not there.
func (n *needle) index(s string) int {
	low := n.text[n.anchor]
	last := len(s) - len(n.text) // where it may begin
	for start := 0; start <= last; start++ {
		span := s[start+n.anchor : last+n.anchor+1]
		i := strings.IndexByte(span, low)
		if n.up != low {
			if i >= 0 {
				span = span[:i]
			}
			if j := strings.IndexByte(span, n.up); j >= 0 {
				i = j
			}
		}
		if i < 0 {
			return -1
		}
		start += i
		if equalFold(s[start:start+len(n.text)], n.text) {
			return start
		}
	}
	return -1
}

// sieve is text that a chunk of runes cannot do without: the part of it that is
// ASCII, or that has no case. The zero sieve lets everything pass.
type sieve struct {
	ascii needle
	exact string
}

func newSieve(runes []rune) sieve {
	ascii := longestRun(runes, func(r rune) bool { return r >= 0 && r < utf8.RuneSelf })
	exact := longestRun(runes, func(r rune) bool { return r >= utf8.RuneSelf && r != utf8.RuneError && unicode.SimpleFold(r) == r })
	switch {
	case exact != "":
		return sieve{exact: exact}
	case ascii != "":
		return sieve{ascii: newNeedle(ascii)}
	}
	return sieve{}
}

func longestRun(runes []rune, in func(rune) bool) string {
	best, start := "", 0
	for i := 0; i <= len(runes); i++ {
		if i < len(runes) && in(runes[i]) {
			continue
		}
		if run := string(runes[start:i]); len(run) > len(best) {
			best = run
		}
		start = i + 1
	}
	return best
}

func (v *sieve) passes(s string) bool {
	switch {
	case v.exact != "":
		return strings.Contains(s, v.exact)
	case v.ascii.text != "":
		return v.ascii.index(s) >= 0
	}
	return true
}
