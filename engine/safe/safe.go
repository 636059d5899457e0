package safe

import (
	"fmt"
	"strings"
	"unicode"
	"unicode/utf8"

	"github.com/rivo/uniseg"
	"golang.org/x/text/unicode/norm"
)

// maxMarks is the number of combining marks a letter may carry.
const maxMarks = 2

// maxPasses bounds the search for text that cleaning leaves alone; fuzzing
// has never needed more than two.
const maxPasses = 4

// Text returns s as one line that is safe to draw anywhere. Tabs become
// spaces and line breaks ⏎. Spacing signs, vowels of Indic scripts, are left out: the screen's
// renderer counts no cell for them, a terminal one. Thai and Lao am is spelt as its mark and its letter.
func Text(s string) string { return settled(s, false) }

// Letters is Text for what no renderer draws, lists and files: it keeps spacing signs, each one cell
// wide as terminals have it.
func Letters(s string) string { return settled(s, true) }

func settled(s string, spacing bool) string {
	if isPlain(s) || isSimple(s) {
		return s
	}
	for range maxPasses {
		t := pass(s, spacing)
		if t == s {
			return s
		}
		s = t
	}
	return flatten(s)
}

// Block cleans s like Text but keeps its line breaks, for stacks and bodies
// that are shown or logged in full.
func Block(s string) string {
	if !strings.ContainsAny(s, "\r\n") {
		return Text(s)
	}
	lines := strings.Split(strings.ReplaceAll(s, "\r\n", "\n"), "\n")
	for i, line := range lines {
		lines[i] = Text(line)
	}
	return strings.Join(lines, "\n")
}

// Line cleans s and cuts it to at most so many cells. It reads no more of s
// than it needs, so a body of megabytes costs what is shown of it.
func Line(s string, cells int) string {
	head := clip(s, 256+32*max(cells, 0))
	if len(head) == len(s) {
		return Cut(Text(s), cells)
	}
	return Cut(Text(head)+string(ellipsis), cells)
}

// clip returns at most n bytes of s, ending on a whole rune where s has them.
func clip(s string, n int) string {
	if len(s) <= n {
		return s
	}
	for back := 0; back < utf8.UTFMax && !utf8.RuneStart(s[n]); back++ {
		n--
	}
	return s[:n]
}

// pass cleans s once, and keeps spacing signs where that is asked for.
func pass(s string, spacing bool) string {
	s = norm.NFC.String(thin(valid(s)))
	var b strings.Builder
	b.Grow(len(s) + 16)
	state := -1
	for s != "" {
		var cluster string
		cluster, s, _, state = uniseg.FirstGraphemeClusterInString(s, state)
		writeCluster(&b, cluster, s, spacing)
	}
	return b.String()
}

// valid spells out the bytes of s that are not UTF-8.
func valid(s string) string {
	if utf8.ValidString(s) {
		return s
	}
	var b strings.Builder
	for s != "" {
		r, n := utf8.DecodeRuneInString(s)
		if r == utf8.RuneError && n == 1 {
			fmt.Fprintf(&b, `\x%02X`, s[0])
		} else {
			b.WriteString(s[:n])
		}
		s = s[n:]
	}
	return b.String()
}

// thin drops marks far beyond what a letter may keep. Composing is quadratic
// in their number and inserts joiners after the thirtieth.
func thin(s string) string {
	const enough = 8
	marks := 0
	return strings.Map(func(r rune) rune {
		marks++
		if !unicode.Is(unicode.M, r) {
			marks = 0
		}
		if marks > enough {
			return -1
		}
		return r
	}, s)
}

// writeCluster writes what may stay of one grapheme cluster; next is the text
// that follows it.
func writeCluster(b *strings.Builder, cluster, next string, spacing bool) {
	base, n := utf8.DecodeRuneInString(cluster)
	tail := cluster[n:]
	if base == '\r' && tail == "\n" {
		tail = ""
	}
	switch {
	case tail == "":
		writeRune(b, base)
	case dangerous(base), isMark(base), prepends(base):
		writeRune(b, base)
		writeCluster(b, tail, next, spacing)
	default:
		writeRune(b, base)
		marks, shown := split(tail, spacing)
		if spacing || !ties(marks, next) {
			b.WriteString(marks)
		}
		b.WriteString(shown)
	}
}

// prepends reports whether r forms one cluster with the letter after it.
func prepends(r rune) bool {
	first, _, _, _ := uniseg.FirstGraphemeClusterInString(string(r)+"a", -1)
	return len(first) > utf8.RuneLen(r)
}

// ties reports whether marks would make one cluster of their letter and next
// on a newer Unicode than ours: then only the letter stays.
func ties(marks, next string) bool {
	after, _ := utf8.DecodeRuneInString(next)
	return after >= utf8.RuneSelf && strings.ContainsFunc(marks, isVirama)
}

// split sorts the rest of a cluster: the marks that its first rune keeps and
// the spelling of hidden runes. Whatever else joined the cluster (emoji parts,
// selectors, and spacing signs but where they are kept) makes its width disputed: only the base is left.
func split(tail string, spacing bool) (marks, shown string) {
	var keep, show strings.Builder
	kept, disputed := 0, false
	runes := []rune(tail)
	for i, r := range runes {
		switch {
		case r == zwj && i+1 < len(runes), r == textStyle, r == emoji:
			disputed = true
		case dangerous(r):
			writeRune(&show, r)
		case spacing && isSpacing(r):
			keep.WriteRune(r)
		case isAm(r): // a mark and a letter, which nobody disputes, look the same
			show.WriteRune(r - 1)
			if kept < maxMarks {
				tones := keep.String()
				keep.Reset()
				keep.WriteString(string(r+0x1a) + tones)
				kept++
			}
		case !isMark(r):
			disputed = true
		case kept < maxMarks:
			keep.WriteRune(r)
			kept++
		}
	}
	if disputed {
		return "", show.String()
	}
	return keep.String(), show.String()
}

// writeRune writes one rune that stands alone.
func writeRune(b *strings.Builder, r rune) {
	switch {
	case r == '\t':
		b.WriteByte(' ')
	case r == '\r', r == '\n':
		b.WriteRune(newline)
	case dangerous(r), isMark(r):
		// A mark without a letter would land on our border.
		fmt.Fprintf(b, "‹U+%04X›", r)
	case disputed(r):
		b.WriteRune(box)
	default:
		b.WriteRune(r)
	}
}

// disputed reports whether r alone has no width that all terminals share.
func disputed(r rune) bool {
	w := cond.RuneWidth(r)
	return w < 1 || uniseg.StringWidth(string(r)) != w || unicode.Is(unicode.Me, r) || prepends(r)
}

// flatten spells every rune beyond ASCII: the last resort for text that does
// not settle.
func flatten(s string) string {
	var b strings.Builder
	for _, r := range s {
		if r >= 0x20 && r < 0x7f {
			b.WriteRune(r)
			continue
		}
		fmt.Fprintf(&b, "‹U+%04X›", r)
	}
	return b.String()
}
