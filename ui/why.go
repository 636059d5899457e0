package ui

import (
	"strings"
	"time"

	tea "charm.land/bubbletea/v2"

	"github.com/farsight-console/farsight/engine"
	"github.com/farsight-console/farsight/ui/keys"
	"github.com/farsight-console/farsight/ui/part"
)

// whyFor is how long a reason waits for its command: one that was meant for
// another must not end up in the audit of this one.
const whyFor = time.Minute

// why is the reason that the next command carries into the audit.
type why struct {
	text  string
	until time.Time
}

// askReason asks for the reason of the next command. Every command can have one;
// those that need one ask for it themselves.
func (m *Model) askReason(time.Time) tea.Cmd {
	if why := m.refuses(); why != "" {
		m.say(why)
		return nil
	}
	p := &prompt{Prompt: part.Prompt{Label: "because", Ghost: "why you do what comes next: the audit keeps it; empty takes it back"}}
	p.Set(m.armed())
	p.done = func(text string) (tea.Cmd, string) {
		m.why = why{strings.TrimSpace(text), m.now().Add(whyFor)}
		return nil, ""
	}
	m.prompt = p
	return nil
}

// armed is the reason that waits for its command; "" = none.
func (m *Model) armed() string {
	if !m.now().Before(m.why.until) {
		return ""
	}
	return m.why.text
}

// because gives a command that has no reason of its own the one that waits.
func (m *Model) because(own string) string {
	if own != "" {
		return own
	}
	text := m.armed()
	m.why = why{}
	return text
}

// armedText is what the message line says while a reason waits.
func (m *Model) armedText() part.Toast {
	return part.Toast{Word: "INFO", Text: "what you do next is because: " + m.why.text + " · " + m.keys.First(keys.On(m.page().Screen()), keys.Reason) + " changes it"}
}

// allBecause gives several commands that are one act the same reason.
func (m *Model) allBecause(all []engine.Command) []engine.Command {
	if len(all) < 2 {
		return all
	}
	text := m.because("")
	out := make([]engine.Command, len(all))
	for i, c := range all {
		if out[i] = c; c.Reason == "" {
			out[i].Reason = text
		}
	}
	return out
}
