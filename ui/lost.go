package ui

import (
	"fmt"
	"time"

	tea "charm.land/bubbletea/v2"

	"github.com/farsight-console/farsight/engine"
	"github.com/farsight-console/farsight/engine/safe"
	"github.com/farsight-console/farsight/ui/part"
	"github.com/farsight-console/farsight/ui/session"
)

// lose notes that the engine has gone. What is shown stays, and stays readable.
func (m *Model) lose(msg session.Lost, now time.Time) {
	if m.rows.Data.Lost.IsZero() {
		m.rows.Data.Lost = now
	}
	m.again, m.absent = msg.Again, msg.Why
}

// lostText is the message line without an engine: when it is looked for next and
// how old what is shown is.
func (m *Model) lostText(now time.Time) string {
	next := "connecting"
	if left := m.again.Sub(now); left > 0 {
		next = fmt.Sprintf("next try %d s", int((left+time.Second-1)/time.Second))
	}
	text := or(m.absent, "the engine has gone") + "; " + next
	whole := text + " " + m.theme.Glyphs.Sep + " data as of " + part.Clock(m.rows.Data.At, now)
	if !m.tiny() && safe.Width(safe.Text(whole)) > m.w-lostSign {
		return text
	}
	return whole
}

// lostSign is what the message line has in front of the text, and a margin.
const lostSign = 10

// detach leaves the console and lets the engine go on. An attached one is left as by
// quitting.
func (m *Model) detach(now time.Time) tea.Cmd {
	if m.opt.Embedded && !m.opt.CanDetach {
		m.toasts.add(engine.Note{Level: engine.LevelInfo, Text: "this engine ends with its console: it cannot be detached"}, now)
		return nil
	}
	m.detached = m.opt.Embedded
	return tea.Quit
}
