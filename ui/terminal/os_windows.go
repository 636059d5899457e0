package terminal

import (
	"io"
	"os"
	"time"

	tea "charm.land/bubbletea/v2"
)

// A console window has no modes that outlive its program, no answers left for a shell, and no job control. That it
// is closed is told as SIGTERM.
var moreSignals []os.Signal

// A console window tells its size by its input.
var resizes []os.Signal

func (*signals) takeMore(os.Signal, *tea.Program) bool { return false }

func (*signals) suspend(*tea.Program) {}

// JobControl reports whether a shell could let the program go on that was stopped: here none can.
func JobControl() bool { return false }

func drain(*os.File, io.Writer, time.Duration) {}

func mend(*os.File) bool { return false }
