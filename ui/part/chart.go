package part

import (
	"cmp"
	"math"
	"time"

	"github.com/farsight-console/farsight/engine/human"
	"github.com/farsight-console/farsight/engine/safe"
	"github.com/farsight-console/farsight/themes"
)

// Axis is the time of all charts of a screen: each cell is one step of it, and now has
// the same column in all of them. Now is that step's beginning, so that what is drawn
// moves by whole cells and all charts in the same frame.
type Axis struct {
	Step  time.Duration // what one cell stands for
	Ahead time.Duration // the same of a cell from now on; 0 = Step
	Now   time.Time
	Back  int // the cells before now: its column
	Width int
}

// NewAxis returns an axis of w cells with so many of them before now.
func NewAxis(now time.Time, step time.Duration, back, w int) Axis {
	return Axis{Step: step, Now: now.Truncate(step), Back: back, Width: max(w, 0)}
}

// At returns the cell of an instant; below 0 or Width and more it is not on the axis.
func (a Axis) At(t time.Time) int {
	d, step := t.Sub(a.Now), a.Step
	if d >= 0 && a.Ahead > 0 {
		step = a.Ahead
	}
	cell := d / step
	if d < cell*step {
		cell--
	}
	return a.Back + int(cell)
}

// Start returns the instant at which a cell begins.
func (a Axis) Start(cell int) time.Time {
	step := human.Either(cell > a.Back && a.Ahead > 0, a.Ahead, a.Step)
	return a.Now.Add(time.Duration(cell-a.Back) * step)
}

// Chart is rows of cells on one axis: what happened solid, what is planned in dots, now
// the seam between them. Things are put on it by their cell, rows count from the top.
type Chart struct {
	Axis
	th   *themes.Theme
	rows []canvas
	text Line // cleans what is put
}

// NewChart returns an empty chart of h rows.
func NewChart(th *themes.Theme, a Axis, h int) *Chart {
	c := &Chart{Axis: a, th: th, rows: make([]canvas, max(h, 0))}
	c.text = Line{th: th, max: a.Width}
	cells := make([]canvasCell, len(c.rows)*a.Width)
	for y := range c.rows {
		c.rows[y].cells = cells[y*a.Width : (y+1)*a.Width : (y+1)*a.Width]
	}
	return c
}

// Series is the heights of an area, one for each cell of the axis.
type Series struct {
	Values []float64 // NaN = not known: nothing is drawn
	Top    float64   // of the scale
	// Token colours it; Text takes the ramp, brighter where it is higher.
	Token themes.Token
	// Odd tells the stripes: cells that follow each other and differ in it lie in
	// different windows. nil = no stripes.
	Odd func(cell int) bool
	// Sure draws what is ahead solid as well: what is due, not what may be.
	Sure bool
}

// Area fills the h rows from y on with heights. What was put there before stays where a
// height leaves its cell free.
func (c *Chart) Area(y, h int, s Series) {
	top := y + h
	if y < 0 || h <= 0 || top > len(c.rows) || !(s.Top > 0) {
		return
	}
	for x := range min(c.Width, len(s.Values)) {
		v := s.Values[x]
		if !(v > 0) {
			continue
		}
		planned := x >= c.Back && !s.Sure
		signs := human.Either(planned, c.th.Glyphs.Plan, c.th.Glyphs.Spark)
		odd := s.Odd != nil && s.Odd(x)
		resets := s.Odd != nil && x > 0 && s.Odd(x-1) != odd
		n := height(v, s.Top, h, len(signs))
		for r := 0; r < h && n > 0; r++ {
			k := min(n, len(signs))
			glyph := human.Either(k == len(signs) && resets && !c.th.Shades(), c.th.Glyphs.Reset, signs[k-1])
			c.rows[top-1-r].set(x, s.tone(r, h, v, planned, odd), glyph, false)
			n -= k
		}
	}
}

// tone is the colour of row r of h, counted from the ground.
func (s Series) tone(r, h int, v float64, planned, odd bool) themes.Token {
	t := s.Token
	if t == themes.Text {
		at := (float64(r) + 0.5) / float64(h)
		switch {
		case h == 1 && planned:
			return themes.Planned(themes.Odd(themes.Flow(0.62)))
		case h == 1:
			t = themes.Flow(0.3 + 0.5*v/s.Top)
		case planned:
			t = themes.Flow(0.2 + 0.6*at)
		default:
			t = themes.Flow(0.12 + 0.72*at)
		}
	}
	if odd {
		t = themes.Odd(t)
	}
	if planned {
		t = themes.Planned(t)
	}
	return t
}

// Sign puts one sign of the glyph table at a cell.
func (c *Chart) Sign(y, cell int, t themes.Token, glyph string) {
	if y >= 0 && y < len(c.rows) {
		c.rows[y].set(cell, t, glyph, false)
	}
}

// Run puts a sign into each cell from one to before another.
func (c *Chart) Run(y, from, to int, t themes.Token, glyph string) {
	for x := max(from, 0); x < min(to, c.Width); x++ {
		c.Sign(y, x, t, glyph)
	}
}

