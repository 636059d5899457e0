package terminal

import (
	"strconv"
	"strings"
	"sync/atomic"
	"unicode/utf8"

	uv "github.com/charmbracelet/ultraviolet"
	"github.com/charmbracelet/x/ansi"

	"github.com/farsight-console/farsight/engine/safe"
)

// Bubble Tea sends a row from its first change to its last, with all that is the same in
// between and its colours: of a legend in which two figures moved the whole legend, of a
// list on a busy screen ten kilobytes a second. thrift knows what the terminal shows and
// lets through only what changes it. What it does not understand it lets through as it is,
// and everything behind it, until the cursor is set to a place that is known.
type thrift struct {
	size   atomic.Int64 // of the screen, as the terminal told it: rows << 32 + columns; 0 = not yet
	mapped bool         // a line feed returns to the first column too

	known       int64 // the size of what is known
	w, h        int
	alt, sees   bool // the program has the screen; where its cursor stands is known
	cells       [][]shown
	at, put     place    // the cursor as Bubble Tea has it, and where it really is
	pen, inked  uv.Style // likewise
	top, bottom int      // the first and last row of what scrolls
	last        rune
	wrote       bool // it was let through
	out         []byte
	parser      ansi.Parser
}

// newThrift makes one of a terminal, which is mapped or raw.
func newThrift(mapped bool) *thrift {
	t := &thrift{mapped: mapped}
	t.parser.SetParamsSize(32)
	return t
}

// place is a cell. An x of the width is behind the last cell of a row; below 0 = not known.
type place struct{ x, y int }

// shown is what a cell shows; no letter = that is not known.
type shown struct {
	letter rune
	pen    uv.Style
}

// onSpace are the attributes that a space shows.
const onSpace = uv.AttrReverse | uv.AttrStrikethrough

// seen is what of a pen is seen on a letter: of a space its ground.
func seen(pen uv.Style, letter rune) uv.Style {
	if letter == ' ' && pen.Underline == 0 && pen.Attrs&onSpace == 0 {
		return uv.Style{Bg: pen.Bg}
	}
	return pen
}

// cut reads the sequence that a piece of output begins with: "\x1b[?25h" is verb ?h, and the
// parser has its parameter. What is no CSI has no verb; n = 0 says that its end is missing.
func cut(in []byte, p *ansi.Parser) (n int, verb string) {
	_, _, n, state := ansi.DecodeSequenceWc(in, ansi.NormalState, p)
	if state != ansi.NormalState {
		return 0, ""
	}
	if in[1] != '[' {
		return n, ""
	}
	cmd := ansi.Cmd(p.Command())
	return n, strings.ReplaceAll(string([]byte{cmd.Prefix(), cmd.Intermediate(), cmd.Final()}), "\x00", "")
}

// thin gives what of a piece of output has to reach the terminal.
func (t *thrift) thin(in []byte) []byte {
	t.out = t.out[:0]
	if size := t.size.Load(); size != t.known {
		t.blind()
		t.known, t.w, t.h = size, int(int32(size)), int(size>>32)
		t.top, t.bottom = 0, t.h-1
	}
	for len(in) > 0 {
		n := 1
		switch {
		case in[0] == 0x1b:
			var verb string
			if n, verb = cut(in, &t.parser); n == 0 {
				t.blind()
				return append(t.out, in...)
			}
			t.order(verb, in[:n])
		case in[0] < ' ' || in[0] == 0x7f:
			t.control(in[0])
		default:
			var r rune
			r, n = utf8.DecodeRune(in)
			t.letter(r, in[:n])
		}
		in = in[n:]
	}
	if t.sees {
		t.move()
	}
	return t.out
}

// blind gives up: what follows is let through as it is.
func (t *thrift) blind() {
	if t.sees {
		t.meet()
	}
	t.sees = false
}

// through lets a sequence through that is carried out where the cursor is.
func (t *thrift) through(raw []byte) {
	if t.sees {
		t.meet()
	}
	t.out = append(t.out, raw...)
}

// meet brings the terminal's cursor and its pen to where Bubble Tea has them.
func (t *thrift) meet() {
	t.move()
	t.dip()
}

func (t *thrift) dip() {
	if t.pen != t.inked {
		t.out = append(t.out, t.pen.Diff(&t.inked)...)
		t.inked = t.pen
	}
}

