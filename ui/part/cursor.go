package part

import (
	"strings"

	"github.com/farsight-console/farsight/themes"
)

// Cursor is where a list stands: the selected row and the marks, both held by
// ID, and the scroll position.
//
// The zero Cursor is at rest: nobody has chosen a row, so it stands on whichever
// row is first, or the source's First. What moves it, and Hold, make it keep its row from then on.
//
// Call Sync after the data or the height changed and before View: it keeps
// the selected row on its line of the screen. Moves cost the same at any
// number of rows.
type Cursor struct {
	id    string
	at    int  // row of the cursor, counting a left row
	top   int  // first visible row
	held  bool // somebody chose the row: it is kept
	gone  bool
	last  []Cell // what the selected row looked like when it was last there
	marks map[string]struct{}
	from  string // where a range began
}

// rowKind tells what stands on a row of the screen.
type rowKind uint8

const (
	rowNone rowKind = iota
	rowLive
	rowGone
)

// Selected returns the id under the cursor; ok is false on an empty list and
// on a row that left the filter, so that no key acts on it.
func (c *Cursor) Selected() (id string, ok bool) { return c.id, c.id != "" && !c.gone }

// Left returns the id of a row that is drawn only because the cursor is on it.
func (c *Cursor) Left() (id string, ok bool) { return c.id, c.gone }

// At returns the row of the cursor and Top the first visible one, for a
// position such as 12/879 and for mouse clicks.
func (c *Cursor) At() int { return c.at }

// Top returns the first visible row.
func (c *Cursor) Top() int { return c.top }

// Sync follows the data: the row under the cursor stays on its line while
// others come and go above it. A row that left stays, greyed, until the
// cursor moves.
func (c *Cursor) Sync(src Source, height int) {
	if !c.held {
		c.Rest(src, height)
		return
	}
	i, ok := 0, false
	if c.id != "" {
		i, ok = src.Find(c.id)
	}
	switch {
	case ok:
		c.top += i - c.at
		c.at, c.gone = i, false
		c.last = src.Row(i, c.last[:0])
	case c.id != "":
		c.gone = true
		c.at = min(c.at, src.Len())
	default:
		c.stand(src, 0)
	}
	c.show(src, height)
}

// Hold keeps the row that was last shown under the cursor: somebody acts on it.
func (c *Cursor) Hold() { c.held = c.held || c.id != "" }

// Held reports whether somebody chose the row: it is not just the first one.
func (c *Cursor) Held() bool { return c.held }

// Rest puts the cursor on the first row, whichever that is from now on.
func (c *Cursor) Rest(src Source, height int) {
	c.top, c.gone, c.held = 0, false, false
	first := 0
	if s, ok := src.(interface{ First() int }); ok {
		first = s.First()
	}
	c.stand(src, first)
	c.show(src, height)
}

// Move moves the cursor by delta rows.
func (c *Cursor) Move(src Source, delta, height int) {
	c.held = true
	if c.gone {
		if delta == 0 {
			return
		}
		if delta > 0 { // the row below takes the place of the left one
			delta--
		}
		c.gone = false
	}
	c.stand(src, c.at+delta)
	c.show(src, height)
}

// Page moves by n screens; the row that was at the edge stays visible.
func (c *Cursor) Page(src Source, n, height int) { c.Move(src, n*max(height-1, 1), height) }

// Half moves by n half screens.
func (c *Cursor) Half(src Source, n, height int) { c.Move(src, n*max(height/2, 1), height) }

// Home goes to the first row.
func (c *Cursor) Home(src Source, height int) { c.Go(src, 0, height) }

// End goes to the last row.
func (c *Cursor) End(src Source, height int) { c.Go(src, src.Len()-1, height) }

// Row returns which row of the source stands in line y of the screen; false = none does.
func (c *Cursor) Row(src Source, y int) (i int, ok bool) {
	i, kind := c.row(src, c.top+y)
	return i, kind == rowLive
}

// Go puts the cursor on row i, or on the nearest there is.
func (c *Cursor) Go(src Source, i, height int) {
	c.gone, c.held = false, true
	c.stand(src, i)
	c.show(src, height)
}

// Select puts the cursor on an id; false when no row has it.
func (c *Cursor) Select(src Source, id string, height int) bool {
	i, ok := src.Find(id)
	if ok {
		c.Go(src, i, height)
	}
	return ok
}

// stand takes row i of the source, or the nearest.
func (c *Cursor) stand(src Source, i int) {
	if src.Len() == 0 {
		c.id, c.at, c.last = "", 0, c.last[:0]
		return
	}
	c.at = clamp(i, 0, src.Len()-1)
	c.id = src.ID(c.at)
	c.last = src.Row(c.at, c.last[:0])
}

// show scrolls as little as possible so that the cursor is visible.
func (c *Cursor) show(src Source, height int) { c.top = c.window(src, height) }

// window returns the first visible row for a height.
func (c *Cursor) window(src Source, height int) int {
	height = max(height, 1)
	top := clamp(c.top, c.at-height+1, c.at)
	return clamp(top, 0, max(c.rows(src)-height, 0))
}

// rows counts the rows on the screen's list: the source's and a left one.
func (c *Cursor) rows(src Source) int {
	if c.gone {
		return src.Len() + 1
	}
	return src.Len()
}

// row maps row v of the list to the source.
func (c *Cursor) row(src Source, v int) (i int, kind rowKind) {
	if c.gone && v == c.at {
		return 0, rowGone
	}
	if c.gone && v > c.at {
		v--
	}
	if v < 0 || v >= src.Len() {
		return 0, rowNone
	}
	return v, rowLive
}

func clamp(v, low, high int) int { return max(low, min(v, high)) }

// SelectedAt finds the selected row of a painted screen and the cell of its
// cursor sign, where the terminal's own cursor belongs: screen readers and
// magnifiers follow that one. The selected row is the one that is painted in the
// selection's colours, or the one with the cursor's sign where there are none.
func SelectedAt(th *themes.Theme, rows []string) (x, y int, ok bool) {
	if x, y, ok = findIn(rows, th.On(themes.OnSel, themes.Text)); ok {
		return x + 1, y, true
	}
	return findIn(rows, th.Open(themes.Focus)+th.Glyphs.Cursor)
}

// findIn is the cell at which a text begins in a painted screen.
func findIn(rows []string, text string) (x, y int, ok bool) {
	for y, row := range rows {
		if at := strings.Index(row, text); at >= 0 {
			x, _, _ := measure(row[:at], false)
			return x, y, true
		}
	}
	return 0, 0, false
}
