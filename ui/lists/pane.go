package lists

import (
	"github.com/farsight-console/farsight/engine/human"
	"github.com/farsight-console/farsight/ui/page"
	"github.com/farsight-console/farsight/ui/part"
)

// moves carries out the keys that move a cursor in a list of h visible rows.
var moves = map[page.Action]func(c *part.Cursor, src part.Source, h int){
	page.Up:       func(c *part.Cursor, src part.Source, h int) { c.Move(src, -1, h) },
	page.Down:     func(c *part.Cursor, src part.Source, h int) { c.Move(src, 1, h) },
	page.PageUp:   func(c *part.Cursor, src part.Source, h int) { c.Page(src, -1, h) },
	page.PageDown: func(c *part.Cursor, src part.Source, h int) { c.Page(src, 1, h) },
	page.HalfUp:   func(c *part.Cursor, src part.Source, h int) { c.Half(src, -1, h) },
	page.HalfDown: func(c *part.Cursor, src part.Source, h int) { c.Half(src, 1, h) },
	page.Home:     func(c *part.Cursor, src part.Source, h int) { c.Home(src, h) },
	page.End:      func(c *part.Cursor, src part.Source, h int) { c.End(src, h) },
}

// Pane is a list with its cursor.
type Pane struct {
	Cur    part.Cursor
	Pan    int
	Height int // visible rows when it was last drawn
	// Asked says that the operator changed what the list holds: the cursor goes
	// to a row that is there, instead of holding on to one that left.
	Asked bool
}

// Follow puts the cursor where the list is, once it has been drawn anew.
func (p *Pane) Follow(src part.Source) {
	p.Cur.Sync(src, p.Height)
	if _, left := p.Cur.Left(); left && p.Asked {
		p.Cur.Rest(src, p.Height)
	}
	p.Asked = false
}

// Steer moves the cursor or pans; false when the key means something else.
func (p *Pane) Steer(src part.Source, a page.Action) bool {
	if move, ok := moves[a]; ok {
		p.Cur.Sync(src, p.Height)
		move(&p.Cur, src, p.Height)
		return true
	}
	switch a {
	case page.Left:
		p.Pan = max(p.Pan-1, 0)
		return true
	case page.Right:
		p.Pan++
		return true
	}
	return false
}

// Clicked puts the cursor on a visible row, counted from the first one. A click beside the rows
// does nothing. It asks for no action: to open a row takes a key.
func (p *Pane) Clicked(src part.Source, row int) (action string) {
	if row >= 0 && row < p.Height && p.Cur.Top()+row < src.Len() {
		p.Cur.Sync(src, p.Height)
		p.Cur.Move(src, p.Cur.Top()+row-p.Cur.At(), p.Height)
	}
	return ""
}

// Table draws the list with its header: h rows of w cells.
func (p *Pane) Table(v *page.View, t part.Table, w, h int, src part.Source) []string {
	p.Height = max(h-1, 1)
	p.fitPan(t, w)
	t.Pan = p.Pan
	p.Follow(src)
	return t.View(v.Theme, w, h, src, &p.Cur)
}

// OnRow is the line of the cursor in a table of n rows, where its header is line 0; -1 = the list
// is empty.
func (p *Pane) OnRow(n int) int { return human.Either(n == 0, -1, 1+p.Cur.At()-p.Cur.Top()) }

// Body draws the list without a header.
func (p *Pane) Body(v *page.View, t part.Table, w, h int, src part.Source) []string {
	p.Height = max(h, 1)
	p.Follow(src)
	return t.Body(v.Theme, w, h, src, &p.Cur)
}

// Section is a section that holds the list, h rows of w cells with the header.
func (p *Pane) Section(v *page.View, t part.Table, w, h int, src part.Source, s part.Section) part.Section {
	s.Rows, s.Height = p.Table(v, t, w, h, src), h
	s.Click = func(_, y int) string { return p.Clicked(src, y-1) }
	return s
}

// fitPan stops panning where every column has been seen.
func (p *Pane) fitPan(t part.Table, w int) {
	for p.Pan > 0 {
		t.Pan = p.Pan - 1
		if t.CanPan(w) {
			return
		}
		p.Pan--
	}
}

// Selected finds the row under the cursor in items. If the cursor was never moved it is the first
// row, also before the list was drawn for the first time. ok is false for an empty list, and for a
// row that has left it: a key must not act on another one.
func Selected[T any](p *Pane, src part.Slice[T]) (item T, ok bool) {
	id, ok := p.Cur.Selected()
	if !ok && src.Len() > 0 {
		if _, left := p.Cur.Left(); !left {
			return src.Items[0], true
		}
	}
	i, found := src.Find(id)
	if !ok || !found {
		return item, false
	}
	return src.Items[i], true
}

// Openable is the id of the row that enter opens: the one under the cursor, also
// when it has left the list.
func Openable[T any](p *Pane, src part.Slice[T]) (id string, ok bool) {
	if item, ok := Selected(p, src); ok {
		return src.Key(item), true
	}
	return p.Cur.Left()
}

// Away says that the row under the cursor has left a list of so many; "" = it has not, or nothing else is there.
func (p *Pane) Away(v *page.View, what string, rows int) string {
	if _, left := p.Cur.Left(); left && rows > 0 {
		return v.Keyed("the chosen " + what + " is not among the rows any more; {open} opens it, {down} goes on")
	}
	return ""
}

// None is the reason of an action that has no row to act on.
func None(p *Pane, what string) string {
	if _, left := p.Cur.Left(); left {
		return "the " + what + " has left this list: move the cursor first"
	}
	return "there is no " + what + " here"
}

// Missing says that no row is under the cursor.
func Missing[T any](p *Pane, src part.Slice[T], what string) string {
	if _, ok := Selected(p, src); !ok {
		return None(p, what)
	}
	return ""
}

// Hold implements Holder.
func (p *Pane) Hold() { p.Cur.Hold() }

// Place implements Holder.
func (p *Pane) Place() string {
	id, _ := p.Cur.Selected()
	return id
}

// NoCells gives a list no cells: for one that draws its rows itself.
func NoCells[T any](_ T, cells []part.Cell) []part.Cell { return cells }
