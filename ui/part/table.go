package part

import (
	"strconv"
	"strings"

	"github.com/farsight-console/farsight/engine/human"
	"github.com/farsight-console/farsight/engine/safe"
	"github.com/farsight-console/farsight/themes"
)

// Source is the data behind a table. Only the rows on the screen are asked
// for, so a million rows cost no more than forty.
type Source interface {
	// Len is the number of rows.
	Len() int
	// ID returns the identity of row i, which cursor and marks hold on to.
	ID(i int) string
	// Find returns the row of an id. It must not walk the rows if they are many.
	Find(id string) (i int, ok bool)
	// Row appends the cells of row i, one for each column, to cells.
	Row(i int, cells []Cell) []Cell
}

// Table draws the visible part of a Source. It holds no state: that is in the
// Cursor.
type Table struct {
	Columns []Column
	// Title replaces the first column's header (a section title, see
	// Panel.Head).
	Title string
	// Pan counts the steps to the right; the first shows the leftmost columns
	// in order, each further one skips one that is not pinned.
	Pan int
	// Empty is said when there are no rows: why, and the next key.
	Empty string
	// Failed says that Empty tells of an error.
	Failed bool
	// Blur draws the cursor row without its background: the pane is not in
	// focus. The sign in column 1 stays.
	Blur bool
	// Fades lets rows further down step back. A list that moves by itself must not: each of
	// its rows would be painted anew.
	Fades bool
	// Still draws no cursor at all: the keys go to another pane.
	Still bool
	// Line draws row i from its second cell on where it is no record: a heading, or what parts
	// two; nil, or a nil answer = it has cells.
	Line func(i int) func(l *Line)
	// Layer is what row i lies on unless the cursor is on it: rows further down a list fade.
	// nil = all lie on the plain ground.
	Layer func(i int) themes.Layer
}

// Header returns the header row of w cells.
func (t Table) Header(th *themes.Theme, w int) string {
	slots, more := layout(t.Columns, w, t.Pan)
	return t.header(NewLine(th, w), slots, more, "")
}

// CanPan reports whether columns are hidden at the right at this width.
func (t Table) CanPan(w int) bool {
	_, more := layout(t.Columns, w, t.Pan)
	return more > 0
}

// Shown reports for each column whether a row of w cells has it.
func (t Table) Shown(w int) []bool {
	slots, _ := layout(t.Columns, w, t.Pan)
	shown := make([]bool, len(t.Columns))
	for _, s := range slots {
		shown[s.column] = true
	}
	return shown
}

// ColumnAt returns the column whose title stands at cell x of the header of w cells, -1
// for none.
func (t Table) ColumnAt(w, x int) int {
	slots, _ := layout(t.Columns, w, t.Pan)
	from := leftMargin
	for _, s := range slots {
		if x >= from-1 && x <= from+s.width {
			return s.column
		}
		from += s.width + columnGap
	}
	return -1
}

// View returns the header and the visible rows: h rows of w cells.
func (t Table) View(th *themes.Theme, w, h int, src Source, c *Cursor) []string {
	if h <= 0 {
		return nil
	}
	slots, more := layout(t.Columns, w, t.Pan)
	l := NewLine(th, w)
	out := make([]string, 0, h)
	if h > 1 {
		out = append(out, t.header(l, slots, more, t.shown(th, h-1, src, c)))
	}
	return t.body(l, out, h, slots, src, c)
}

// Body is View without the header, for tables whose header is a rule.
func (t Table) Body(th *themes.Theme, w, h int, src Source, c *Cursor) []string {
	if h <= 0 {
		return nil
	}
	slots, _ := layout(t.Columns, w, t.Pan)
	return t.body(NewLine(th, w), make([]string, 0, h), h, slots, src, c)
}

// body appends rows to out until there are h.
func (t Table) body(l *Line, out []string, h int, slots []slot, src Source, c *Cursor) []string {
	w := l.max
	top := c.window(src, h-len(out))
	cells := make([]Cell, 0, len(t.Columns))
	for v := top; len(out) < h; v++ {
		i, kind := c.row(src, v)
		switch kind {
		case rowNone:
			out = append(out, t.blank(l, w, v == 0))
			continue
		case rowGone:
			cells = t.gone(slots, append(cells[:0], c.last...))
		default:
			cells = src.Row(i, cells[:0])
		}
		at := v == c.at && !t.Still
		l.Reset(w, at && !t.Blur)
		if t.Fades && !at {
			l.On(themes.Fade(faded * float64(len(out)) / float64(h)))
		}
		draw := t.lineOf(i, kind)
		t.signs(l, at, kind == rowLive && c.Marked(src.ID(i)))
		if draw == nil {
			l.To(leftMargin)
		}
		if t.Layer != nil && kind == rowLive && !at {
			l.On(t.Layer(i))
		}
		if draw != nil {
			draw(l)
		} else {
			t.row(l, slots, cells)
		}
		out = append(out, l.String())
	}
	return out
}

// lineOf is what draws row i where it is no record; nil = it has cells, as a row that left has.
func (t Table) lineOf(i int, kind rowKind) func(l *Line) {
	if t.Line == nil || kind != rowLive {
		return nil
	}
	return t.Line(i)
}

