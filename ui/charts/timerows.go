package charts

import (
	"time"

	"github.com/farsight-console/farsight/engine/human"
	"github.com/farsight-console/farsight/engine/safe"
	"github.com/farsight-console/farsight/themes"
	"github.com/farsight-console/farsight/ui/page"
	"github.com/farsight-console/farsight/ui/part"
)

// TimeRow is one row of instants on an axis: what it is of, and a sign for each.
type TimeRow struct {
	Name  string
	Signs []TimeSign
}

// TimeSign is one instant of a row and the sign that stands there.
type TimeSign struct {
	At   time.Time
	Sign themes.State
	Told string // what the nearer end of the axis says where the instant lies beyond it
}

// timeName is how many cells the name before the axis takes.
const timeName = 24

// TimeRows draws rows on one axis, in at most h rows with the axis itself, as far back and ahead as
// asked for. With room to spare an empty row stands between two. nil = the block is too small.
func TimeRows(v *page.View, w, h int, back, ahead time.Duration, rows []TimeRow) []string {
	cells := w - 2 - timeName
	if cells < 20 || h < 2 || len(rows) == 0 {
		return nil
	}
	room := human.Either(ahead == 0, cells-len("now")-1, cells-2)
	step := StepOf((back + ahead) / time.Duration(room))
	// Now has a cell of its own behind those of the past, so that the oldest instant still is on
	// the axis.
	past := min(int(back/step)+1, cells-1)
	if ahead == 0 { // nothing is to come: now ends the axis, and its word has room
		past = room + 1
		// A fourth of such a step is fine enough that the oldest instant is near the axis' left end.
		least := back / time.Duration(room)
		step = max((least+step/4-1)/(step/4), 1) * (step / 4)
	}
	axis := part.NewAxis(v.Now, step, past, cells)
	apart := human.Either(2*len(rows) <= h-1, 2, 1)
	h = min(1+apart*len(rows)-(apart-1), h)
	c := part.NewChart(v.Theme, axis, h)
	c.Words(0)
	lines := make([]string, 0, h)
	for i, r := range rows {
		y := 1 + i*apart
		c.Run(y, 0, cells, themes.Tick, v.Theme.Glyphs.Dot)
		for _, s := range r.Signs {
			s.draw(v, c, y)
		}
	}
	c.Seam(1, h-1)
	l := part.NewLine(v.Theme, w)
	for y := range h {
		l.Reset(w, false)
		label := ""
		if y > 0 && (y-1)%apart == 0 {
			label = rows[(y-1)/apart].Name
		}
		l.Gap(1).Field(part.Plain(label), timeName-1, part.Words).Gap(1)
		lines = append(lines, c.Row(l, y).String())
	}
	return lines
}

// draw puts the sign at its instant. If that lies beyond the axis, the sign stands at the end of
// the row with an arrow and what is told of it; without Told it is left out.
func (s TimeSign) draw(v *page.View, c *part.Chart, y int) {
	g := v.Theme.Glyphs
	switch cell := c.At(s.At); {
	case cell < 0 && s.Told != "":
		c.Put(y, 0, s.Sign.Token, g.Less+s.Sign.Glyph+" "+s.Told+" ")
	case cell >= c.Width && s.Told != "":
		text := " " + s.Sign.Glyph + " " + s.Told + g.More
		c.Put(y, c.Width-safe.Width(text), s.Sign.Token, text)
	default:
		c.Sign(y, cell, s.Sign.Token, s.Sign.Glyph)
	}
}
