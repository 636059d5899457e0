package part

import (
	"strings"
	"time"

	"github.com/farsight-console/farsight/engine/human"
	"github.com/farsight-console/farsight/engine/safe"
	"github.com/farsight-console/farsight/engine/table"
	"github.com/farsight-console/farsight/themes"
)

// Cell is a piece of text and what it means.
type Cell = table.Cell

// Plain returns a cell of ordinary text.
func Plain(s string) Cell { return table.Plain(s) }

// As returns a cell that means t.
func As(t themes.Token, s string) Cell { return table.As(t, s) }

// If is a cell that is there only where something is so; the empty one elsewhere.
func If(is bool, c Cell) Cell { return human.Either(is, c, Cell{}) }

// StateCell returns a state word with its sign and colour.
func StateCell(th *themes.Theme, word string) Cell {
	s := th.State(word)
	return Cell{Text: s.Glyph + " " + word, Token: s.Token}
}

// maxText bounds what one call looks at: a megabyte of error text costs no
// more than what a row can show of it.
const maxText = 4096

// Line builds one row of a fixed width. What does not fit is cut with a
// single ellipsis; what is missing is filled with spaces.
type Line struct {
	th      *themes.Theme
	b       []byte
	at, max int
	layer   themes.Layer // what the next text lies on
	lit     themes.Layer // what the text before it lay on, and
	token   themes.Token // what it meant
	look    string       // which is this sequence
}

// lineLooks is what the colours of a usual row take, in bytes.
const lineLooks = 96

// NewLine starts an empty row of w cells.
func NewLine(th *themes.Theme, w int) *Line {
	l := &Line{th: th, b: make([]byte, 0, 2*max(w, 0)+lineLooks)}
	l.Reset(w, false)
	return l
}

// Reset starts the next row in the same buffer; selected rows carry the
// selection's background to their end.
func (l *Line) Reset(w int, selected bool) {
	*l = Line{th: l.th, b: l.b[:0], max: max(w, 0), look: l.th.Close()}
	if selected && l.max > 0 {
		l.layer = themes.OnSel
		l.switchTo(themes.Text)
	}
}

// On puts what follows on a layer: the open tab, a row that has faded.
func (l *Line) On(layer themes.Layer) *Line {
	l.layer = layer
	return l
}

// Room returns the cells that are left.
func (l *Line) Room() int { return l.max - l.at }

// At returns the cells written so far.
func (l *Line) At() int { return l.at }

// Put writes text as t, cut to the room.
func (l *Line) Put(t themes.Token, text string) *Line {
	return l.write(t, l.clean(text, false), l.Room())
}

// Cells writes cells one after the other.
func (l *Line) Cells(cells ...Cell) *Line {
	for _, c := range cells {
		l.write(c.Token, l.clean(c.Text, c.Clean), l.Room())
	}
	return l
}

// Field writes text into exactly w cells.
func (l *Line) Field(c Cell, w int, kind Kind) *Line {
	w = min(w, l.Room())
	end := l.at + w
	s := l.shorten(l.clean(c.Text, c.Clean), w, kind)
	if kind == Number {
		l.To(end - safe.Width(s))
	}
	return l.write(c.Token, s, w).To(end)
}

// Glyph writes a sign of the theme's table n times.
func (l *Line) Glyph(t themes.Token, glyph string, n int) *Line {
	n = min(n, l.Room())
	if n <= 0 || glyph == "" {
		return l
	}
	l.switchTo(t)
	for range n {
		l.b = append(l.b, glyph...)
	}
	l.at += n
	return l
}

// sign writes one sign of w cells, of which there is room.
func (l *Line) sign(t themes.Token, glyph string, w int) {
	if l.Room() < w {
		return
	}
	l.switchTo(t)
	l.b = append(l.b, glyph...)
	l.at += w
}

// Gap writes n spaces of plain text.
func (l *Line) Gap(n int) *Line { return l.To(l.at + n) }

const spaces = "                                "

