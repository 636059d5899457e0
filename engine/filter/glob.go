package filter

import (
	"slices"
	"unicode"
	"unicode/utf8"
)

// Runes of a pattern that are no letters.
const (
	one  rune = -1 // ?
	many rune = -2 // *
)

// glob is a compiled pattern: folded letters, and what stands for others.
type glob []rune

// newGlob compiles a pattern; anywhere lets it stand in the middle of a text.
func newGlob(pattern []rune, anywhere bool) (g glob) {
	if anywhere {
		g = append(g, many)
	}
	for _, r := range pattern {
		g = append(g, fold(r))
	}
	if anywhere {
		g = append(g, many)
	}
	return g
}

// all reports whether every text fits.
func (g glob) all() bool {
	return len(g) > 0 && !slices.ContainsFunc(g, func(r rune) bool { return r != many })
}

// fits lets what a star takes grow until what stands behind it fits. Only the star that was met last is tried
// again: if one before it took more, it would leave less room for the rest.
func (g glob) fits(s string) bool {
	star, from := -1, 0 // the last star that was met, and how far in s it takes
	i, k := 0, 0
	for i < len(s) {
		r, n := rune(s[i]), 1
		if r >= utf8.RuneSelf {
			r, n = utf8.DecodeRuneInString(s[i:])
		}
		switch {
		case k < len(g) && g[k] == many:
			if star, from, k = k, i, k+1; k == len(g) {
				return true
			}
		case k < len(g) && (g[k] == one || g[k] == fold(r)):
			i, k = i+n, k+1
		case star >= 0:
			from += width(s[from:])
			next := g[star+1]
			for next >= 0 && from < len(s) && low(rune(s[from])) != next && min(rune(s[from]), next) < utf8.RuneSelf {
				from++
			}
			i, k = from, star+1
		default:
			return false
		}
	}
	return k == len(g) || g[k:].all()
}

// width is how many bytes the first rune of s takes, 1 of a broken one. s must not be empty.
func width(s string) int {
	_, n := utf8.DecodeRuneInString(s)
	return n
}

// low is the lower case of an ASCII letter; anything else stays what it is.
func low(r rune) rune {
	if r >= 'A' && r <= 'Z' {
		r += 'a' - 'A'
	}
	return r
}

// fold gives all cases of a letter one rune: Σ, σ and ς are the same. ASCII stays with ASCII (the Kelvin
// sign is no k), so that an ASCII letter is found byte by byte.
func fold(r rune) rune {
	switch {
	case r < utf8.RuneSelf:
		return low(r)
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
