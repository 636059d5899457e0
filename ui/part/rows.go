package part

import (
	"math"
	"strings"
	"unicode/utf8"

	"github.com/farsight-console/farsight/engine/human"
	"github.com/farsight-console/farsight/engine/safe"
	"github.com/farsight-console/farsight/themes"
)

// Frame returns a whole screen: exactly h rows of w cells, each begun with
// the theme's base colours and ended with a reset, joined by line feeds.
func Frame(th *themes.Theme, w, h int, rows []string) string {
	if w <= 0 || h <= 0 {
		return ""
	}
	fitted := make([]string, h)
	size := h * (len(th.Base()) + len(th.Reset()) + 1)
	for i := range h {
		row := ""
		if i < len(rows) {
			row = rows[i]
		}
		fitted[i] = fit(th, row, w)
		size += len(fitted[i])
	}
	var b strings.Builder
	b.Grow(size) // a frame is tens of kilobytes: growing by doubling would copy all of it
	for i, row := range fitted {
		if i > 0 {
			b.WriteByte('\n')
		}
		b.WriteString(th.Base())
		b.WriteString(row)
		b.WriteString(th.Reset())
	}
	return b.String()
}

// fit returns a painted row as exactly w cells that end in plain text.
func fit(th *themes.Theme, row string, w int) string {
	if w <= 0 {
		return ""
	}
	have, look, ok := measure(row, th.ASCII())
	if !ok {
		row = mend(th, row)
		have, look = painted(row)
	}
	if have > w {
		row, have = cutRow(row, w)
		look = "cut" // wherever it fell
	}
	if look != "" && look != th.Close() && look != th.Reset() {
		row += th.Close()
	}
	if have == w {
		return row
	}
	return row + strings.Repeat(" ", w-have)
}

// Height returns rows as exactly h rows of w cells.
func Height(th *themes.Theme, w, h int, rows []string) []string {
	if h <= 0 {
		return nil
	}
	out := make([]string, h)
	for i := range out {
		row := ""
		if i < len(rows) {
			row = rows[i]
		}
		out[i] = fit(th, row, w)
	}
	return out
}

// Beside joins blocks of equal height from left to right. A shorter block
// ends the result there: blocks are made for one height.
func Beside(blocks ...[]string) []string {
	if len(blocks) == 0 {
		return nil
	}
	h := len(blocks[0])
	for _, b := range blocks {
		h = min(h, len(b))
	}
	out := make([]string, h)
	parts := make([]string, len(blocks))
	for i := range out {
		for j, b := range blocks {
			parts[j] = b[i]
		}
		out[i] = strings.Join(parts, "")
	}
	return out
}

// Stack joins blocks from top to bottom.
func Stack(blocks ...[]string) []string {
	var out []string
	for _, b := range blocks {
		out = append(out, b...)
	}
	return out
}

// measure returns the cells of a painted row. ok is false when the row needs
// a closer look: it holds more than simple text and SGR, or more than 7 bits
// where ascii asks for them. look is its last SGR sequence.
func measure(row string, ascii bool) (w int, look string, ok bool) {
	for i := 0; i < len(row); {
		c := row[i]
		if c >= 0x20 && c < 0x7f {
			w++
			i++
			continue
		}
		if c == 0xe2 && !ascii && drawn(row[i:]) {
			w++
			i += 3
			continue
		}
		if n := sgrLen(row[i:]); n > 0 {
			look = row[i : i+n]
			i += n
			continue
		}
		r, n := utf8.DecodeRuneInString(row[i:])
		if c < utf8.RuneSelf || ascii || !safe.Simple(r) {
			return w, look, false
		}
		w += safe.RuneWidth(r)
		i += n
	}
	return w, look, true
}

// drawn reports whether s begins with a line or a block (U+2500 to U+259F) or dots
// (U+2800 to U+28FF): a screen is full of them, and each is one cell.
func drawn(s string) bool {
	return len(s) >= 3 && s[0] == 0xe2 && (s[1] == 0x94 || s[1] == 0x95 || s[1] == 0x96 && s[2] < 0xa0 || s[1] >= 0xa0 && s[1] <= 0xa3) && s[2]-0x80 < 0x40
}

// painted returns the cells of a clean row and its last SGR sequence.
func painted(row string) (w int, look string) {
	_, w = cutRow(row, math.MaxInt)
	if at := strings.LastIndexByte(row, 0x1b); at >= 0 {
		look = row[at : at+sgrLen(row[at:])]
	}
	return w, look
}

// sgrLen returns the length of the SGR sequence that s begins with, or 0.
func sgrLen(s string) int {
	if len(s) < 3 || s[0] != 0x1b || s[1] != '[' {
		return 0
	}
	for i := 2; i < len(s); i++ {
		switch c := s[i]; {
		case c-'0' <= ';'-'0': // digits, : and ;
		case c == 'm':
			return i + 1
		default:
			return 0
		}
	}
	return 0
}

// mend cleans the text of a row and keeps its SGR: the net under parts and
// pages that handed over what they did not clean.
func mend(th *themes.Theme, row string) string {
	clean := human.Either(th.ASCII(), safe.ASCII, safe.Text)
	var b strings.Builder
	start := 0
	for i := 0; i < len(row); {
		n := sgrLen(row[i:])
		if n == 0 {
			i++
			continue
		}
		b.WriteString(clean(row[start:i]))
		b.WriteString(row[i : i+n])
		i += n
		start = i
	}
	b.WriteString(clean(row[start:]))
	return b.String()
}

// dropRow returns a painted row without its first w cells. Of a wide letter that they cut a blank is left.
func dropRow(row string, w int) string {
	look, cells, i := "", 0, 0
	for i < len(row) {
		if n := sgrLen(row[i:]); n > 0 {
			look = row[i : i+n]
			i += n
			continue
		}
		r, n := utf8.DecodeRuneInString(row[i:])
		step := safe.RuneWidth(r)
		if cells >= w && step > 0 { // what has no width belongs to the letter before it
			break
		}
		cells += step
		i += n
	}
	return strings.Repeat(" ", max(cells-w, 0)) + look + row[i:]
}

// cutRow returns the start of a painted row within w cells and its cells.
func cutRow(row string, w int) (head string, cells int) {
	i := 0
	for i < len(row) {
		if n := sgrLen(row[i:]); n > 0 {
			i += n
			continue
		}
		r, n := utf8.DecodeRuneInString(row[i:])
		step := safe.RuneWidth(r)
		if cells+step > w {
			break
		}
		cells += step
		i += n
	}
	return row[:i], cells
}
