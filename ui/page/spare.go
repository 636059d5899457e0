package page

import "github.com/farsight-console/farsight/ui/part"

// spares are the columns of a list that few look at. They are not shown until the
// operator asks for them; a list with nothing dropped, and one on a wide screen with
// room to spare, shows them unasked.
type spares struct {
	is    map[int]bool // by column: it is one
	on    map[int]bool // asked for
	roomy bool         // shown unasked, as far as there is room
	drawn map[int]bool // those that were in the last frame
}

// shows reports whether a column belongs to the list as it is chosen, whatever room
// there is.
func (l *List[T]) shows(i int) bool {
	return !l.hidden[i] && (!l.spare.is[i] || l.spare.on[i] || l.spare.roomy || l.wide)
}

// seen reports whether the operator takes a column for shown: one that comes unasked
// is, when it came.
func (l *List[T]) seen(i int) bool {
	if !l.spare.is[i] || l.spare.on[i] {
		return l.shows(i)
	}
	return l.shows(i) && l.spare.drawn[i]
}

// preferred is a column beside spare ones. Those that were asked for stay before what
// is dropped otherwise, and on a narrow screen a name gives way to them before the text
// that a row is read for does. Those that come unasked leave names and texts whole.
func (l *List[T]) preferred(v *View, i int, c part.Column) part.Column {
	switch {
	case v.Size == M && c.Flex > 1 && len(l.spare.on) == 0: // what a row is read for is whole
		c.Min = max(c.Min, c.Width)
	case l.spare.roomy && c.Flex > 0 && len(l.spare.is) > 0 && !l.spare.is[i]:
		c.Min = min(c.Min+roomyMore*c.Flex, max(c.Width, c.Min))
	case len(l.spare.on) == 0:
	case l.spare.on[i]:
		c.Priority = min(c.Priority, 1)
	case v.Size == S && c.Flex > 0 && c.Kind == part.ID:
		c.Min -= c.Min / 5
	}
	return c
}

// roomyMore is how much more than its least a text has, for each share of what is left, before a spare column
// comes unasked: "503: Service unavailable" is 24 cells.
const roomyMore = 6

// keep notes which spare columns a frame of w cells shows.
func (l *List[T]) keep(t part.Table, w int) {
	if len(l.spare.is) == 0 {
		return
	}
	l.spare.drawn = map[int]bool{}
	at := t.Shown(w)
	for i, n := 0, 0; i < len(l.Fields); i++ {
		if !l.shows(i) {
			continue
		}
		l.spare.drawn[i] = at[n]
		n++
	}
}

// toggle shows or hides a column.
func (l *List[T]) toggle(i int) {
	seen := l.seen(i)
	delete(l.hidden, i)
	delete(l.spare.on, i)
	switch {
	case seen && (!l.spare.is[i] || l.shows(i)): // else it is gone already
		l.hidden = with(l.hidden, i)
	case !seen && l.spare.is[i]:
		l.spare.on = with(l.spare.on, i)
	}
}

func with(m map[int]bool, i int) map[int]bool {
	if m == nil {
		m = map[int]bool{}
	}
	m[i] = true
	return m
}
