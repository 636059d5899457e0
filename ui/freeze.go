package ui

import (
	"time"

	tea "charm.land/bubbletea/v2"

	"github.com/farsight-console/farsight/engine"
	"github.com/farsight-console/farsight/ui/page"
)

// freeze holds the view where it is, or lets it go. The engine never stops.
func (m *Model) freeze(now time.Time) tea.Cmd {
	if m.frozen != nil {
		return m.thaw(now)
	}
	m.stop(m.rows.Data, m.seen, now)
	console, ctx, gen := m.console, m.ctx, m.gen
	return func() tea.Msg {
		a, err := console.Find(ctx, engine.MomentsQuery{From: now.Add(-backFor), To: now})
		return remembered{gen, a, err}
	}
}

func (m *Model) thaw(time.Time) tea.Cmd {
	m.release()
	return nil
}

// stepper is an action that moves the time cursor.
func stepper(by time.Duration) func(m *Model, now time.Time) tea.Cmd {
	return func(m *Model, now time.Time) tea.Cmd {
		m.step(by, now)
		return nil
	}
}

// step moves the time cursor, and with it the cursor of a page that stands on an
// instant. In a view that is not frozen it turns to the neighbour of what is shown.
func (m *Model) step(by time.Duration, now time.Time) {
	if m.frozen == nil {
		edge, ok := m.neighbour(m.view(now), by)
		if !ok {
			edge = m.keyed("{freeze} freezes the view first; then {second back} and {second on} step through the last ten minutes, {ten seconds back} and {ten seconds on} by ten seconds")
		}
		if edge != "" {
			m.say(edge)
		}
		return
	}
	at, ok := m.reach(m.since.Add(by))
	if !ok {
		m.say(m.keyed(m.edge(by)))
		return
	}
	m.seek(at)
	if p, ok := m.page().(page.Timed); ok {
		p.ToInstant(m.view(now), m.since)
	}
}

// followPage moves the time cursor to where the cursor of a page stands.
func (m *Model) followPage(before time.Time, now time.Time) {
	if at, ok := m.instant(now); ok && !at.Equal(before) {
		m.seek(at)
	}
}

// instant is where the cursor of the page on top stands, if it has a time.
func (m *Model) instant(now time.Time) (time.Time, bool) {
	p, ok := m.page().(page.Timed)
	if !ok || m.frozen == nil {
		return time.Time{}, false
	}
	return p.Instant(m.view(now))
}
