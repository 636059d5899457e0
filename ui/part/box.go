package part

import (
	"strings"

	"github.com/farsight-console/farsight/engine/safe"
	"github.com/farsight-console/farsight/themes"
)

// Panel is one titled section of a box.
type Panel struct {
	Title string
	// Tail stands at the right end of the title's rule, if there is room.
	Tail string
	// Head, a row of w-2 cells, replaces the rule: a section whose title is
	// the header of its table (see Table.Header).
	Head  string
	Focus bool
	// Rows are painted rows; they are fitted to w-2 cells.
	Rows []string
	// Height is the number of body rows; 0 shares what the others leave.
	Height int
}

// Box draws panels one below the other in one frame of w x h cells, joined by
// rules. Panels that find no room are left out from the last.
func Box(th *themes.Theme, w, h int, panels ...Panel) []string {
	if w < 2 || h < 2 || len(panels) == 0 {
		return Height(th, w, h, nil)
	}
	out := make([]string, 0, h)
	heights := share(h-2, panels)
	for i, p := range panels {
		if i > 0 && len(out) >= h-1 {
			break
		}
		out = append(out, p.rule(th, w, i == 0))
		for j := range heights[i] {
			out = append(out, p.body(th, w, j))
		}
	}
	g := th.Glyphs
	for len(out) < h-1 {
		out = append(out, Panel{}.body(th, w, 0))
	}
	bottom := NewLine(th, w).Glyph(themes.Hairline, g.BottomLeft, 1).
		Glyph(themes.Hairline, g.Horizontal, w-2).Glyph(themes.Hairline, g.BottomRight, 1)
	return append(out[:h-1], bottom.String())
}

// share gives each panel its body rows: fixed heights first, in order, the
// flexible ones get equal parts of the rest.
func share(inner int, panels []Panel) []int {
	left := max(inner-(len(panels)-1), 0)
	heights := make([]int, len(panels))
	flexible := 0
	for i, p := range panels {
		if p.Height <= 0 {
			flexible++
			continue
		}
		heights[i] = min(p.Height, left)
		left -= heights[i]
	}
	for i, p := range panels {
		if p.Height <= 0 {
			heights[i] = (left + flexible - 1) / flexible
			left -= heights[i]
			flexible--
		}
	}
	return heights
}

// body returns row j of the panel between its borders.
func (p Panel) body(th *themes.Theme, w, j int) string {
	row := ""
	if j < len(p.Rows) {
		row = p.Rows[j]
	}
	side := th.Paint(themes.Hairline, th.Glyphs.Vertical)
	return side + fit(th, row, w-2) + side
}

// rule returns the border that carries the panel's title.
func (p Panel) rule(th *themes.Theme, w int, top bool) string {
	g := th.Glyphs
	left, right := g.TeeLeft, g.TeeRight
	if top {
		left, right = g.TopLeft, g.TopRight
	}
	if p.Head != "" {
		return th.Paint(themes.Hairline, left) + fit(th, p.Head, w-2) + th.Paint(themes.Hairline, right)
	}
	l := NewLine(th, w-1).Glyph(themes.Hairline, left, 1)
	p.title(l)
	p.tail(l)
	l.Glyph(themes.Hairline, g.Horizontal, l.Room())
	return l.String() + th.Paint(themes.Hairline, right)
}

// title writes " Title " or " ▸ Title " and leaves a cell of rule.
func (p Panel) title(l *Line) {
	title := l.clean(p.Title, false)
	room := l.Room() - 3
	token := themes.Text
	if p.Focus {
		token = themes.Focus
		title = l.th.Glyphs.Focus + " " + title
	}
	if title == "" || room < 1 {
		return
	}
	l.Gap(1).write(token, title, room).Gap(1)
}

// tail writes the right piece if it fits whole behind some rule.
func (p Panel) tail(l *Line) {
	tail := l.clean(p.Tail, false)
	w := safe.Width(tail)
	if tail == "" || l.Room() < w+4 {
		return
	}
	l.Glyph(themes.Hairline, l.th.Glyphs.Horizontal, l.Room()-w-3)
	l.Gap(1).write(themes.Dim, tail, w).Gap(1)
}

// Stamp writes a text into the lower border of a box, near its right end. A row
// that is no such border, or has no room, is left as it is.
func Stamp(th *themes.Theme, w int, row, text string) string {
	l := NewLine(th, w)
	text = l.clean(text, false)
	room := w - safe.Width(text) - 5
	g := th.Glyphs
	if room < 1 || !strings.Contains(row, g.BottomLeft+g.Horizontal) || !strings.Contains(row, g.Horizontal+g.BottomRight) {
		return row
	}
	head, _ := cutRow(row, room+1)
	return head + NewLine(th, safe.Width(text)+2).Gap(1).write(themes.Held, text, safe.Width(text)).String() +
		NewLine(th, 2).Glyph(themes.Hairline, g.Horizontal, 1).Glyph(themes.Hairline, g.BottomRight, 1).String()
}
