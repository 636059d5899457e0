package ui

import (
	"context"
	"strings"
	"time"

	tea "charm.land/bubbletea/v2"

	"github.com/farsight-console/farsight/engine"
	"github.com/farsight-console/farsight/engine/human"
	"github.com/farsight-console/farsight/ui/page"
)

// Chaos breaks the simulated Riot of a demo. A console that works with a real key
// is never given one, so its panel cannot be opened there.
type Chaos interface {
	// State tells what is injected and what came of it. It must not wait.
	State() page.ChaosState
	// Inject carries an ask out and says so in one sentence. Errors are for the
	// message line.
	Inject(ctx context.Context, ask page.ChaosAsk) (said string, err error)
}

// noChaos is why the panel does not open.
const noChaos = "only the demo has a chaos panel: there is nothing to break safely here"

// openChaos shows the panel.
func (m *Model) openChaos(time.Time) tea.Cmd {
	switch {
	case m.opt.Chaos == nil:
		m.say(noChaos)
	case m.page().Screen() != page.ScreenChaos:
		m.push(page.NewChaos())
	}
	return nil
}

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
		m.say(noChaos)
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
		return nil, noChaos
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

// chaos carries out the same line in the plain console, or says how all stands.
func (p *plain) chaos(arg string) {
	if p.opt.Chaos == nil {
		p.say("Not in this console: " + noChaos + ".")
		return
	}
	s := p.opt.Chaos.State()
	if arg == "" {
		p.say(chaosSentences(&s)...)
		return
	}
	if why := refusal(&p.rows.data, p.opt); why != "" {
		p.say("Refused: " + why + ".")
		return
	}
	ask, wrong := page.ParseChaos(&s, arg)
	if wrong != "" {
		p.say("Refused: " + wrong + ".")
		return
	}
	e := page.InjectNamed(&s, ask)
	if e.Confirm == nil {
		p.disturb(ask)
		return
	}
	p.say(e.Confirm.Question + " " + strings.Join(e.Confirm.Lines, " ") + " Type yes to go on.")
	p.next = func(answer string) {
		if !strings.HasPrefix(strings.ToLower(answer), "y") {
			p.say("Nothing was done.")
			return
		}
		p.disturb(ask)
	}
}

func (p *plain) disturb(ask page.ChaosAsk) {
	said, err := p.opt.Chaos.Inject(p.ctx, ask)
	if err != nil {
		p.say("Refused: " + page.Sentence(err) + ".")
		return
	}
	p.say("Done: " + said + ".")
}

// chaosSentences say every row: what is injected, and what came of it.
func chaosSentences(s *page.ChaosState) []string {
	lines := make([]string, 0, len(s.Rows)+1)
	for i := range s.Rows {
		r := &s.Rows[i]
		told := "off"
		if r.On {
			told = r.Told
		}
		lines = append(lines, r.Name+": "+told+", "+human.Counted(r.Hits, "hit", "hits")+"; "+or(r.Did, r.About)+".")
	}
	return append(lines, "Inject with chaos NAME, once or a rate, such as chaos 503 5%. chaos off ends all.")
}
