package filter

import (
	"slices"
	"strings"
	"unicode"
	"unicode/utf8"
)

// Runes of a pattern that are no letters.
const (
	one  rune = -1 // ?
	many rune = -2 // *
)

// glob is a compiled pattern: chunks of text with anything between them. That of match:*88? has two, of
// which the last must stand at the end; an empty pattern has none, and neither has a lone star.
type glob struct {
	chunks     []chunk
	head, tail bool // anything may stand before the first, after the last chunk
}

// newGlob compiles a pattern; anywhere lets it stand in the middle of a text.
func newGlob(pattern []rune, anywhere bool) glob {
	g := glob{head: anywhere, tail: anywhere}
	if len(pattern) == 0 {
		return g
	}
	g.head = g.head || pattern[0] == many
	g.tail = g.tail || pattern[len(pattern)-1] == many
	for len(pattern) > 0 {
		n := slices.Index(pattern, many)
		if n < 0 {
			n = len(pattern)
		}
		if n > 0 {
			g.chunks = append(g.chunks, newChunk(pattern[:n]))
		}
		pattern = pattern[min(n+1, len(pattern)):]
	}
	return g
}

// all reports whether every text fits.
func (g *glob) all() bool { return len(g.chunks) == 0 && g.head }

// fits looks for the chunks from the left, each at its first place. That is enough: a later place of
// one would leave less room for the next, and only the last may have to stand at the end.
func (g *glob) fits(s string) bool {
	if len(g.chunks) == 0 {
		return g.head || s == ""
	}
	for i := range g.chunks {
		c := &g.chunks[i]
		first, last := i == 0 && !g.head, i == len(g.chunks)-1 && !g.tail
		if last {
			return c.ends(s, first)
		}
		end := c.find(s, first)
		if end < 0 {
			return false
		}
		s = s[end:]
	}
	return true
}

// chunk is text without stars: lower-case ASCII, or else, with ? or other letters, folded runes.
type chunk struct {
	ascii string
	runes []rune
	// sole is the first rune where no other case of it exists, as in 카인: the library
	// finds it many bytes at a time. 0 = there is none.
	sole rune
}

// newChunk compiles text without stars. Case is folded here, and of the row's text at each rune that is
// compared.
func newChunk(pattern []rune) chunk {
	runes := make([]rune, len(pattern))
	plain := true
	for i, r := range pattern {
		runes[i] = r
		if r != one {
			runes[i] = fold(r)
		}
		plain = plain && r >= 0 && r < utf8.RuneSelf
	}
	if plain {
		return chunk{ascii: string(runes)}
	}
	c := chunk{runes: runes}
	if r := runes[0]; r >= utf8.RuneSelf && r != utf8.RuneError && unicode.SimpleFold(r) == r {
		c.sole = r
	}
	return c
}

// find gives the end of the chunk's first place in s, or of its place at the
// start of s; -1 if there is none.
func (c *chunk) find(s string, atStart bool) int {
	low := c.ascii
	if low == "" {
		return c.findRunes(s, atStart)
	}
	for i := range len(s) - len(low) + 1 {
		if lower[s[i]] == low[0] && equalFold(s[i:i+len(low)], low) {
			return i + len(low)
		}
		if atStart {
			break
		}
	}
	return -1
}

// findRunes is find for text that is not plain ASCII.
func (c *chunk) findRunes(s string, atStart bool) int {
	for i := 0; ; {
		if c.sole != 0 && !atStart {
			skip := strings.IndexRune(s[i:], c.sole)
			if skip < 0 {
				return -1
			}
			i += skip
		}
		if n := c.prefix(s[i:]); n >= 0 {
			return i + n
		}
		if atStart || i == len(s) {
			return -1
		}
		i += width(s[i:])
	}
}

// ends reports whether s ends with the chunk; whole wants nothing before it.
func (c *chunk) ends(s string, whole bool) bool {
	if low := c.ascii; low != "" {
		cut := len(s) - len(low)
		return cut >= 0 && (cut == 0 || !whole) && equalFold(s[cut:], low)
	}
	// A chunk has a fixed number of runes, but text as received may be broken
	// UTF-8, which reads differently from its end: so from the start.
	for i := 0; ; i += width(s[i:]) {
		if c.prefix(s[i:]) == len(s)-i {
			return true
		}
		if whole || i == len(s) {
			return false
		}
	}
}

// prefix gives the bytes of s that the chunk takes; -1 if it does not fit.
func (c *chunk) prefix(s string) int {
	i := 0
	for _, want := range c.runes {
		if i == len(s) {
			return -1
		}
		r, n := utf8.DecodeRuneInString(s[i:])
		if want != one && fold(r) != want {
			return -1
		}
		i += n
	}
	return i
}

// width is how many bytes the first rune of s takes, 1 of a broken one. s must not be empty.
func width(s string) int {
	_, n := utf8.DecodeRuneInString(s)
	return n
}

// lower holds the lower case of each ASCII byte, and every other byte as it is.
var lower = func() (t [256]byte) {
	for i := range t {
		t[i] = byte(i)
	}
	for c := 'A'; c <= 'Z'; c++ {
		t[c] = byte(c) + 'a' - 'A'
	}
	return t
}()

// fold gives all cases of a letter one rune: Σ, σ and ς are the same. ASCII stays with ASCII (the Kelvin
// sign is no k), so that ASCII text is found byte by byte in any UTF-8.
func fold(r rune) rune {
	switch {
	case r < utf8.RuneSelf:
		return rune(lower[byte(r)])
	case r >= 0x2e80 && r < 0xa640, r >= 0xac00 && r < 0xfb00: // these scripts have no case
		return r
	}
	least := r
	for c := unicode.SimpleFold(r); c != r; c = unicode.SimpleFold(c) {
		if c >= utf8.RuneSelf && c < least {
			least = c
		}
	}
	return least
}

// equalFold reports whether s is low, which is lower-case ASCII of its length.
func equalFold(s, low string) bool {
	for i := range len(low) {
		if lower[s[i]] != low[i] {
			return false
		}
	}
	return true
}
