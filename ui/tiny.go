package ui

import (
	"cmp"
	"strconv"
	"time"

	"github.com/farsight-console/farsight/engine/human"
	"github.com/farsight-console/farsight/themes"
	"github.com/farsight-console/farsight/ui/page"
	"github.com/farsight-console/farsight/ui/part"
)

// tinyRows are one fact a line, for windows without room for a screen. Keys work as
// ever, so what they ask comes right behind the state.
func (m *Model) tinyRows(v *page.View, now time.Time) []string {
	state := append([]part.Cell{part.Plain(" ")}, m.stateCells(v, now)...)
	rows := []string{part.Row(m.theme, m.w, state...)}
	rows = append(rows, m.tinyAsked(v, len(rows))...)
	for _, c := range m.tinyFacts(v) {
		rows = append(rows, part.Row(m.theme, m.w, part.Plain(" "), c))
	}
	size := "needs " + strconv.Itoa(leastW) + "x" + strconv.Itoa(leastH) + ", is " + strconv.Itoa(m.w) + "x" + strconv.Itoa(m.h)
	rows = append(rows, part.Row(m.theme, m.w, part.As(themes.Warn, " "+size)))
	if over := len(rows) - m.h; over > 0 && m.h > 1 { // the size stays: it says what to do
		rows = append(rows[:m.h-1], rows[len(rows)-1])
	}
	return rows
}

// tinyFacts are what the engine does, and the newest message.
func (m *Model) tinyFacts(v *page.View) []part.Cell {
	var cells []part.Cell
	if b, ok := v.Limits.Pacing(); ok {
		cells = append(cells, part.Plain("tightest limit "+b.Host+" "+strconv.Itoa(b.Used)+"/"+strconv.Itoa(b.Limit)+m.theme.Glyphs.Sep+human.Tight(b.Window)))
	}
	cells = append(cells,
		part.Plain("running "+strconv.Itoa(v.Engine.InFlight)),
		part.Plain("retrying "+strconv.Itoa(v.Engine.Retrying)),
		part.Plain("alerts "+cmp.Or(v.Firing(), "0")),
	)
	t := m.toasts.top(m.opt.Location())
	if t.Text == "" {
		t = m.standing()
	}
	for _, line := range part.Wrap(t.Text, max(m.w-2, 1)) {
		cells = append(cells, part.Plain(line))
	}
	return cells
}

// tinyAsked is what is being asked or typed, below the screen's row y; none = nothing is.
func (m *Model) tinyAsked(v *page.View, y int) []string {
	row := func(t themes.Token, text string) string { return part.Row(m.theme, m.w, part.As(t, " "+text)) }
	switch {
	case m.prompt != nil:
		typed, x := m.prompt.View(m.theme, m.w)
		m.putCursor(x, y)
		rows := []string{typed}
		for _, line := range part.Wrap(m.prompt.wrong, max(m.w-1, 1)) {
			if line != "" {
				rows = append(rows, row(themes.Err, line))
			}
		}
		return append(rows, part.Hints(m.theme, 0, m.w, nil, promptHints(m.prompt)))
	case m.over == nil:
		return nil
	case m.over.dialog != nil:
		return append(m.asked().Lines(m.theme, m.w), m.hintRow(v, 0))
	case m.over.menu != nil:
		n := m.over.menu
		rows := []string{row(themes.Accent, n.title)}
		if n.typing {
			typed, x := n.input.View(m.theme, m.w)
			m.putCursor(x, y)
			rows[0] = typed
		}
		chosen := cmp.Or(n.wrong, "nothing fits")
		if n.at < len(n.shown) && n.wrong == "" {
			chosen = m.theme.Glyphs.Focus + " " + n.shown[n.at].name
		}
		return append(rows, row(themes.Text, chosen), m.hintRow(v, 0))
	}
	return []string{row(themes.Text, "the list of keys needs a larger window"), part.Hints(m.theme, 0, m.w, nil, []part.Hint{{Key: "esc", Does: "close"}})}
}
