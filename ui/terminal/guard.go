package terminal

import (
	"fmt"
	"runtime/debug"

	tea "charm.land/bubbletea/v2"
)

// Panic is a programming error of the console that was caught: the terminal is
// whole again, the engine was not touched.
type Panic struct {
	Value any
	Stack []byte
}

func (p *Panic) Error() string { return fmt.Sprintf("the console failed: %v", p.Value) }

// guard catches panics of a model, and of the commands it returns, before Bubble
// Tea does: that would print the stack over the screen.
type guard struct {
	inner tea.Model
	crash func(*Panic)
}

func (g guard) catch() {
	if r := recover(); r != nil {
		g.crash(&Panic{r, debug.Stack()})
	}
}

// Init implements tea.Model.
func (g guard) Init() (cmd tea.Cmd) {
	defer g.catch()
	return g.wrap(g.inner.Init())
}

// Update implements tea.Model.
func (g guard) Update(msg tea.Msg) (m tea.Model, cmd tea.Cmd) {
	m = g
	defer g.catch()
	inner, cmd := g.inner.Update(msg)
	return guard{inner, g.crash}, g.wrap(cmd)
}

// View implements tea.Model.
func (g guard) View() (v tea.View) {
	v.AltScreen = true
	defer g.catch()
	return g.inner.View()
}

// wrap guards a command, and the commands in a batch.
func (g guard) wrap(cmd tea.Cmd) tea.Cmd {
	if cmd == nil {
		return nil
	}
	return func() (msg tea.Msg) {
		defer g.catch()
		msg = cmd()
		batch, ok := msg.(tea.BatchMsg)
		if !ok {
			return msg
		}
		wrapped := make(tea.BatchMsg, len(batch))
		for i, c := range batch {
			wrapped[i] = g.wrap(c)
		}
		return wrapped
	}
}
