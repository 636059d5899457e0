package main

import (
	"fmt"
	"io"
	"os"
	"os/exec"
	"strings"
	"syscall"
	"time"

	uv "github.com/charmbracelet/ultraviolet"
	"github.com/charmbracelet/x/vt"
	"github.com/creack/pty"
)

// patience is how long a text is waited for.
const patience = 3 * time.Minute

// terminal is a program on a screen that nobody sees.
type terminal struct {
	cmd    *exec.Cmd
	pty    *os.File
	screen *vt.SafeEmulator
	w, h   int
	home   string
	ended  chan struct{}
}

// frame is a screen at an instant, row by row.
type frame [][]uv.Cell

// start runs the program on a screen of a size, with nothing of the caller's
// environment that it could show.
func start(binary string, size [2]int, args []string) (*terminal, error) {
	home, err := os.MkdirTemp("", "farsight-pictures-")
	if err != nil {
		return nil, err
	}
	t := &terminal{cmd: exec.Command(binary, args...), w: size[0], h: size[1], home: home, ended: make(chan struct{})}
	t.cmd.Env = []string{"HOME=" + home, "XDG_STATE_HOME=" + home, "TERM=xterm-256color", "COLORTERM=truecolor", "LANG=C.UTF-8", "TZ=UTC", "USER=ana", "TMPDIR=" + os.TempDir()}
	t.screen = vt.NewSafeEmulator(t.w, t.h)
	t.pty, err = pty.StartWithSize(t.cmd, &pty.Winsize{Rows: uint16(t.h), Cols: uint16(t.w)})
	if err != nil {
		return nil, err
	}
	go func() { // what the terminal answers
		_, _ = io.Copy(t.pty, t.screen)
	}()
	go func() {
		defer close(t.ended)
		_, _ = io.Copy(t.screen, t.pty)
	}()
	return t, nil
}

// close ends the program in order.
func (t *terminal) close() {
	_ = t.cmd.Process.Signal(syscall.SIGTERM)
	_ = t.cmd.Wait()
	_ = t.pty.Close()
	<-t.ended
	_ = t.screen.Close()
	_ = os.RemoveAll(t.home)
}

// look takes the screen as it is.
func (t *terminal) look() frame {
	rows := make(frame, t.h)
	for y := range rows {
		rows[y] = make([]uv.Cell, t.w)
		for x := range rows[y] {
			if c := t.screen.CellAt(x, y); c != nil {
				rows[y][x] = *c
			}
		}
	}
	return rows
}

func (f frame) text() string {
	var b strings.Builder
	for _, row := range f {
		for _, c := range row {
			b.WriteString(c.Content)
		}
		b.WriteByte('\n')
	}
	return b.String()
}

// do types the keys of a step, waits for its text and lets it rest.
func (t *terminal) do(s step) error {
	if err := t.begin(s); err != nil {
		return err
	}
	time.Sleep(s.rest)
	return nil
}

func (t *terminal) begin(s step) error {
	for _, r := range s.keys {
		if _, err := t.pty.WriteString(string(r)); err != nil {
			return err
		}
		time.Sleep(30 * time.Millisecond)
	}
	for end := time.Now().Add(patience); !strings.Contains(strings.ToLower(t.look().text()), strings.ToLower(s.wait)); time.Sleep(20 * time.Millisecond) {
		if time.Now().After(end) {
			return fmt.Errorf("%q was never on the screen:\n%s", s.wait, t.look().text())
		}
	}
	return nil
}

// record does steps and takes a frame each so often.
func (t *terminal) record(steps []step, every time.Duration) ([]frame, error) {
	var frames []frame
	for _, s := range steps {
		if err := t.begin(s); err != nil {
			return nil, err
		}
		for range s.rest / every {
			time.Sleep(every)
			frames = append(frames, t.look())
		}
	}
	return frames, nil
}
