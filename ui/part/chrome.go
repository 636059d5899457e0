package part

import (
	"strconv"

	"github.com/farsight-console/farsight/engine/safe"
	"github.com/farsight-console/farsight/themes"
)

// Piece is one fact at the right of the title.
type Piece struct {
	Cell
	// Short replaces the text where the row is narrow.
	Short string
	// Keep says that the piece is dropped only when all others are.
	Keep bool
}

// Title returns the title row: the path at the left, pieces at the right.
// Where they do not fit, they are shortened, then dropped from the left.
func Title(th *themes.Theme, w int, path []string, pieces []Piece) string {
	l := NewLine(th, w)
	crumbs := l.crumbs(path)
	room := w - min(width(crumbs), max(w/2, 12)) - 3
	cells := l.pieces(pieces, room)
	l.Gap(1)
	for _, c := range crumbs {
		left := l.Room() - width(cells) - 1
		if len(cells) > 0 {
			left--
		}
		l.write(c.Token, c.Text, max(left, 0))
	}
	if len(cells) > 0 {
		l.Right(append(cells, Plain(" "))...)
	}
	return l.String()
}

// crumbs returns the path as clean cells.
func (l *Line) crumbs(path []string) []Cell {
	var cells []Cell
	for i, name := range path {
		token := themes.Text
		if i == 0 {
			token = themes.Accent
		} else {
			cells = append(cells, Cell{Text: " " + l.th.Glyphs.Crumb + " ", Token: themes.Dim})
		}
		cells = append(cells, Cell{Text: l.clean(name, false), Token: token})
	}
	return cells
}

// pieces returns the cells that fit into room, with gaps between them.
func (l *Line) pieces(pieces []Piece, room int) []Cell {
	for _, fit := range []struct {
		short bool
		gap   string
	}{{false, "   "}, {true, " "}} {
		if cells := l.spread(pieces, fit.short, fit.gap); width(cells)+len(fit.gap)-1 <= room { // as far from the path as from each other
			return cells
		}
	}
	for len(pieces) > 0 {
		pieces = dropPiece(pieces)
		if cells := l.spread(pieces, true, " "); width(cells) <= room {
			return cells
		}
	}
	return nil
}

// dropPiece removes the leftmost piece that may go, else the leftmost.
func dropPiece(pieces []Piece) []Piece {
	for i, p := range pieces {
		if !p.Keep {
			return append(append([]Piece(nil), pieces[:i]...), pieces[i+1:]...)
		}
	}
	return pieces[1:]
}

func (l *Line) spread(pieces []Piece, short bool, gap string) []Cell {
	var cells []Cell
	for _, p := range pieces {
		c := p.Cell
		if short && p.Short != "" {
			c.Text = p.Short
		}
		if c.Text == "" {
			continue
		}
		if len(cells) > 0 {
			cells = append(cells, Plain(gap))
		}
		cells = append(cells, Cell{Text: l.clean(c.Text, c.Clean), Token: c.Token})
	}
	return cells
}

// width returns the cells of clean cells.
func width(cells []Cell) int {
	w := 0
	for _, c := range cells {
		w += safe.Width(c.Text)
	}
	return w
}

// Tab is one screen of the tabs row.
type Tab struct {
	Key, Name string
	Click     Click
}

// Tabs returns row y of the screen, the screens; the active one stands in brackets. Where
// the names do not fit, the others show their keys alone.
func Tabs(th *themes.Theme, y, w int, hits *Hits, tabs []Tab, active int, right ...Cell) string {
	names := tabsWidth(tabs) < w
	l := NewLine(th, w).Gap(1)
	for i, t := range tabs {
		from := l.at
		switch {
		case i == active:
			l.Cells(As(themes.Focus, "["+t.Key+" "+t.Name+"]"))
		case names:
			l.Cells(As(themes.Accent, " "+t.Key), As(themes.Text, " "+t.Name+" "))
		default:
			l.Cells(As(themes.Accent, " "+t.Key+" "))
		}
		hits.Add(from, y, l.at-from, 1, t.Click)
	}
	l.edge(right)
	return l.String()
}

// edge writes cells at the right with a space on both sides, if they fit.
func (l *Line) edge(cells []Cell) {
	cells = l.cleaned(cells)
	if len(cells) > 0 && width(cells)+2 <= l.Room() {
		l.Right(append(cells, Plain(" "))...)
	}
}

func tabsWidth(tabs []Tab) int {
	w := 0
	for _, t := range tabs {
		w += safe.Width(safe.Text(t.Key)) + safe.Width(safe.Text(t.Name)) + 3
	}
	return w
}

// Hint is a key and what it does here.
type Hint struct {
	Key, Does string
	// Also is what the help finds the key by besides; it is not drawn.
	Also string
	// Off draws the hint dimmed: the key cannot act now, but answers why.
	Off bool
	// Keep holds the hint while others are dropped.
	Keep bool
}

// Hints returns the row of key hints; those that do not fit are dropped from
// the right.
func Hints(th *themes.Theme, w int, hints []Hint) string {
	l := NewLine(th, w)
	kept := 0
	for _, h := range hints {
		if h.Keep {
			kept += l.hintWidth(h)
		}
	}
	full := false
	for _, h := range hints {
		need := l.hintWidth(h)
		if h.Keep {
			kept -= need
		} else if full = full || l.Room() < need+kept; full {
			continue
		}
		if l.Room() >= need {
			l.hint(h)
		}
	}
	return l.String()
}

// hintWidth counts " key does " with the space that parts it from the next.
func (l *Line) hintWidth(h Hint) int {
	return safe.Width(l.clean(h.Key, false)) + safe.Width(l.clean(h.Does, false)) + 3
}

func (l *Line) hint(h Hint) {
	key, does := themes.Accent, themes.Text
	if h.Off {
		key, does = themes.Off, themes.Off
	}
	l.Gap(1).Cells(As(key, h.Key)).Gap(1).Cells(As(does, h.Does)).Gap(1)
}

// Toast is one message. Word (OK, WARN, ERROR …) gives its sign and colour.
type Toast struct {
	Word, Text string
	// More counts the messages behind it.
	More int
}

// Message returns the message row: the toast, and right at the end if the
// toast leaves room for it. A zero toast leaves the row empty.
func Message(th *themes.Theme, w int, t Toast, right ...Cell) string {
	l := NewLine(th, w)
	if t.Word != "" || t.Text != "" {
		l.toast(t)
	}
	l.edge(right)
	return l.String()
}

func (l *Line) toast(t Toast) {
	more := ""
	if t.More > 0 {
		more = " (+" + strconv.Itoa(t.More) + ")"
	}
	s := l.th.State(t.Word)
	l.Gap(1).Cells(As(s.Token, s.Glyph+" "+t.Word)).Gap(2)
	l.write(themes.Text, l.clean(t.Text, false), max(l.Room()-len(more), 0))
	l.Cells(As(themes.Dim, more))
}
