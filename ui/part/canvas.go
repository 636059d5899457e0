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
	wide  bool // the second cell of a wide rune, or the first
}

func newCanvas(w int) *canvas { return &canvas{make([]canvasCell, max(w, 0))} }

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

// put writes clean text at x; what lies outside is lost.
func (c *canvas) put(x int, t themes.Token, s string) {
	for _, r := range s {
		w := safe.RuneWidth(r)
		switch {
		case w == 0:
			c.mark(x-1, r)
			continue
		case x < 0, x+w > len(c.cells):
		case w == 2:
			c.cells[x] = canvasCell{string(r), t, true}
			c.cells[x+1] = canvasCell{"", t, true}
		default:
			c.cells[x] = canvasCell{string(r), t, false}
		}
		x += w
	}
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
		c.put(x, t, s)
	}
	return ok
}

// row returns the canvas as a painted row.
func (c *canvas) row(th *themes.Theme) string {
	l := NewLine(th, len(c.cells))
	for _, cell := range c.cells {
		switch {
		case cell.wide && cell.glyph == "":
		case cell.glyph == "":
			l.Gap(1)
		default:
			l.write(cell.token, cell.glyph, 2)
		}
	}
	return l.String()
}
