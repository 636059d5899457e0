package terminal

import (
	"reflect"
	"sync"
	"time"

	tea "charm.land/bubbletea/v2"
)

// clock is Bubble Tea's, at whose beats it writes the terminal's modes; frames and cursor are the painter's. It runs at
// one speed, and each beat wakes several threads of a console on which nothing happens: it rests while nobody does
// anything. Bubble Tea has no setting for that.
type clock struct {
	program *tea.Program

	mu     sync.Mutex
	ticker *time.Ticker
	calm   *time.Timer // lets it rest
}

const (
	lingers = 150 * time.Millisecond // how long it runs on after a message
	rests   = time.Second            // between its beats then
)

// wake has what a message changes written at once. It is called on the program's own goroutine.
func (c *clock) wake(msg tea.Msg) {
	c.mu.Lock()
	defer c.mu.Unlock()
	switch msg.(type) {
	case tea.KeyMsg, tea.MouseMsg, tea.WindowSizeMsg, tea.FocusMsg, tea.BlurMsg, tea.ModeReportMsg, tea.ResumeMsg:
	default:
		if c.calm != nil {
			return
		}
	}
	if c.ticker == nil { // before the first message there is none
		f := reflect.ValueOf(c.program).Elem().FieldByName("ticker")
		if !f.IsValid() || f.Type() != reflect.TypeFor[*time.Ticker]() {
			return
		}
		c.ticker = (*time.Ticker)(f.UnsafePointer())
	}
	if c.ticker == nil {
		return
	}
	c.ticker.Reset(frame)
	if c.calm != nil {
		c.calm.Reset(lingers)
	} else {
		c.calm = time.AfterFunc(lingers, func() { c.ticker.Reset(rests) })
	}
}

// stop ends what it does by itself.
func (c *clock) stop() {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.calm != nil {
		c.calm.Stop()
	}
}
