package ui

import (
	"time"

	tea "charm.land/bubbletea/v2"

	"github.com/farsight-console/farsight/engine"
)

// undoFor is how long a command can be taken back (I-11). The engine decides
// whether it still can: by then its jobs may have moved on.
const undoFor = 10 * time.Second

// undo is the last command that can be taken back, by its audit number.
type undo struct {
	audit uint64
	until time.Time
}

// undoLast takes the last command back.
func (m *Model) undoLast(now time.Time) tea.Cmd {
	if m.undo.audit == 0 || now.After(m.undo.until) {
		m.say(m.keyed("there is nothing to undo: {undo} takes a cancel, a pause, a new time or plan back within 10 s"))
		return nil
	}
	if why := m.refuses(); why != "" {
		m.say(why)
		return nil
	}
	c := engine.Command{Op: engine.OpUndo, Audit: m.undo.audit}
	m.undo = undo{}
	return m.do(c)
}

// say puts a sentence on the message line.
func (m *Model) say(text string) {
	m.toasts.add(engine.Note{Level: engine.LevelInfo, Text: text}, m.now())
}