// move moves the cursor. A letter or two that stand in between are as short as a move.
func (t *thrift) move() {
	to := t.at
	to.x = min(to.x, t.w-1)
	switch d := to.x - t.put.x; {
	case to == t.put || t.at == t.put:
		return
	case t.put.x >= 0 && t.put.x < t.w && to.y == t.put.y && d > 0:
		if !t.again(d) {
			t.out = append(t.out, "\x1b["...)
			if d > 1 {
				t.out = strconv.AppendInt(t.out, int64(d), 10)
			}
			t.out = append(t.out, 'C')
		}
	default:
		t.out = append(t.out, "\x1b["...)
		if to.y > 0 || to.x > 0 {
			t.out = strconv.AppendInt(t.out, int64(to.y+1), 10)
		}
		if to.x > 0 {
			t.out = strconv.AppendInt(append(t.out, ';'), int64(to.x+1), 10)
		}
		t.out = append(t.out, 'H')
	}
	t.put = to
}

// again writes the letters once more that the next d cells show; false = a move is shorter.
func (t *thrift) again(d int) bool {
	row := t.row(t.put.y)
	if d > 3 {
		return false
	}
	var letters []byte
	for _, c := range row[t.put.x : t.put.x+d] {
		if c.letter == 0 || c.letter >= leftHalf || c.pen != seen(t.inked, c.letter) {
			return false
		}
		letters = utf8.AppendRune(letters, c.letter)
	}
	if len(letters) > 4 {
		return false
	}
	t.out = append(t.out, letters...)
	return true
}

// row is what a row shows.
func (t *thrift) row(y int) []shown {
	for len(t.cells) <= y {
		t.cells = append(t.cells, make([]shown, t.w))
	}
	return t.cells[y]
}

// letter lets a letter through that its cell does not show.
func (t *thrift) letter(r rune, raw []byte) {
	if t.sees && (r < leftHalf && safe.RuneWidth(r) != 1 || t.at.x >= t.w || t.at.y >= t.h) {
		t.blind()
	}
	if !t.sees {
		t.out = append(t.out, raw...)
		return
	}
	t.last = r
	cell, now := &t.row(t.at.y)[t.at.x], shown{r, seen(t.pen, r)}
	if r >= rightHalf { // it goes with the left one
		if *cell = now; t.wrote {
			t.put.x++
			t.out = append(t.out, raw...)
		}
		t.at.x++
		return
	}
	if t.wrote = *cell != now; t.wrote {
		t.move()
		if seen(t.inked, r) != now.pen {
			t.dip()
		}
		t.out = append(t.out, raw...)
		*cell = now
		t.put.x++
	}
	t.at.x++
}

// control follows a control character: all of them move the cursor.
func (t *thrift) control(c byte) {
	if !t.sees {
		t.out = append(t.out, c)
		return
	}
	t.at.x = min(t.at.x, t.w-1)
	switch c {
	case '\r':
		t.at.x = 0
	case '\b':
		t.at.x = max(t.at.x-1, 0)
	case '\t':
		t.at.x = min(t.at.x/8*8+8, t.w-1)
	case '\n':
		if t.mapped {
			t.at.x = 0
		}
		if t.at.y < t.bottom {
			t.at.y++
			return
		}
		t.scroll(t.top, 1, []byte{c})
		t.put.x = -1
	default:
		t.blind()
		t.out = append(t.out, c)
	}
}