// shown says which rows h rows show, where there are more: "1–17 of 57"; of lines that are not all rows, that more
// follow.
func (t Table) shown(th *themes.Theme, h int, src Source, c *Cursor) string {
	top, all := c.window(src, h), c.rows(src)
	switch {
	case all <= h, t.Line != nil && top+h >= all:
		return ""
	case t.Line != nil:
		return "more " + th.Glyphs.Down
	}
	return human.Count(int64(top+1)) + th.Glyphs.Range + human.Count(int64(top+h)) + " of " + human.Count(int64(all))
}

// header writes the titles. At the edge, where they leave room, it says which rows are shown; "5 more ›" says that
// there are more columns, › alone where there is no room.
func (t Table) header(l *Line, slots []slot, more int, rows string) string {
	g := l.th.Glyphs
	l.Reset(l.max, false)
	if t.Pan > 0 {
		l.Glyph(themes.Dim, g.Less, 1)
	}
	l.To(1)
	for n, s := range slots {
		if n == 0 && t.Title != "" {
			l.Field(As(themes.Figure, t.Title), s.width+leftMargin-1, Words)
			continue
		}
		if n > 0 {
			l.Gap(columnGap)
		}
		kind := human.Either(t.Columns[s.column].Kind == Number, Number, Words)
		title := As(themes.Dim, t.Columns[s.column].Title)
		w := s.width
		if n == len(slots)-1 && kind == Words {
			w = min(w, safe.Width(title.Text))
		}
		l.To(max(l.at, leftMargin)).Field(title, w, kind)
	}
	hidden := human.If(more > 0, strconv.Itoa(more)+" more")
	for _, text := range []string{rows + "  " + hidden, rows, hidden} {
		cells := []Cell{As(themes.Dim, strings.TrimSpace(text))}
		if more > 0 {
			cells = append(cells, As(themes.Accent, " "+g.More))
		}
		if text != "" && width(cells)+columnGap <= l.Room() {
			return l.Right(cells...).String()
		}
	}
	if more > 0 {
		l.To(l.max-1).Glyph(themes.Accent, g.More, l.Room())
	}
	return l.String()
}

// signs writes the cursor in the first cell, and the mark in the second.
func (t Table) signs(l *Line, at, marked bool) {
	if at {
		l.Glyph(themes.Focus, l.th.Glyphs.Cursor, 1)
	}
	l.To(1)
	if marked {
		l.Glyph(themes.Accent, l.th.Glyphs.Mark, 1)
	}
}

// row writes the cells of the chosen columns.
func (t Table) row(l *Line, slots []slot, cells []Cell) {
	for n, s := range slots {
		if n > 0 {
			l.Gap(columnGap)
		}
		if s.column >= len(cells) {
			l.Gap(s.width)
			continue
		}
		if t.Columns[s.column].Kind == Progress {
			l.progress(cells[s.column], s.width, t.Columns[s.column].Tail)
			continue
		}
		if c := cells[s.column]; len(c.Parts) > 0 {
			end := l.at + s.width
			l.Cells(c.Parts...).To(end)
			continue
		}
		l.Field(cells[s.column], s.width, t.Columns[s.column].Kind)
	}
}

// gone greys the cells of a row that left the filter and says so in its state column, or else in the last one that has
// the room: in front only where none has.
func (t Table) gone(slots []slot, cells []Cell) []Cell {
	at := -1
	for i := range cells {
		cells[i].Token, cells[i].Parts = themes.Off, nil
		if i < len(t.Columns) && t.Columns[i].Kind == State {
			at = i
		}
	}
	for n := len(slots) - 1; n > 0 && at < 0; n-- {
		if s := slots[n]; s.column < len(cells) && s.width >= len(leftWord) && t.Columns[s.column].Kind != Progress {
			at = s.column
		}
	}
	switch {
	case at >= 0:
		cells[at].Text, cells[at].Clean = leftWord, true
	case len(cells) > 0:
		cells[0].Text = leftWord + " " + strings.TrimSpace(cells[0].Text)
	}
	return cells
}

// faded is how far the last row of a list is gone: the eye begins at the first.
const faded = 0.4

// leftWord marks a row that is drawn only because the cursor is on it.
const leftWord = "(left)"

// blank is a row below the last one; an empty table says why it is empty.
func (t Table) blank(l *Line, w int, first bool) string {
	l.Reset(w, false)
	if first && t.Empty != "" {
		token := human.Either(t.Failed, themes.Err, themes.Dim)
		l.Gap(leftMargin).Put(token, t.Empty)
	}
	return l.String()
}

// progressText is what a Progress column keeps for its text, unless its Tail
// says otherwise.
const progressText = 8

// progress writes a bar and the text behind it; a column that has no four cells for
// a bar has the text alone. text is the width of that, 0 = progressText.
func (l *Line) progress(c Cell, w, text int) {
	if text <= 0 {
		text = progressText
	}
	bar := w - text - 1
	if bar < 4 {
		l.Field(c, w, Words)
		return
	}
	if c.Ratio < 0 {
		l.Gap(bar)
	} else {
		layer := l.layer
		if layer != themes.OnSel { // a bar tells by its colour, which does not fade
			l.On(themes.OnPlain)
		}
		l.Bar(c.Token, bar, c.Ratio).On(layer)
	}
	l.Gap(1).Field(Cell{Text: c.Text, Clean: c.Clean}, text, Words)
}
