package ui

import (
	"strings"
	"time"

	tea "charm.land/bubbletea/v2"
	"github.com/charmbracelet/x/ansi"

	"github.com/farsight-console/farsight/engine/safe"
	"github.com/farsight-console/farsight/ui/page"
)

// wheelRows is how far one notch of the wheel goes, wheelRest how long notches are
// gathered: a flick of the wheel is one movement and one painting.
const (
	wheelRows = 3
	wheelRest = 50 * time.Millisecond
)

// rolled says that the wheel has rested.
type rolled struct{}

// box is where something stands on the screen, in cells.
type box struct{ x, y, w, h int }

func (b box) has(x, y int) bool { return x >= b.x && x < b.x+b.w && y >= b.y && y < b.y+b.h }

// toggleMouse takes clicks and the wheel, or leaves them to the terminal, which
// selects text with them. All that the mouse does is done by keys as well.
func (m *Model) toggleMouse(time.Time) tea.Cmd {
	m.mouse = !m.mouse
	if m.mouse {
		m.say("the mouse is on: click selects and sorts, the wheel moves; shift and drag selects text")
	} else {
		m.say("the mouse is off: the terminal selects text with it")
	}
	return nil
}

// wheel gathers what the wheel turns.
func (m *Model) wheel(e tea.Mouse, _ time.Time) (cmd tea.Cmd, seen bool) {
	by := map[tea.MouseButton]int{tea.MouseWheelUp: -1, tea.MouseWheelDown: 1}[e.Button]
	if by == 0 || m.prompt != nil {
		return nil, false
	}
	first := m.rolls == 0
	m.rolls += by * wheelRows
	if first {
		return after(m.ctx, wheelRest, rolled{}), false
	}
	return nil, false
}

// roll moves by what was gathered.
func (m *Model) roll(now time.Time) tea.Cmd {
	n := m.rolls
	m.rolls = 0
	return m.moveBy(n, now)
}

// moveBy moves the cursor of whatever is on top by n rows.
func (m *Model) moveBy(n int, now time.Time) tea.Cmd {
	a := page.Down
	if n < 0 {
		a, n = page.Up, -n
	}
	for range n {
		if m.over != nil {
			m.overMove(a, now)
			continue
		}
		m.pageAct(a, now)
	}
	return nil
}

// overMove moves in a menu or in the help; a question has nothing to move in.
func (m *Model) overMove(a page.Action, now time.Time) {
	if m.over.dialog == nil {
		m.overAct(a, now)
	}
}

// click does what a click means where it falls: it closes what it falls outside of,
// chooses the item of a menu, goes to a tab, sorts by a column, selects a row.
func (m *Model) click(e tea.Mouse, now time.Time) tea.Cmd {
	switch {
	case e.Button != tea.MouseLeft || m.prompt != nil || m.tiny():
		return nil
	case m.over != nil && !m.laid.has(e.X, e.Y):
		return m.clickAway(now)
	case m.over != nil:
		return m.clickItem(e.Y, now)
	case m.tall != page.Short && e.Y == 1:
		m.clickTab(e.X)
		return nil
	}
	return m.clickRow(e.X, e.Y, now)
}

func (m *Model) clickAway(now time.Time) tea.Cmd {
	if m.over.menu != nil {
		return m.menuAct(actClose, now)
	}
	m.over = nil
	return nil
}

// clickItem chooses the item of a menu that is under the mouse.
func (m *Model) clickItem(y int, now time.Time) tea.Cmd {
	n := m.over.menu
	if n == nil {
		return nil
	}
	head := 0
	if n.typing {
		head = 2
	}
	at := n.top + y - m.laid.y - 1 - head
	if y < m.laid.y+1+head || at >= len(n.shown) || y >= m.laid.y+m.laid.h-1 {
		return nil
	}
	n.at = at
	return m.chooseItem(now)
}

