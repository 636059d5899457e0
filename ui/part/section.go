package part

import (
	"cmp"

	"github.com/farsight-console/farsight/engine/safe"
	"github.com/farsight-console/farsight/themes"
)

// Section is a titled block of rows without a frame: the title stands on a hairline, and
// an empty row parts it from the next.
//
//	NEEDS YOU 2 ──────────────────────────────── tail
//	▲ 1 unexpected 429                          enter
type Section struct {
	// Title is drawn as it is written: capitals for what it is called, the name itself for
	// what has one. Note says more of it, dimmed.
	Title, Note string
	// Tail stands at the right end of the title's hairline, if there is room.
	Tail string
	// Head, a row as wide as Rows, replaces the title: a section whose title is the header
	// of its table (see Table.Header).
	Head string
	// Focus marks the section that the keys go to, where a screen has several.
	Focus bool
	// Rows are painted rows; they are fitted to their width.
	Rows []string
	// Empty is said in their place where there are none.
	Empty string
	// Height is the number of body rows; 0 shares what the others leave.
	Height int
	// Click is what a click into the section means; nil = nothing.
	Click click
}

// Sections draws sections one below the other, h rows of w cells of which pad at either
// side stay empty: two blocks side by side have a gutter between them. An empty row parts
// the sections as far as there is room; those that find none are left out from the last.
// What can be clicked is noted in hits, which may be nil, as standing at x, y.
func Sections(th *themes.Theme, x, y, w, h, pad int, hits *Hits, sections ...Section) []string {
	inner := w - 2*pad
	if inner < 1 || h < 1 || len(sections) == 0 {
		return Height(th, w, h, nil)
	}
	return block{th: th, inner: inner, pad: pad}.sections(x, y, h, hits, sections)
}

// sections are h rows of a block that stands at x, y.
func (b block) sections(x, y, h int, hits *Hits, sections []Section) []string {
	out := make([]string, 0, h)
	heights, gaps := share(h, sections)
	for i, s := range sections {
		if len(out) >= h {
			break
		}
		if i > 0 && i <= gaps {
			out = append(out, b.row(""))
		}
		hits.Add(x, y+len(out), b.inner+2*b.pad, heights[i]+1, s.Click.below(1, b.pad))
		out = append(out, b.title(s))
		if len(s.Rows) == 0 && s.Empty != "" {
			s.Rows = []string{Row(b.th, b.inner, As(themes.Dim, " "+s.Empty))}
		}
		for _, row := range Height(b.th, b.inner, heights[i], s.Rows) {
			out = append(out, blanks[:b.pad]+row+blanks[:b.pad])
		}
	}
	for len(out) < h {
		out = append(out, b.row(""))
	}
	return out[:h]
}

// share gives each section its body rows and says how many empty rows part them: fixed
// heights first, in order, then the empty rows; flexible sections get equal parts of the
// rest.
func share(h int, sections []Section) (heights []int, gaps int) {
	left := max(h-len(sections), 0)
	heights = make([]int, len(sections))
	flexible := 0
	for i, s := range sections {
		if s.Height <= 0 {
			flexible++
			continue
		}
		heights[i] = min(s.Height, left)
		left -= heights[i]
	}
	gaps = min(len(sections)-1, left)
	left -= gaps
	for i, s := range sections {
		if s.Height <= 0 {
			heights[i] = (left + flexible - 1) / flexible
			left -= heights[i]
			flexible--
		}
	}
	return heights, gaps
}

// block is what the rows of sections have in common.
type block struct {
	th         *themes.Theme
	inner, pad int
}

const blanks = "  "

// row is a row of the block with its empty cells at either side.
func (b block) row(row string) string {
	return blanks[:b.pad] + fit(b.th, row, b.inner) + blanks[:b.pad]
}

// title is the row that carries a section's title.
func (b block) title(s Section) string {
	if s.Head != "" {
		return b.row(s.Head)
	}
	l := NewLine(b.th, b.inner)
	l.title(s)
	return blanks[:b.pad] + l.String() + blanks[:b.pad]
}

// leastRule is the shortest hairline between a note and a tail: a shorter one reads as a dash.
const leastRule = 3

// title writes "TITLE note ──────── tail", with the sign of the focus in the cell before
// it, where the rows below have the sign of their cursor.
func (l *Line) title(s Section) {
	title, note, tail := l.clean(s.Title, false), l.clean(s.Note, false), l.clean(s.Tail, false)
	token := l.th.Title()
	if s.Focus {
		token = themes.Focus
		l.Glyph(token, l.th.Glyphs.Focus, 1)
	}
	end := l.max - 1
	l.To(1).write(token, title, end-l.at)
	if room := end - l.at - 1; note != "" && room > 3 {
		l.Gap(1).write(themes.Dim, cmp.Or(Clause(note, room), note), room)
	}
	w := safe.Width(tail)
	if fits := w > 0 && end-l.at >= w+2; !fits {
		w = 0
	}
	rule := end - l.at - 1
	if w > 0 {
		rule -= w + 1
	}
	if l.at > 1 {
		l.Gap(1)
	} else {
		rule++
	}
	if w == 0 || rule >= leastRule {
		l.Glyph(themes.Hairline, l.th.Glyphs.Horizontal, rule)
	}
	if w > 0 {
		l.To(end-w).write(themes.Dim, tail, w)
	}
}

// PanelPad is how many cells stay empty at either side of what lies over a page: its
// titles and rows have one more of their own.
const PanelPad = 2

// Panel draws sections of fixed heights that lie over a page: rows of w cells on the
// ground of a raised theme, at most h. Where there is room, an empty row stands above and
// below; where the ground cannot be told from the page, a hairline ends it. top is the
// row of the first title.
func Panel(th *themes.Theme, w, h int, hits *Hits, sections ...Section) (rows []string, top int) {
	b := block{th: th, inner: w - 2*PanelPad, pad: PanelPad}
	if b.inner < 2 || h < 1 || len(sections) == 0 {
		return nil, 0
	}
	need := 2*len(sections) - 1
	for _, s := range sections {
		need += s.Height
	}
	last := b.row("")
	if !th.Lifted() {
		hairline := NewLine(th, b.inner).Gap(1).Glyph(themes.Hairline, th.Glyphs.Horizontal, b.inner-2)
		last = blanks + hairline.String() + blanks
	}
	switch {
	case need+2 <= h:
		top = 1
		rows = append(append([]string{b.row("")}, b.sections(0, 1, need, hits, sections)...), last)
	case need < h:
		rows = append(b.sections(0, 0, need, hits, sections), last)
	default:
		rows = b.sections(0, 0, h, hits, sections)
	}
	for i := range rows {
		rows[i] = th.Base() + rows[i]
	}
	return rows, top
}
