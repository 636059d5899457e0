package ui

import (
	"time"

	tea "charm.land/bubbletea/v2"

	"github.com/farsight-console/farsight/ui/keys"
	"github.com/farsight-console/farsight/ui/page"
)

// wheelRows is how many rows one notch of the wheel moves. wheelRest is how long notches are
// gathered: a flick of the wheel sends dozens, and is one movement and one painting.
const (
	wheelRows = 3
	wheelRest = 50 * time.Millisecond
)

// rolled says that the wheel has rested.
type rolled struct{}

// box is where something stands on the screen, in cells.
type box struct{ x, y, w, h int }

// has reports whether a cell of the screen lies in the box.
func (b box) has(x, y int) bool { return x >= b.x && x < b.x+b.w && y >= b.y && y < b.y+b.h }

// toggleMouse takes clicks and the wheel, or leaves them to the terminal, which selects text with
// them. The mouse is off at first, and all that it does is done by keys as well.
func (m *model) toggleMouse(time.Time) tea.Cmd {
	m.mouse = !m.mouse
	if m.mouse {
		return m.showMessage("the mouse is on: click selects and sorts, the wheel moves; shift and drag selects text")
	}
	return m.showMessage("the mouse is off: the terminal selects text with it")
}

// wheel gathers what the wheel turns; roll carries it out. While a prompt is open the wheel means
// nothing.
func (m *model) wheel(e tea.Mouse, _ time.Time) (cmd tea.Cmd, seen bool) {
	by := map[tea.MouseButton]int{tea.MouseWheelUp: -1, tea.MouseWheelDown: 1}[e.Button]
	if by == 0 || m.prompt != nil {
		return nil, false
	}
	// The first notch starts the wait; all that come within it are carried out together.
	first := m.rolls == 0
	m.rolls += by * wheelRows
	if first {
		return after(m.ctx, wheelRest, rolled{}), false
	}
	return nil, false
}

// roll moves by what was gathered.
func (m *model) roll(now time.Time) tea.Cmd {
	n := m.rolls
	m.rolls = 0
	return m.moveBy(n, now)
}

// moveBy moves the cursor of whatever is on top by n rows.
func (m *model) moveBy(n int, now time.Time) tea.Cmd {
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
func (m *model) overMove(a page.Action, now time.Time) {
	if m.over.dialog == nil {
		m.overAct(a, now)
	}
}

// click does what a click means where it falls: it closes what it falls outside of, chooses the
// item of a menu, or does what was noted by whoever drew the place.
func (m *model) click(e tea.Mouse, now time.Time) tea.Cmd {
	// A click while something is typed is a slip of the hand, and must not lose the text.
	if e.Button != tea.MouseLeft || m.prompt != nil || m.tiny() {
		return nil
	}
	action, found := m.hits.Click(e.X, e.Y)
	switch {
	case m.over != nil && found && action != "":
		return m.overAct(page.Action(action), now)
	case m.over != nil && !m.laid.has(e.X, e.Y):
		return m.clickAway(now)
	case m.over == nil && action != "":
		return m.perform(page.Action(action), now)
	}
	return nil
}

// clickAway closes what a click has fallen outside of. That is never a yes.
func (m *model) clickAway(now time.Time) tea.Cmd {
	if m.over.menu != nil {
		return m.menuAct(keys.Close, now)
	}
	m.over = nil
	return nil
}
