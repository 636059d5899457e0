package page

import (
	"time"

	"github.com/farsight-console/farsight/engine/columns"
	"github.com/farsight-console/farsight/engine/human"
	"github.com/farsight-console/farsight/ui/part"
)

// Pen writes the cells of a catalogue as a view does.
type Pen struct{ *View }

// Now is the instant that the view shows, which is in the past while it is frozen.
func (p Pen) Now() time.Time { return p.View.Now }

// Why is a limiter's reason in the words of a list, see BriefWhy.
func (p Pen) Why(reason string) string { return BriefWhy(p.View, reason) }

// Sign is a text with the sign and the colour of a state word.
func (p Pen) Sign(state, text string) part.Cell {
	sign := p.Theme.State(state)
	return part.As(sign.Token, sign.Glyph+" "+text)
}

// ByView is a cell for which a view itself is needed.
func ByView[T any](draw func(v *View, row *T) part.Cell) func(columns.Pen, *T) part.Cell {
	return func(p columns.Pen, row *T) part.Cell { return draw(p.(Pen).View, row) }
}

// CellsOf writes the rows of a short list, which is never sorted.
func CellsOf[T any](v *View, shown columns.List[T]) func(row T, cells []part.Cell) []part.Cell {
	return func(row T, cells []part.Cell) []part.Cell {
		for i := range shown {
			cells = append(cells, shown[i].Cell(Pen{v}, &row))
		}
		return cells
	}
}

// Joined are facts behind each other, without those that are not there.
func Joined(v *View, facts ...string) (text string) {
	for _, f := range facts {
		text += human.If(f != "" && text != "", " "+v.Theme.Glyphs.Sep+" ")
		text += f
	}
	return text
}

// Beside writes a chart behind the rows of a list, with the cell at its right that stays empty
// and at its left what else there is of w; picked is the row of the cursor.
func Beside(v *View, rows []string, c *part.Chart, w, picked int) {
	l := part.NewLine(v.Theme, w)
	for y := range rows {
		l.Reset(w, y == picked)
		rows[y] += c.Row(l.Gap(w-c.Width-1), y).String()
	}
}

// Leaves is how many rows sections of fixed heights leave for what stands below them.
func (v *View) Leaves(sections []part.Section) int {
	if v.Size == S {
		return 0
	}
	left := v.H - len(sections) // what parts them and the blocks
	for _, s := range sections {
		left -= 1 + s.Height
	}
	return left
}

// Abreast draws blocks of equal width side by side.
func (v *View) Abreast(y, h int, blocks []func(w, h int) part.Section) []string {
	x, out := 0, make([][]string, 0, len(blocks))
	for i, block := range blocks {
		w := v.W*(i+1)/len(blocks) - x
		out = append(out, v.Sections(x, y, w, h, block(v.Inner(w), h-1)))
		x += w
	}
	return part.Beside(out...)
}
