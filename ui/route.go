package ui

import (
	"slices"
	"time"

	"github.com/farsight-console/farsight/ui/keys"
	"github.com/farsight-console/farsight/ui/page"
	"github.com/farsight-console/farsight/ui/screen"
)

// route is the way to the page on top: a numbered screen and what was opened on top of it,
// such as Jobs, then one of its jobs, then that job's log.
type route struct {
	tabs     map[page.Screen]page.Page
	tab      page.Screen
	previous page.Screen // the tab before, for going back to it
	stack    []page.Page // opened on top of the tab
	listed   []page.Page // of these, what was opened from the list under it
}

// newRoute makes the pages of all numbered screens. They are made once, so that a list is as it was
// left when one comes back to it.
func newRoute() route {
	r := route{tabs: map[page.Screen]page.Page{}}
	for _, s := range page.Tabs() {
		r.tabs[s] = screen.New(&page.Target{Screen: s})
	}
	return r
}

// sideScreens are the screens that have no number and that the palette names, each with the action
// that leads there by a key.
var sideScreens = []struct {
	screen page.Screen
	act    page.Action
}{
	{page.ScreenSchedules, page.Calendar}, {page.ScreenAudit, keys.Audit}, {page.ScreenMessages, keys.Messages}, {page.ScreenClasses, page.ByClass},
	{page.ScreenMembers, page.ByMember}, {page.ScreenCollections, page.Collected},
}

// page is the page on top.
func (r *route) page() page.Page {
	if n := len(r.stack); n > 0 {
		return r.stack[n-1]
	}
	return r.tabs[r.tab]
}

// show shows a numbered screen, without what was opened on top of the last one.
func (r *route) show(s page.Screen) {
	// To show the screen that is shown must not make it its own previous one.
	if s != r.tab {
		r.previous = r.tab
	}
	r.tab, r.stack, r.listed = s, nil, nil
}

// push puts a page on top.
func (r *route) push(p page.Page) { r.stack = append(r.stack, p) }

// open puts the page of a screen without a number on top, unless it is there already: its key
// pressed twice must not take two escs to leave.
func (r *route) open(s page.Screen) {
	if r.page().Screen() != s {
		r.push(screen.New(&page.Target{Screen: s}))
	}
}

// stackOn puts a page that the list under it has opened on top.
func (r *route) stackOn(p page.Page) {
	r.push(p)
	r.listed = append(r.listed, p)
}

// pop closes the page on top; false when it is the tab itself.
func (r *route) pop() bool {
	n := len(r.stack)
	if n == 0 {
		return false
	}
	// A page that is closed and opened again may have come another way.
	r.listed = slices.DeleteFunc(r.listed, func(p page.Page) bool { return p == r.page() })
	r.stack = r.stack[:n-1]
	return true
}

// farthest is how many rows are passed over in search of one that opens the same kind of screen.
const farthest = 100

// neighbour goes from a thing that was opened from a list to the one before or after it there. The
// list's cursor goes along, so that esc leads back to the row one has come to. ok is false if what
// is on top came from no list; edge says that there is no other.
func (r *route) neighbour(v *page.View, by time.Duration) (edge string, ok bool) {
	top := r.page()
	if !slices.Contains(r.listed, top) {
		return "", false
	}
	r.pop()
	if next := r.beside(v, top.Screen(), by); next != nil {
		r.stackOn(next)
		return "", true
	}
	r.stackOn(top)
	if by < 0 {
		return "this is the first one of its list", true
	}
	return "this is the last one of its list", true
}

// beside moves the cursor of the list on top to the next row that opens a screen of a kind, and
// returns the page for it. nil = there is none, and the cursor is where it was.
func (r *route) beside(v *page.View, s page.Screen, by time.Duration) page.Page {
	there, back := page.Down, page.Up
	if by < 0 {
		there, back = page.Up, page.Down
	}
	list, ok := r.page().(page.Holder)
	if !ok {
		return nil
	}
	moved := 0
	for ; moved < farthest; moved++ {
		before := list.Place()
		// The cursor did not move: that was the end of the list.
		if r.page().Act(v, there); list.Place() == before {
			break
		}
		// Such as a group's heading, which opens nothing.
		if r.page().Cannot(v, page.Open) != "" {
			continue
		}
		if next := r.page().Act(v, page.Open).Open; next != nil && next.Screen == s {
			return screen.New(next)
		}
	}
	// Back to where the cursor was: the search must leave no trace.
	for range moved {
		r.page().Act(v, back)
	}
	return nil
}
