package terminal

import (
	"reflect"
	"sync"
	"time"

	tea "charm.land/bubbletea/v2"
)

// Bubble Tea paints at the beats of a clock that runs at one speed: a key's echo waits
// for the next of them, and each of them wakes a console on which nothing happens.
// beat turns that clock: a key is followed by a beat at once, other messages by one
// within a frame, and when none has come for a while the clock all but stands still.
const (
	frame  = time.Second / frames
	echoIn = 3 * time.Millisecond   // from a key to its beat: several keys at once are one frame
	insist = 5 * echoIn             // how long beats follow so fast: a frame that is late gets the next
	linger = 150 * time.Millisecond // how long after a message the clock runs on
	rest   = time.Second
)

// beat is the clock of one program. One that was not found runs on as it is.
type beat struct {
	program *tea.Program

	mu     sync.Mutex
	clock  *time.Ticker
	sought bool        // was looked for
	calm   *time.Timer // slows the clock down again
	due    time.Time   // of the beat that was asked for last
	keyed  time.Time   // of the last one that a key asked for
	until  time.Time   // when the clock may rest
}

// clockOf finds the clock of a program that runs; nil when this version of Bubble Tea
// has another. It has no setting for it.
func clockOf(p *tea.Program) *time.Ticker {
	f := reflect.ValueOf(p).Elem().FieldByName("ticker")
	if !f.IsValid() || f.Type() != reflect.TypeFor[*time.Ticker]() {
		return nil
	}
	return (*time.Ticker)(f.UnsafePointer())
}

// ask brings the next beat near. It is called on the program's own goroutine, for
// each message.
func (b *beat) ask(key bool, now time.Time) {
	b.mu.Lock()
	defer b.mu.Unlock()
	if !b.found() {
		return
	}
	at := now.Add(frame)
	if key { // held down, it is painted as often as anything else
		if at = now.Add(echoIn); at.Before(b.keyed.Add(frame)) {
			at = b.keyed.Add(frame)
		}
	}
	b.until = at.Add(linger)
	if b.due.After(now) && !at.Before(b.due) {
		return // the beat that is to come is soon enough
	}
	if b.due = at; key {
		b.keyed = at
	}
	b.clock.Reset(at.Sub(now))
	b.calm.Reset(at.Sub(now) + insist)
}

// found looks for the clock, once.
func (b *beat) found() bool {
	if !b.sought {
		b.clock, b.sought = clockOf(b.program), true
		b.calm = time.AfterFunc(linger, b.slow)
	}
	return b.clock != nil
}

// slow lets the clock run at its usual speed when a key has been answered, and rest
// when nothing has come since.
func (b *beat) slow() {
	b.mu.Lock()
	defer b.mu.Unlock()
	switch now := time.Now(); {
	case b.clock == nil:
	case now.Before(b.due.Add(insist)):
		b.calm.Reset(b.due.Add(insist).Sub(now))
	case now.Before(b.until):
		b.clock.Reset(frame)
		b.calm.Reset(b.until.Sub(now))
	default:
		b.clock.Reset(rest)
	}
}

// stop ends what beat does by itself.
func (b *beat) stop() {
	b.mu.Lock()
	defer b.mu.Unlock()
	b.clock, b.sought = nil, true
	if b.calm != nil {
		b.calm.Stop()
	}
}

// beaten is a model whose messages bring beats near.
type beaten struct {
	tea.Model
	beat *beat
}

// Update implements tea.Model.
func (m beaten) Update(msg tea.Msg) (tea.Model, tea.Cmd) {
	inner, cmd := m.Model.Update(msg)
	_, key := msg.(tea.KeyPressMsg)
	m.beat.ask(key, time.Now())
	return beaten{inner, m.beat}, cmd
}