// clickTab goes to the screen whose tab is under the mouse.
func (m *Model) clickTab(x int) {
	row := m.plainRows()[1]
	for _, s := range m.shownTabs() {
		if at := cellOf(row, s.String()); at >= 0 && x >= at-2 && x < at+len(s.String()) {
			m.goTo(s)
			return
		}
	}
}

// clickRow selects the row under the mouse, or sorts by the column whose title it
// is. A click on another pane goes there first.
func (m *Model) clickRow(x, y int, now time.Time) tea.Cmd {
	const panes = 4
	for range panes {
		list, ok := m.listBox()
		if ok && list.has(x, y) {
			return m.clickIn(list, x, y, now)
		}
		if _, other := m.keys.meaning(contextOf(m.page().Screen()), "tab"); !other || !m.paned() {
			return nil
		}
		m.pageAct(page.NextPane, now)
		m.draw(now)
	}
	return nil
}

// paned reports whether the page has more panes than one.
func (m *Model) paned() bool {
	return contextOf(m.page().Screen())&(onOverview|onLimits) != 0
}

func (m *Model) clickIn(list box, x, y int, now time.Time) tea.Cmd {
	l, sorts := m.page().(page.Lister)
	if sorts && y == list.y {
		m.clickTitle(l, m.plainRows()[y], x)
		return nil
	}
	return m.moveBy(y-m.cursor.Y, now)
}

// clickTitle sorts by the column whose title is under the mouse.
func (m *Model) clickTitle(l page.Lister, row string, x int) {
	from := 0
	for i, c := range l.Columns() {
		at := strings.Index(row[from:], c.Name)
		if c.Hidden || at < 0 {
			continue
		}
		start := safe.Width(row[:from+at])
		from += at + len(c.Name)
		if x >= start-1 && x <= safe.Width(row[:from])+1 {
			l.SortBy(i)
			return
		}
	}
}

// listBox is where the list with the cursor stands: from the edge above its row to
// the edge below, between the sides of its box. A list without sides is as wide as
// the screen.
func (m *Model) listBox() (box, bool) {
	if m.cursor == nil {
		return box{}, false
	}
	rows := m.plainRows()
	g := m.theme.Glyphs
	side := []rune(g.Vertical)[0]
	x, y := m.cursor.X, m.cursor.Y
	left, right := sideLeft(rows[y], side, x), sideRight(rows[y], side, x)
	out := box{x: left + 1, y: y, w: right - left - 1}
	inside := func(y int) bool {
		if y < 1 || y >= len(rows)-2 {
			return false
		}
		return left < 0 || runeAt(rows[y], left) == side
	}
	for inside(out.y - 1) {
		out.y--
	}
	end := y + 1
	for inside(end) {
		end++
	}
	out.h = end - out.y
	return out, true
}

// plainRows are the rows of the screen without colour.
func (m *Model) plainRows() []string { return strings.Split(ansi.Strip(m.frame), "\n") }

// cellOf is the cell at which a text begins in a row; -1 = it is not there.
func cellOf(row, text string) int {
	at := strings.Index(row, text)
	if at < 0 {
		return -1
	}
	return safe.Width(row[:at])
}

// runeAt is the letter in a cell; 0 beyond the row.
func runeAt(row string, x int) rune {
	at := 0
	for _, r := range row {
		if at == x {
			return r
		}
		if at += safe.Width(string(r)); at > x {
			return 0
		}
	}
	return 0
}

// sideLeft is the last side of a box before a cell, sideRight the first behind it;
// without one the edge of the screen.
func sideLeft(row string, side rune, x int) int {
	last, at := -1, 0
	for _, r := range row {
		if at >= x {
			break
		}
		if r == side {
			last = at
		}
		at += safe.Width(string(r))
	}
	return last
}

func sideRight(row string, side rune, x int) int {
	at := 0
	for _, r := range row {
		if at > x && r == side {
			return at
		}
		at += safe.Width(string(r))
	}
	return at
}
