package ui

import (
	"time"

	tea "charm.land/bubbletea/v2"

	"github.com/farsight-console/farsight/engine"
	"github.com/farsight-console/farsight/ui/page"
	"github.com/farsight-console/farsight/ui/session"
)

// chaosState is what the panel draws from; nil on every other screen.
func (m *Model) chaosState() *page.ChaosState {
	if m.opt.Chaos == nil || m.page().Screen() != page.ScreenChaos {
		return nil
	}
	s := m.opt.Chaos.State()
	return &s
}

// disturbed is the answer to an ask.
type disturbed struct {
	said string
	err  error
}

// disturb carries out an ask, after its question if there is one.
func (m *Model) disturb(e page.Effect) tea.Cmd {
	ask := *e.Chaos
	run := func() tea.Cmd {
		chaos, ctx := m.opt.Chaos, m.ctx
		return func() tea.Msg {
			said, err := chaos.Inject(ctx, ask)
			return disturbed{said, err}
		}
	}
	if m.opt.Chaos == nil {
		m.say(session.NoChaos)
		return nil
	}
	if e.Confirm != nil {
		m.over = confirmOver(*e.Confirm, run)
		return nil
	}
	return run()
}

// tellDisturbed puts the answer on the message line.
func (m *Model) tellDisturbed(d disturbed, now time.Time) {
	n := engine.Note{At: now, Level: engine.LevelInfo, Text: d.said}
	if d.err != nil {
		n.Level, n.Text = engine.LevelWarn, page.Sentence(d.err)
	}
	m.toasts.add(n, now)
}

// chaosVerb is the palette's word for the panel. It is listed in the demo only.
const chaosVerb = "chaos"

// chaosLine carries out `:chaos 503 5%`.
func (m *Model) chaosLine(arg string, now time.Time) (tea.Cmd, string) {
	if m.opt.Chaos == nil {
		return nil, session.NoChaos
	}
	if why := m.refuses(); why != "" {
		return nil, why
	}
	s := m.opt.Chaos.State()
	ask, wrong := page.ParseChaos(&s, arg)
	if wrong != "" {
		return nil, wrong
	}
	m.over = nil
	m.openChaos(now)
	return m.carryOut(page.InjectNamed(&s, ask), now), ""
}
