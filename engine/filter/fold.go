package filter

import (
	"unicode"
	"unicode/utf8"
)

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
