package terminal

import (
	"context"
	"os"
	"syscall"
	"testing"
	"time"

	tea "charm.land/bubbletea/v2"
	"github.com/creack/pty"
)

// resized is a program whose terminal changes its size while it starts. It ends with the size that it was told last.
type resized struct {
	tty  *os.File
	w, h int
}

func (r *resized) Init() tea.Cmd {
	_ = pty.Setsize(r.tty, &pty.Winsize{Cols: 160, Rows: 50})
	_ = syscall.Kill(os.Getpid(), syscall.SIGWINCH)
	time.Sleep(50 * time.Millisecond) // the signal is over before Bubble Tea listens
	return nil
}

func (r *resized) Update(msg tea.Msg) (tea.Model, tea.Cmd) {
	if m, ok := msg.(tea.WindowSizeMsg); ok {
		if r.w, r.h = m.Width, m.Height; r.w == 160 && r.h == 50 {
			return r, tea.Quit
		}
	}
	return r, nil
}

func (r *resized) View() tea.View { return tea.NewView("what is shown") }

// TestB16i_ASizeThatChangesAtTheStart: a window that is given its place while the console starts is drawn as it is then.
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
	r := &resized{tty: tty}
	if err := Run(ctx, r, Options{Input: tty, Output: tty}, nil); err != nil || ctx.Err() != nil {
		t.Errorf("it is drawn at %d by %d, %v %v", r.w, r.h, err, ctx.Err())
	}
}
