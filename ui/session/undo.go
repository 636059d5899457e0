package session

import (
	"time"

	"github.com/farsight-console/farsight/engine"
)

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
