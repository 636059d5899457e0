package terminal

import (
	"context"
	"os"
	"slices"
	"syscall"
	"testing"
	"time"

	tea "charm.land/bubbletea/v2"
	"github.com/creack/pty"
	"golang.org/x/sys/unix"
)

// resized is a program whose terminal changes its size while it starts, and a few times after that. It ends when it has
// been told each.
type resized struct {
	tty  int   // its descriptor: os.File.Fd in the goroutine of a command would race with Close
	told []int // widths
}

func (r *resized) resize(w uint16) {
	_ = unix.IoctlSetWinsize(r.tty, unix.TIOCSWINSZ, &unix.Winsize{Col: w, Row: 50})
	_ = syscall.Kill(os.Getpid(), syscall.SIGWINCH)
}

func (r *resized) Init() tea.Cmd {
	r.resize(160)
	time.Sleep(50 * time.Millisecond) // the signal is over before Bubble Tea listens
	return nil
}

func (r *resized) Update(msg tea.Msg) (tea.Model, tea.Cmd) {
	if m, ok := msg.(tea.WindowSizeMsg); ok {
		r.told = append(r.told, m.Width)
		switch w := uint16(m.Width); {
		case w == 170:
			return r, tea.Quit
		case w >= 160:
			return r, func() tea.Msg {
				time.Sleep(50 * time.Millisecond) // another message of this size would be here
				r.resize(w + 1)
				return nil
			}
		}
	}
	return r, nil
}

func (r *resized) View() tea.View { return tea.NewView("what is shown") }

// TestB16i_ASizeThatChangesAtTheStart: a window that is given its place while the console starts is drawn as it is then, and
// one that has a size later once for each.
func TestB16i_ASizeThatChangesAtTheStart(t *testing.T) {
	master, tty, err := pty.Open()
	if err != nil {
		t.Skip("no terminals here: ", err)
	}
	defer master.Close()
	defer tty.Close()
	go func() {
		for buf := make([]byte, 4096); ; {
			if _, err := master.Read(buf); err != nil {
				return
			}
		}
	}()
	if err := pty.Setsize(tty, &pty.Winsize{Cols: 100, Rows: 30}); err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
	defer cancel()
	r := &resized{tty: int(tty.Fd())}
	err = Run(ctx, r, Options{Input: tty, Output: tty}, nil)
	if err != nil || ctx.Err() != nil || slices.Compare(slices.Compact(slices.Clone(r.told)), r.told) != 0 {
		t.Errorf("it is drawn at %d, %v %v", r.told, err, ctx.Err())
	}
}