// To fills with spaces up to column col.
func (l *Line) To(col int) *Line {
	col = min(col, l.max)
	if col <= l.at {
		return l
	}
	l.switchTo(themes.Text)
	for l.at < col {
		n := min(col-l.at, len(spaces))
		l.b = append(l.b, spaces[:n]...)
		l.at += n
	}
	return l
}

// Right writes cells so that they end at the row's last cell. They are left
// out when they do not fit whole.
func (l *Line) Right(cells ...Cell) *Line {
	cells = l.cleaned(cells)
	w := width(cells)
	if w > l.Room() {
		return l
	}
	return l.To(l.max - w).Cells(cells...)
}

// cleaned returns a copy of cells that needs no more cleaning.
func (l *Line) cleaned(cells []Cell) []Cell {
	out := make([]Cell, len(cells), len(cells)+1)
	for i, c := range cells {
		out[i] = Cell{Text: l.clean(c.Text, c.Clean), Token: c.Token, Clean: true}
	}
	return out
}

// String ends the row: filled to its width, back in plain text.
func (l *Line) String() string {
	l.To(l.max)
	l.layer = themes.OnPlain
	l.switchTo(themes.Text)
	return string(l.b)
}

// write appends clean text within w cells.
func (l *Line) write(t themes.Token, s string, w int) *Line {
	s = l.shorten(s, min(w, l.Room()), Words)
	if s == "" {
		return l
	}
	l.switchTo(t)
	l.b = append(l.b, s...)
	l.at += safe.Width(s)
	return l
}

// shorten cuts clean text by its kind: ids lose their middle, words their end, and sentences
// their last clauses.
func (l *Line) shorten(s string, w int, kind Kind) string {
	switch {
	case len(s) <= w:
		return s
	case w <= 0:
		return ""
	case kind == table.Sentence && Clause(s, w) != "":
		return Clause(s, w)
	case kind != ID:
		return safe.CutEnd(s, w, l.th.Glyphs.Ellipsis)
	}
	return l.clean(safe.CutMiddle(s, w), !l.th.ASCII())
}

// bounds are signs that mean something else when they are cut to one letter.
var bounds = strings.NewReplacer("≥", ">=", "≤", "<=")

// clean makes text fit to draw; in ASCII mode nothing else may pass.
func (l *Line) clean(s string, isClean bool) string {
	if len(s) > maxText {
		s = safe.Line(s, max(l.Room(), 1))
	}
	switch {
	case l.th.ASCII():
		return safe.ASCII(bounds.Replace(s))
	case isClean:
		return s
	}
	return safe.Text(s)
}

// switchTo changes the colours to those of a token on the present layer, if that changes anything: a
// screen has thousands of cells and a few hundred changes.
func (l *Line) switchTo(t themes.Token) {
	if t == l.token && l.layer == l.lit {
		return
	}
	l.token, l.lit = t, l.layer
	if look := l.th.On(l.layer, t); look != l.look {
		l.look = look
		l.b = append(l.b, look...)
	}
}

// Row returns cells as one row of w cells.
func Row(th *themes.Theme, w int, cells ...Cell) string {
	return NewLine(th, w).Cells(cells...).String()
}

// None is what stands where there is no value.
const None = human.None

// Of writes progress: 134/879, and 134/? when the total is not known yet.
func Of(done, total int64) string {
	if total <= 0 {
		return human.Count(done) + "/?"
	}
	return human.Count(done) + "/" + human.Count(total)
}

// Clock writes an instant as briefly as now allows: 12:31:02 today and in the next 12 h,
// 20 Nov 23:41 this year, 01 Oct 2024 before. Both are shown in now's zone.
func Clock(at, now time.Time) string {
	if at.IsZero() {
		return None
	}
	at = at.In(now.Location())
	switch {
	case at.After(now) && at.Sub(now) < 12*time.Hour: // after midnight, too
	case at.Year() != now.Year():
		return at.Format("02 Jan 2006")
	case at.YearDay() != now.YearDay():
		return at.Format("02 Jan 15:04")
	}
	return at.Format("15:04:05")
}