// order follows a sequence.
func (t *thrift) order(verb string, raw []byte) {
	first, _ := t.parser.Param(0, 0)
	switch {
	case verb == "m":
		if uv.ReadStyle(t.parser.Params(), &t.pen); !t.sees {
			t.inked = t.pen
			t.out = append(t.out, raw...)
		}
		return
	case verb == "?h" && first == 1049:
		t.blind()
		t.alt = true
	case verb == "?h" && first == 7: // after the last cell of the screen
		t.at.x = min(t.at.x, t.w-1)
	case verb == "?l" && first == 1049:
		t.blind()
		t.alt = false
	case verb == "H" && t.alt && t.w > 0 && !t.sees:
		t.sees, t.cells = true, nil
		t.put = place{-1, -1}
	}
	second, _ := t.parser.Param(1, 0)
	step := max(first, 1)
	switch {
	case verb == "r":
		t.through(raw)
		t.top, t.bottom, t.at, t.put = step-1, t.h-1, place{}, place{}
		if second > 0 {
			t.bottom = second - 1
		}
		return
	case t.sees && string(raw) == "\x1bM":
		if t.at.x = min(t.at.x, t.w-1); t.at.y > t.top {
			t.at.y--
		} else {
			t.scroll(t.top, -1, raw)
		}
		return
	case t.sees && verb == "" && raw[1] != ']' && raw[1] != 'P' && raw[1] != '=' && raw[1] != '>':
		t.blind()
		fallthrough
	case !t.sees, verb == "", strings.ContainsAny(verb, "?<=>$! "): // which change nothing that is shown
		if t.sees && verb != "" { // but perhaps whether the cursor is
			t.move()
		}
		t.out = append(t.out, raw...)
		return
	}
	t.at.x = min(t.at.x, t.w-1)
	switch verb {
	case "H":
		t.at = place{min(max(second, 1), t.w) - 1, min(step, t.h) - 1}
	case "A":
		t.at.y = max(t.at.y-step, 0)
	case "B":
		t.at.y = min(t.at.y+step, t.h-1)
	case "C":
		t.at.x = min(t.at.x+step, t.w-1)
	case "D":
		t.at.x = max(t.at.x-step, 0)
	case "G", "`":
		t.at.x = min(step, t.w) - 1
	case "d":
		t.at.y = min(step, t.h) - 1
	case "I":
		t.at.x = min((t.at.x/8+step)*8, t.w-1)
	case "Z":
		t.at.x = max((t.at.x+7)/8-step, 0) * 8
	case "b":
		t.repeat(step)
	case "X":
		t.wipe(t.at.x, t.at.x+step, raw)
	case "K":
		switch first {
		case 0:
			t.wipe(t.at.x, t.w, raw)
		case 1:
			t.wipe(0, t.at.x+1, raw)
		default:
			t.wipe(0, t.w, raw)
		}
	case "@", "P":
		t.shift(verb == "P", min(step, t.w-t.at.x), raw)
	case "J":
		t.through(raw)
		from := 0
		if t.sees = first == 0 || first == 2; first == 0 {
			clear(t.row(t.at.y)[t.at.x:])
			from = t.at.y + 1
		}
		for y := from; y < len(t.cells); y++ {
			clear(t.cells[y])
		}
	case "L":
		t.scroll(t.at.y, -step, raw)
	case "T":
		t.scroll(t.top, -step, raw)
	case "M":
		t.scroll(t.at.y, step, raw)
	case "S":
		t.scroll(t.top, step, raw)
	default:
		t.blind()
		t.out = append(t.out, raw...)
	}
}

// wipe follows a sequence that clears cells of the cursor's row.
func (t *thrift) wipe(from, to int, raw []byte) {
	row, now := t.row(t.at.y), shown{' ', seen(t.pen, ' ')}
	same := true
	for x := from; x < min(to, t.w); x++ {
		same = same && row[x] == now
		row[x] = now
	}
	if !same {
		t.through(raw)
	}
}

// repeat follows a sequence that writes the last letter n times more. What the terminal
// wrote last may be another one.
func (t *thrift) repeat(n int) {
	raw := utf8.AppendRune(nil, t.last)
	if row, now := t.row(t.at.y), (shown{t.last, seen(t.pen, t.last)}); n > 4 && t.at.x+n <= t.w {
		same := true
		for x := range n {
			same = same && row[t.at.x+x] == now
			row[t.at.x+x] = now
		}
		if !same {
			t.through(raw)
			t.out = append(strconv.AppendInt(append(t.out, "\x1b["...), int64(n-1), 10), 'b')
			t.put.x += n
		}
		t.at.x += n
		return
	}
	for range n {
		t.letter(t.last, raw)
	}
}

// shift follows a sequence that takes n cells out of the cursor's row, or puts them in.
func (t *thrift) shift(out bool, n int, raw []byte) {
	t.through(raw)
	row := t.row(t.at.y)[t.at.x:]
	blank := row[:n]
	if out {
		copy(row, row[n:])
		blank = row[len(row)-n:]
	} else {
		copy(row[n:], row)
	}
	for i := range blank {
		blank[i] = shown{}
	}
}

// scroll follows a sequence that moves the rows from one on up by n, or down.
func (t *thrift) scroll(from, n int, raw []byte) {
	t.through(raw)
	if from > t.bottom || t.bottom >= t.h {
		t.sees = false
		return
	}
	t.row(t.bottom)
	rows := t.cells[from : t.bottom+1]
	for range min(max(n, -n), len(rows)) {
		if n > 0 {
			copy(rows, rows[1:])
			rows[len(rows)-1] = make([]shown, t.w)
		} else {
			copy(rows[1:], rows)
			rows[0] = make([]shown, t.w)
		}
	}
}