// Put writes text from a cell on over what is there; what lies outside is lost.
func (c *Chart) Put(y, cell int, t themes.Token, text string) {
	if y >= 0 && y < len(c.rows) {
		c.rows[y].text(cell, t, c.text.clean(text, false))
	}
}

// Try writes text from a cell on where it fits with a gap to what is there, and reports
// whether it did.
func (c *Chart) Try(y, cell int, t themes.Token, text string) bool {
	return y >= 0 && y < len(c.rows) && c.rows[y].try(cell, t, c.text.clean(text, false))
}

// Ends writes text over what is there so that it ends at the last cell.
func (c *Chart) Ends(y int, t themes.Token, text string) {
	if text != "" {
		c.Put(y, c.Width-safe.Width(text)-2, t, "  "+text)
	}
}

// Mid writes text around a cell of the axis where it is free, moved inwards at the ends.
func (c *Chart) Mid(y, cell int, t themes.Token, text string) bool {
	w := safe.Width(text)
	return cell >= 0 && cell < c.Width && c.Try(y, clamp(cell-w/2, 0, max(c.Width-w, 0)), t, text)
}

// Seam draws the column of now through the rows from y on.
func (c *Chart) Seam(y, h int) {
	if c.Back < 0 || c.Back >= c.Width {
		return
	}
	for i := max(y, 0); i < min(y+h, len(c.rows)); i++ {
		c.rows[i].cells[c.Back].seam = true
	}
}

// wordsApart is how many cells lie between two words of an axis, at least.
const wordsApart = 10

// Words writes the axis into row y: now above its column, then how far away the cells
// are.
func (c *Chart) Words(y int) { c.WordsAt(y, "now") }

// WordsAt is Words with another word in the place of "now".
func (c *Chart) WordsAt(y int, here string) {
	c.Mid(y, c.Back, themes.Figure, here)
	every := round(cmp.Or(c.Ahead, c.Step))
	for far := every; c.At(c.Now.Add(far)) < c.Width; far += every {
		c.Mid(y, c.At(c.Now.Add(far)), themes.Dim, "+"+human.Distance(far))
	}
	every = round(c.Step)
	for far := every; c.At(c.Now.Add(-far)) >= 0; far += every {
		c.Mid(y, c.At(c.Now.Add(-far)), themes.Dim, c.th.Glyphs.Minus+human.Distance(far))
	}
}

// round is the time between two words of an axis of such cells: one that people count in.
func round(step time.Duration) time.Duration {
	for _, d := range []time.Duration{1, 2, 5, 10, 15, 30, 60, 120, 300, 600, 900, 1800, 3600, 7200, 6 * 3600} {
		if d *= time.Second; d >= wordsApart*step {
			return d
		}
	}
	return (wordsApart*step + 24*time.Hour - 1).Truncate(24 * time.Hour)
}

// Row writes row y at the end of a line.
func (c *Chart) Row(l *Line, y int) *Line {
	if y < 0 || y >= len(c.rows) {
		return l
	}
	return c.rows[y].on(l)
}

// View returns the chart alone, row by row.
func (c *Chart) View() []string {
	out := make([]string, 0, len(c.rows))
	l := NewLine(c.th, c.Width)
	for y := range c.rows {
		l.Reset(c.Width, false)
		out = append(out, c.Row(l, y).String())
	}
	return out
}

// seam writes an empty cell of the column of now.
func (l *Line) seam() {
	if l.th.Profile == themes.Mono || l.th.ASCII() {
		l.sign(themes.Dim, l.th.Glyphs.Seam, 1)
		return
	}
	l.sign(themes.Text, " ", 1)
}

// PastChart returns a chart of h rows of which all w cells lie before now: what was counted, on a line
// of ground.
func PastChart(th *themes.Theme, w, h int) *Chart {
	c := NewChart(th, Axis{Step: time.Second, Back: max(w, 0), Width: max(w, 0)}, h)
	c.Run(h-1, 0, w, themes.Hairline, th.Glyphs.Ground)
	return c
}

// RowOf returns which of h rows a value reaches, from the top.
func (c *Chart) RowOf(v, high float64, h int) int {
	steps := len(c.th.Glyphs.Spark)
	return h - 1 - min(height(v, high, h, steps)/steps, h-1)
}

// RoundStep is the first whole number in steps of 1, 2 and 5 that is as high as asked for.
func RoundStep(least float64) float64 {
	for unit := 1.0; ; unit *= 10 {
		for _, n := range []float64{1, 2, 5} {
			if n*unit >= least {
				return n * unit
			}
		}
	}
}

// height is a value in steps of a column of h cells; a little is never nothing.
func height(v, high float64, h, steps int) int {
	if !(v > 0) || !(high > 0) {
		return 0
	}
	return max(int(math.Round(math.Min(v/high, 1)*float64(h*steps))), 1)
}
