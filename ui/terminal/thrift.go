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
//
// Its model of the terminal is a grid of cells with what each shows, the cursor and the pen, each
// twice: as Bubble Tea has set them, and as the terminal has them after what was let through. A
// cell that Bubble Tea writes as it is already is not sent; the cursor is brought up to date only
// before something is. So a row in which two figures changed
//
//	\x1b[5H  LIVE  12 of 20 used  …  resets 0:07
//
// becomes two moves and two figures:
//
//	\x1b[5;9H13\x1b[5;52H06
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
// The column behind the last is a place of its own: a terminal that has filled a row stands there
// until the next letter, and only then goes to the next row.
type place struct{ x, y int }

// shown is what a cell shows; no letter = that is not known.
type shown struct {
	letter rune
	pen    uv.Style
}

// onSpace are the attributes that a space shows.
const onSpace = uv.AttrReverse | uv.AttrStrikethrough

// seen is what of a pen is seen on a letter: of a space its ground.
// Most of a screen is spaces, and their letters' colour is nothing that anybody sees: without this
// each change of colour around a gap would send the gap.
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
// A piece is what Bubble Tea writes at once, a frame mostly. It may end within a sequence, which is
// then let through with all that follows, until [thrift.order] finds a place again. The answer is
// valid until the next call.
func (t *thrift) thin(in []byte) []byte {
	t.out = t.out[:0]
	// What a terminal shows after it was resized is its own business: it may cut rows or wrap them.
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
// Before it does, the terminal is brought to where Bubble Tea believes it to be.
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

// dip gives the terminal the pen that Bubble Tea has, by what differs between the two.
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
	// ahead in the same row
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
// A move of three cells, "\x1b[3C", has four bytes: three letters of the same pen have three. Wide
// letters are left out, because half of one cannot be written.
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
// Rows are made when they are first needed; the cells of a new one show nothing that is known.
func (t *thrift) row(y int) []shown {
	for len(t.cells) <= y {
		t.cells = append(t.cells, make([]shown, t.w))
	}
	return t.cells[y]
}

// letter lets a letter through that its cell does not show.
func (t *thrift) letter(r rune, raw []byte) {
	// A wide letter that Bubble Tea writes comes as two halves (see [leftHalf]); a rune of no width, or
	// one behind the end of a row, does what the terminal decides.
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
	// Only the letter's own look has to be right: on a space another foreground does no harm.
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
	// Bubble Tea has told the terminal of no other stops.
	case '\t':
		t.at.x = min(t.at.x/8*8+8, t.w-1)
	// In raw mode a line feed goes straight down; the driver of a terminal that is not adds the return.
	case '\n':
		if t.mapped {
			t.at.x = 0
		}
		if t.at.y < t.bottom {
			t.at.y++
			return
		}
		// Where the cursor is after a scroll, terminals do not agree on.
		t.scroll(t.top, 1, []byte{c})
		t.put.x = -1
	default:
		t.blind()
		t.out = append(t.out, c)
	}
}

// order follows a sequence.
// It takes first what is let through in any case (the screen's modes, the pen, the scrolling region,
// titles and the like), and then what moves the cursor or changes cells, which only makes sense when
// the place of the cursor is known.
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
	// The first place that is named on the alternate screen: from here on everything is known.
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
	// Two-letter sequences such as ESC 7 (save the cursor); those that are left out are titles, device
	// strings and the keypad's modes, which move nothing.
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
	// Bubble Tea clears the whole screen, or from the cursor on; what a terminal makes of the other
	// forms is left to it.
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
// Cleared cells are spaces on the ground of the pen, in every terminal that Bubble Tea uses this
// for ("back colour erase"): to others it writes spaces.
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
// n > 4: "\x1b[3b" is as long as four letters.
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
// What comes in at the end of the row is not known, and so is written whatever it is.
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
// Rows that come in are not known.
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
