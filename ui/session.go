package ui

import (
	"context"
	"sync/atomic"
	"time"

	tea "charm.land/bubbletea/v2"

	"github.com/farsight-console/farsight/engine"
)

// Messages of the session.
type (
	updated struct{ engine.Update } // rows, merged since the last one
	lost    struct{}                // Watch has nothing more to say
)

// Gaps between two updates of one console. The screen of a network terminal
// costs its owner more than it is worth to see ten a second.
const (
	gapLocal = 100 * time.Millisecond
	gapSSH   = 250 * time.Millisecond
	gapAway  = time.Second // the window has lost its focus
	gapRetry = 3 * time.Second
)

// session turns Watch into messages: one goroutine, which reads the next update
// only when the last one was taken and the gap has passed. What comes meanwhile
// is merged at the other end, so a slow terminal sees the newest state and makes
// nobody wait.
type session struct {
	console engine.Console
	usual   atomic.Int64 // nanoseconds between two updates
	least   atomic.Int64 // nanoseconds, what the screen costs to paint asks for
	away    atomic.Bool
	back    chan struct{} // rung when the focus returns
}

func newSession(c engine.Console, opt Options) *session {
	s := &session{console: c, back: make(chan struct{}, 1)}
	usual := gapLocal
	if opt.SSH {
		usual = gapSSH
	}
	if opt.MaxFPS > 0 {
		usual = max(usual, time.Second/time.Duration(opt.MaxFPS))
	}
	s.usual.Store(int64(usual))
	return s
}

// mostFPS is how many updates a second a console shows at most.
const mostFPS = 10

// rate sets how many updates a second are shown.
func (s *session) rate(fps int) { s.usual.Store(int64(time.Second / time.Duration(fps))) }

// run feeds send until ctx ends. When Watch ends by itself it says so and tries
// again.
func (s *session) run(ctx context.Context, send func(tea.Msg)) {
	for ctx.Err() == nil {
		for u := range s.console.Watch(ctx) {
			send(updated{u})
			if s.pause(ctx) != nil {
				return
			}
		}
		if ctx.Err() == nil {
			send(lost{})
			sleep(ctx, gapRetry, nil)
		}
	}
}

func (s *session) pause(ctx context.Context) error {
	gap := max(time.Duration(s.usual.Load()), time.Duration(s.least.Load()))
	if s.away.Load() {
		gap = max(gap, gapAway)
	}
	return sleep(ctx, gap, s.back)
}

// costly are the gaps for screens with so many rows of wide letters. Bubble Tea
// repaints such a row whole whenever anything on the screen changes (measured:
// 0.5 kB each), so a list of Korean names would cost more than all else.
var costly = []struct {
	rows int
	gap  time.Duration
}{{12, time.Second}, {4, 500 * time.Millisecond}, {1, 250 * time.Millisecond}}

// weigh takes a frame's rows of wide letters into account.
func (s *session) weigh(frame string) {
	n := wideRows(frame)
	for _, c := range costly {
		if n >= c.rows {
			s.least.Store(int64(c.gap))
			return
		}
	}
	s.least.Store(0)
}

// wideRows counts the rows that hold letters of two cells, by the first byte of
// their UTF-8: boxes, bars and signs begin with 0xE2 and are one cell.
func wideRows(frame string) int {
	n, wide := 0, false
	for i := range len(frame) {
		switch c := frame[i]; {
		case c == '\n':
			wide = false
		case wide, c < 0xe1, c == 0xe2, c == 0xee, c > 0xf0:
		default:
			wide = true
			n++
		}
	}
	return n
}

// focus tells whether somebody may be looking.
func (s *session) focus(on bool) {
	s.away.Store(!on)
	if !on {
		return
	}
	select {
	case s.back <- struct{}{}:
	default:
	}
}

func sleep(ctx context.Context, d time.Duration, early <-chan struct{}) error {
	t := time.NewTimer(d)
	defer t.Stop()
	select {
	case <-ctx.Done():
		return ctx.Err()
	case <-t.C:
	case <-early:
	}
	return nil
}
