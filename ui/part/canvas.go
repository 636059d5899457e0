package part

import (
	"github.com/farsight-console/farsight/engine/safe"
	"github.com/farsight-console/farsight/themes"
)

// canvas is one row on which pieces are put in any order.
type canvas struct{ cells []canvasCell }

type canvasCell struct {
	glyph string // empty: nothing here yet
	token themes.Token
	seam  bool // lies in the column of now
	wide  bool // the second cell of a wide rune, or the first
}

// free reports whether text of w cells fits at x with a gap to its
// neighbours.
func (c *canvas) free(x, w int) bool {
	if x < 0 || x+w > len(c.cells) {
		return false
	}
	for i := max(x-1, 0); i < min(x+w+1, len(c.cells)); i++ {
		if c.cells[i].glyph != "" || c.cells[i].wide {
			return false
		}
	}
	return true
}

// text writes clean text at x; what lies outside is lost.
func (c *canvas) text(x int, t themes.Token, s string) {
	for _, r := range s {
		w := safe.RuneWidth(r)
		switch {
		case w == 0:
			c.mark(x-1, r)
			continue
		case x < 0, x+w > len(c.cells):
		case w == 2:
			c.set(x, t, string(r), true)
			c.set(x+1, t, "", true)
		default:
			c.set(x, t, string(r), false)
		}
		x += w
	}
}

// set puts a sign of one cell at x; outside it is lost.
func (c *canvas) set(x int, t themes.Token, glyph string, wide bool) {
	if x < 0 || x >= len(c.cells) {
		return
	}
	cell := &c.cells[x]
	if cell.wide && !wide { // half a letter goes with the other half
		c.cells[x-btoi(cell.glyph == "")] = canvasCell{}
		c.cells[x+btoi(cell.glyph != "")] = canvasCell{}
	}
	cell.glyph, cell.token, cell.wide = glyph, t, wide
}

// mark puts a combining mark on the letter that ends at x.
func (c *canvas) mark(x int, r rune) {
	if x < 0 || x >= len(c.cells) {
		return
	}
	if c.cells[x].wide && c.cells[x].glyph == "" {
		x--
	}
	c.cells[x].glyph += string(r)
}

// try puts text where it is free.
func (c *canvas) try(x int, t themes.Token, s string) bool {
	ok := s != "" && c.free(x, safe.Width(s))
	if ok {
		c.text(x, t, s)
	}
	return ok
}

// on writes the canvas at the end of a line.
func (c *canvas) on(l *Line) *Line {
	under := l.layer
	for i := range c.cells {
		cell := &c.cells[i]
		if cell.seam {
			l.layer = themes.OnSeam
		}
		switch {
		case cell.wide && cell.glyph == "":
		case cell.glyph != "":
			l.sign(cell.token, cell.glyph, 1+btoi(cell.wide))
		case cell.seam:
			l.seam()
		default:
			l.Gap(1)
		}
		l.layer = under
	}
	return l
}
