// Package session is what every console has, one of screens and one of lines: who sits at
// it, the rows that the engine has told it, and the command that can still be taken back.
package session

import (
	"cmp"
	"context"
	"io"
	"os"
	"time"

	"github.com/farsight-console/farsight/engine"
	"github.com/farsight-console/farsight/ui/chaos"
	"github.com/farsight-console/farsight/ui/page"
)

// Seat is who sits at a console, where, and with which rights.
type Seat struct {
	Actor    engine.Actor // who asks; Via is "console" if empty
	ReadOnly bool         // actions are refused with a reason
	// ReadOnlyWhy is that reason; "" = the user has asked for it.
	ReadOnlyWhy string

	Platform string // of accounts that are named without one; "" = it has to be said
	// Chaos breaks the simulated Riot of a demo; nil everywhere else.
	Chaos Chaos

	SSH    bool           // a network terminal: fewer frames, no suspend
	MaxFPS int            // most updates a second; 0 = 10, on SSH 4
	Glyphs string         // --glyphs; "" for what the terminal can do
	Zone   *time.Location // of instants that are shown; nil = local

	// Getenv, Input and Output replace the process's own, for tests and for
	// sessions that are not on the process's terminal.
	Getenv func(string) string
	Input  io.Reader
	Output io.Writer
}

// By is who gives the commands of this console.
func (s Seat) By() engine.Actor {
	a := s.Actor
	if a.Via == "" {
		a.Via = "console"
	}
	return a
}

// Location is the zone of instants that are shown.
func (s Seat) Location() *time.Location {
	if s.Zone != nil {
		return s.Zone
	}
	return time.Local
}

// Env is a variable of the environment; "" = it is not set.
func (s Seat) Env(name string) string {
	if s.Getenv != nil {
		return s.Getenv(name)
	}
	return os.Getenv(name)
}

// Refuses says why nothing can be changed from here; "" = it can.
func (s Seat) Refuses(d *page.Data) string {
	switch {
	case !d.Ready:
		return "the engine has not answered yet"
	case !d.Lost.IsZero():
		return "not connected: the engine has gone"
	case s.ReadOnly:
		return cmp.Or(s.ReadOnlyWhy, "this console is read only")
	case d.Engine.State == engine.EngineBrowse:
		return "no engine runs here, only stored data is shown: start farsight with an API key to act"
	case d.Engine.State == engine.EngineStopping:
		return "the engine is stopping"
	}
	return ""
}

// Chaos breaks the simulated Riot of a demo. A console that works with a real key
// is never given one, so its panel cannot be opened there.
type Chaos interface {
	// State tells what is injected and what came of it. It must not wait.
	State() chaos.State
	// Inject carries an ask out and says so in one sentence. Errors are for the
	// message line.
	Inject(ctx context.Context, ask chaos.Ask) (said string, err error)
}

// NoChaos is why a console without Chaos breaks nothing.
const NoChaos = "only the demo has a chaos panel: there is nothing to break safely here"

// UndoFor is how long a command can be taken back. The engine decides whether it still
// can: by then its jobs may have moved on.
const UndoFor = 10 * time.Second

// Undo is the last command that can be taken back, by its audit number.
type Undo struct {
	audit uint64
	until time.Time
}

// Keep takes the place of the command before with one that was carried out; false, and
// nothing changes, if it cannot be taken back.
func (u *Undo) Keep(r engine.Receipt, now time.Time) bool {
	if r.Undo {
		*u = Undo{r.Audit, now.Add(UndoFor)}
	}
	return r.Undo
}

// Open reports whether there is a command to take back.
func (u *Undo) Open(now time.Time) bool { return u.audit != 0 && !now.After(u.until) }

// Take is the command that takes it back, which is done once.
func (u *Undo) Take() engine.Command {
	c := engine.Command{Op: engine.OpUndo, Audit: u.audit}
	*u = Undo{}
	return c
}
