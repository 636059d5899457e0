package filter

import (
	"strings"
	"unicode"
)

// needle is lower-case ASCII to look for in text of any case. It looks for its
// rarest byte first, since the library finds a byte many at a time. Of KR_7214550881
// that is the _: the digits stand in every id.
type needle struct {
	text   string
	anchor int  // of the rarest byte
	up     byte // its upper case
}

// common are the bytes of our rows, the most frequent first. What is not listed
// is rarer; letters stand early because they are looked for twice.
const common = "e0taniorsmc1l2h3u4d5g6p7f8w9ykbvxqjz. -:/_"

// newNeedle takes text that is not empty. A needle with only frequent bytes takes the rarest of those.
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

// index is where the needle begins in s; -1 if it is not there. Upper case is looked for only up to
// where lower case was found: the nearer of the two counts.
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
