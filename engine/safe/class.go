package safe

import (
	"unicode"

	"github.com/mattn/go-runewidth"
	"golang.org/x/text/unicode/norm"
)

// cond fixes the width tables: the locale of the host must not change how
// wide a name is, or two operators would see two layouts.
var cond = &runewidth.Condition{StrictEmojiNeutral: true}

// Runes that the rules name one by one.
const (
	zwj       = '\u200d'
	textStyle = '\ufe0e' // variation selector 15
	emoji     = '\ufe0f' // variation selector 16
	box       = '□'      // stands for a character whose width is disputed
	newline   = '⏎'
	ellipsis  = '…'
)

// simple lists scripts and symbols that are composed, one rune a cluster and
// of one width everywhere, unless a rune outside of this table follows. It is
// the fast path for nearly every name that is not ASCII.
var simple = &unicode.RangeTable{
	R16: []unicode.Range16{
		{Lo: 0x0020, Hi: 0x007e, Stride: 1},
		{Lo: 0x00a1, Hi: 0x00ac, Stride: 1}, // Latin-1 up to the soft hyphen
		{Lo: 0x00ae, Hi: 0x024f, Stride: 1}, // Latin
		{Lo: 0x0400, Hi: 0x0482, Stride: 1}, // Cyrillic
		{Lo: 0x048a, Hi: 0x052f, Stride: 1},
		{Lo: 0x2010, Hi: 0x2027, Stride: 1}, // dashes, quotes, …
		{Lo: 0x2030, Hi: 0x203b, Stride: 1}, // ‰ ‹ ›
		{Lo: 0x2190, Hi: 0x22ff, Stride: 1}, // arrows, operators
		{Lo: 0x23ce, Hi: 0x23ce, Stride: 1}, // ⏎
		{Lo: 0x2500, Hi: 0x25a9, Stride: 1}, // boxes, blocks, squares
		{Lo: 0x25b2, Hi: 0x25b5, Stride: 1}, // triangles
		{Lo: 0x25b8, Hi: 0x25bf, Stride: 1},
		{Lo: 0x25c1, Hi: 0x25e5, Stride: 1}, // circles, diamonds
		{Lo: 0x2713, Hi: 0x2713, Stride: 1}, // ✓
		{Lo: 0x2717, Hi: 0x2717, Stride: 1}, // ✗
		{Lo: 0x2800, Hi: 0x28ff, Stride: 1}, // dots
		{Lo: 0x3041, Hi: 0x3096, Stride: 1}, // kana
		{Lo: 0x30a1, Hi: 0x30fa, Stride: 1},
		{Lo: 0x4e00, Hi: 0x9fff, Stride: 1}, // unified ideographs
		{Lo: 0xac00, Hi: 0xd7a3, Stride: 1}, // Hangul syllables
	},
	LatinOffset: 3,
}

// Simple reports whether cleaning leaves r alone whatever simple rune stands
// beside it. Boxes, bars, dots and Hangul are answered without a search: rows on the
// screen are full of them.
func Simple(r rune) bool {
	return r >= 0x20 && r < 0x7f || r >= 0x2500 && r <= 0x25a9 || r >= 0x2800 && r <= 0x28ff || r >= 0xac00 &&
		r <= 0xd7a3 || unicode.Is(simple, r)
}

// isSimple reports whether every rune of s is in simple.
func isSimple(s string) bool {
	for _, r := range s {
		if !Simple(r) {
			return false
		}
	}
	return true
}

// isPlain reports whether s is printable ASCII only.
func isPlain(s string) bool {
	for i := 0; i < len(s); i++ {
		if s[i]-0x20 >= 0x7f-0x20 {
			return false
		}
	}
	return true
}

// invisible are the ranges that draw nothing or change how other text is
// drawn: format characters (bidi, zero-width, soft hyphen, tags), ignorable
// ones (fillers, joiners), selectors, line and paragraph separators.
var invisible = []*unicode.RangeTable{
	unicode.Cc, unicode.Cf, unicode.Zl, unicode.Zp,
	unicode.Other_Default_Ignorable_Code_Point,
	unicode.Variation_Selector,
}

// dangerous reports whether r must never reach an exit as it is. Private-use and
// unassigned code points count: nobody knows how wide a terminal draws them.
func dangerous(r rune) bool {
	return unicode.In(r, invisible...) || !unicode.IsGraphic(r)
}

// isMark reports whether r is a combining mark that adds no cell. Enclosing
// marks are left out: terminals dispute their width (keycaps).
func isMark(r rune) bool {
	return unicode.Is(unicode.Mn, r) && !dangerous(r) && cond.RuneWidth(r) == 0
}

// isSpacing reports whether r is a sign with a cell of its own that belongs to the letter before it.
func isSpacing(r rune) bool {
	return (unicode.Is(unicode.Mc, r) || isAm(r)) && cond.RuneWidth(r) == 1
}

// isAm reports whether r is the vowel am of Thai or Lao, whose parts, nikhahit and aa, lie 0x1a after
// and 1 before it.
func isAm(r rune) bool { return r == '\u0e33' || r == '\u0eb3' }

// isVirama reports whether r ties the next letter to its own one. Newer
// Unicode makes one cluster of the two, wcwidth still counts both.
func isVirama(r rune) bool {
	return norm.NFC.PropertiesString(string(r)).CCC() == 9
}
