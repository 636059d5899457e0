package safe

import (
	"strings"
	"unicode"

	"golang.org/x/text/unicode/norm"
)

// ascii stands in for signs that have a near relative of the same width.
var ascii = map[rune]byte{
	'‹': '<', '›': '>', '«': '<', '»': '>', '“': '"', '”': '"', '‘': '\'', '’': '\'',
	'…': '~', '—': '-', '–': '-', '‐': '-', '‑': '-', '−': '-', '·': '.', '•': '*', '×': 'x',
	'⏎': '/', '□': '?', '\u00a0': ' ', '▸': '>', '→': '>', '←': '<', '↑': '^', '↓': 'v',
	'≥': '>', '≤': '<', '±': '~', '‖': '"', '│': '|', '─': '-', '█': '#', '░': '-',
}

// ASCII cleans s for terminals without Unicode: accents are dropped, other
// characters become one ? for each of their cells. It is as wide as Text(s).
func ASCII(s string) string {
	if isPlain(s) {
		return s
	}
	var b strings.Builder
	for _, r := range Text(s) {
		writeASCII(&b, r)
	}
	return b.String()
}

// writeASCII writes one rune of clean text: its relative, its letter without the accent, or a ? for
// each cell.
func writeASCII(b *strings.Builder, r rune) {
	if c, ok := ascii[r]; ok {
		b.WriteByte(c)
		return
	}
	if r < 0x7f {
		b.WriteRune(r)
		return
	}
	if letter := rune(norm.NFD.String(string(r))[0]); letter < 0x7f && unicode.IsLetter(letter) {
		b.WriteRune(letter)
		return
	}
	b.WriteString(strings.Repeat("?", RuneWidth(r)))
}
