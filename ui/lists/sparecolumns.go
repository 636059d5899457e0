package lists

import (
	"github.com/farsight-console/farsight/ui/page"
	"github.com/farsight-console/farsight/ui/part"
)

// spares are the columns of a list that few look at. They are not shown until the
// operator asks for them; a list with nothing dropped, and one on a wide screen with
// room to spare, shows them unasked.
type spares struct {
	is    map[int]bool // by column: it is one
	On    map[int]bool // asked for
	roomy bool         // shown unasked, as far as there is room
	drawn map[int]bool // those that were in the last frame
}

// Shows reports whether a column belongs to the list as it is chosen, whatever room
// there is.
func (l *List[T]) Shows(i int) bool {
	return !l.hidden[i] && (!l.Spare.is[i] || l.Spare.On[i] || l.Spare.roomy || l.wide)
}

// seen reports whether the operator takes a column for shown: one that comes unasked
// is, when it came.
func (l *List[T]) seen(i int) bool {
	if !l.Spare.is[i] || l.Spare.On[i] {
		return l.Shows(i)
	}
	return l.Shows(i) && l.Spare.drawn[i]
}

// preferred is a column beside spare ones. Those that were asked for stay before what
// is dropped otherwise, and on a narrow screen a name gives way to them before the text
// that a row is read for does. Those that come unasked leave names and texts whole.
func (l *List[T]) preferred(v *page.View, i int, c part.Column) part.Column {
	switch {
	case v.Size == page.M && c.Flex > 1 && len(l.Spare.On) == 0: // what a row is read for is whole
		c.Min = max(c.Min, c.Width)
	case l.Spare.roomy && c.Flex > 0 && len(l.Spare.is) > 0 && !l.Spare.is[i]:
		c.Min = min(c.Min+roomyMore*c.Flex, max(c.Width, c.Min))
	case len(l.Spare.On) == 0:
	case l.Spare.On[i]:
		c.Priority = min(c.Priority, 1)
	case v.Size == page.S && c.Flex > 0 && c.Kind == part.ID:
		c.Min -= c.Min / 5
	}
	return c
}

// roomyMore is how many cells more than its least a text must have, for each share of what is left,
// before a spare column comes unasked: "503: Service unavailable" is 24 cells.
const roomyMore = 6

// keep notes which spare columns a frame of w cells shows.
func (l *List[T]) keep(t part.Table, w int) {
	if len(l.Spare.is) == 0 {
		return
	}
	l.Spare.drawn = map[int]bool{}
	at := t.Shown(w)
	for i, n := 0, 0; i < len(l.Fields); i++ {
		if !l.Shows(i) {
			continue
		}
		l.Spare.drawn[i] = at[n]
		n++
	}
}

// toggle shows or hides a column.
func (l *List[T]) toggle(i int) {
	seen := l.seen(i)
	delete(l.hidden, i)
	delete(l.Spare.On, i)
	switch {
	case seen && (!l.Spare.is[i] || l.Shows(i)): // else it is gone already
		l.hidden = with(l.hidden, i)
	case !seen && l.Spare.is[i]:
		l.Spare.On = with(l.Spare.On, i)
	}
}

// with adds a column to a set, which it makes if there is none yet.
func with(m map[int]bool, i int) map[int]bool {
	if m == nil {
		m = map[int]bool{}
	}
	m[i] = true
	return m
}
