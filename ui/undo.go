package ui

import (
	"time"

	tea "charm.land/bubbletea/v2"

	"github.com/farsight-console/farsight/engine"
)

// undoLast takes the last command back.
func (m *Model) undoLast(now time.Time) tea.Cmd {
	if !m.undo.Open(now) {
		m.say(m.keyed("there is nothing to undo: {undo} takes a cancel, a pause, a new time or plan back within 10 s"))
		return nil
	}
	if why := m.refuses(); why != "" {
		m.say(why)
		return nil
	}
	return m.do(m.undo.Take())
}

// say puts a sentence on the message line.
func (m *Model) say(text string) {
	m.toasts.add(engine.Note{Level: engine.LevelInfo, Text: text}, m.now())
}
