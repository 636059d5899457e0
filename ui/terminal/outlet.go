package terminal

import (
	"errors"
	"fmt"
	"io"
	"os"
	"sync/atomic"
	"time"

	"github.com/farsight-console/farsight/engine/safe"
	"golang.org/x/term"
)

// A network terminal that takes nothing for so long is asleep or cut off: its console
// is closed, so that the engine makes no more updates for it.
const (
	stallAfter = 30 * time.Second
	partingFor = time.Second // what a write may take once that has happened
	outletPart = 1 << 10     // bytes; each part has the whole time
)

// errStalled is the ErrHungUp of a network terminal that took nothing any more. The
// user has been told on it, in as far as it can be told anything.
var errStalled = fmt.Errorf("the console was closed: its terminal took nothing for %s (%w)", stallAfter, ErrHungUp)

// outlet writes to a network terminal with deadlines. A write to a terminal that
// nobody reads would otherwise never end, and with it the console.
type outlet struct {
	tty  *os.File // as the program got it: for its modes and its size
	out  *os.File // the same terminal, opened once more for deadlines
	wait time.Duration
	// stalled is called at the first write that was given up.
	stalled func()
	late    atomic.Bool
}

// newOutlet is nil where there is no terminal behind w, or it cannot be opened once
// more: it is another user's, or the system does not know how. Then the console
// writes to w as everywhere else.
func newOutlet(w io.Writer, wait time.Duration, stalled func()) *outlet {
	if w == nil {
		w = os.Stdout
	}
	tty, ok := w.(*os.File)
	if !ok || !term.IsTerminal(int(tty.Fd())) {
		return nil
	}
	out, err := reopen(tty)
	if err != nil {
		return nil
	}
	if wait <= 0 {
		wait = stallAfter
	}
	return &outlet{tty: tty, out: out, wait: wait, stalled: stalled}
}

// Write implements io.Writer. After a write that was given up, what the terminal
// still has to read is thrown away: there must be room for what leaves it whole.
func (o *outlet) Write(p []byte) (n int, err error) {
	for n < len(p) && err == nil {
		var m int
		m, err = o.part(p[n:min(n+outletPart, len(p))])
		n += m
	}
	return n, err
}

// part writes a part within its deadline. After the first that was given up it ends what was cut in two
// and tells; the rest has a second.
func (o *outlet) part(p []byte) (int, error) {
	wait := o.wait
	if o.late.Load() {
		wait = partingFor
	}
	if err := o.out.SetWriteDeadline(time.Now().Add(wait)); err != nil {
		return 0, err
	}
	n, err := o.out.Write(p)
	if errors.Is(err, os.ErrDeadlineExceeded) && !o.late.Swap(true) {
		discard(o.out)
		_, _ = o.part([]byte(cutOff))
		o.stalled()
	}
	return n, err
}

// cutOff ends what was cut in two: a sequence (CAN), a frame that is held back until
// it is whole, a colour.
const cutOff = "\x18\x1b[?2026l\x1b[0m"

// reportClosed says why, to a user whose console was closed in this way.
func (o *outlet) reportClosed(line string) {
	if o.late.Load() && line != "" {
		_, _ = o.Write([]byte(safe.Text(line) + "\n"))
	}
}

// Read, Close and Fd make it the terminal that Bubble Tea looks for.
func (o *outlet) Read(p []byte) (int, error) { return o.tty.Read(p) }

// Close gives the second opening up; the terminal is the caller's.
func (o *outlet) Close() error { return o.out.Close() }

// Fd is the terminal's own.
func (o *outlet) Fd() uintptr { return o.tty.Fd() }
