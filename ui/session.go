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
	updated struct{ engine.Update }   // rows, merged since the last one
	lost    struct{ again time.Time } // Watch has nothing more to say, and is asked again then
)

// Gaps between two updates of one console. The screen of a network terminal
// costs its owner more than it is worth to see ten a second.
const (
	gapLocal = 100 * time.Millisecond
	gapSSH   = 250 * time.Millisecond
	gapAway  = time.Second // the window has lost its focus
)

// gapsRetry are the waits before a lost engine is looked for again; the last one
// stays.
var gapsRetry = [...]time.Duration{time.Second, 2 * time.Second, 3 * time.Second, 5 * time.Second, 10 * time.Second}

// session turns Watch into messages: one goroutine, which reads the next update
// only when the last one was taken and the gap has passed. What comes meanwhile
// is merged at the other end, so a slow terminal sees the newest state and makes
// nobody wait.
type session struct {
	console engine.Console
	usual   atomic.Int64 // nanoseconds between two updates
	least   atomic.Int64 // nanoseconds, what the screen costs to paint asks for
	weight  int64        // by how much that counts: twice on a network terminal
	pressed atomic.Int64 // when the last key came: what follows it is not held back
	away    atomic.Bool
	back    chan struct{} // rung when the focus returns, and at a key
}

func newSession(c engine.Console, opt Options) *session {
	s := &session{console: c, back: make(chan struct{}, 1), weight: 1}
	usual := gapLocal
	if opt.SSH {
		usual, s.weight = gapSSH, 2
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
// again, less and less often as long as nothing comes.
func (s *session) run(ctx context.Context, send func(tea.Msg)) {
	for try := 0; ctx.Err() == nil; try++ {
		for u := range s.console.Watch(ctx) {
			try = 0
			send(updated{u})
			if s.pause(ctx) != nil {
				return
			}
		}
		if ctx.Err() != nil {
			return
		}
		gap := gapsRetry[min(try, len(gapsRetry)-1)]
		send(lost{time.Now().Add(gap)})
		_ = sleep(ctx, gap, nil)
	}
}

func (s *session) pause(ctx context.Context) error {
	gap := time.Duration(s.usual.Load())
	if age := time.Since(time.Unix(0, s.pressed.Load())); age < 0 || age >= hurry {
		gap = max(gap, time.Duration(s.least.Load()))
	}
	if s.away.Load() {
		gap = max(gap, gapAway)
	}
	return sleep(ctx, gap, s.back)
}

// Bubble Tea repaints a row of wide letters whole whenever anything on the screen
// changes, so a list of Korean names would cost more than all else: updates come
// so seldom that these rows cost wideShare bytes a second, a third of what a busy
// screen may cost. What a row is repainted with is as long as the row itself.
const (
	wideShare = 2800
	wideMost  = 2 * time.Second
)

// weigh takes a frame's rows of wide letters into account.
func (s *session) weigh(frame string) {
	gap := time.Duration(wideBytes(frame)) * time.Second / wideShare
	s.least.Store(int64(min(gap, wideMost)) * s.weight)
}

// wideBytes is the length of the rows that hold letters of two cells. They are
// known by the first byte of their UTF-8: boxes, bars and signs begin with 0xE2 and
// are one cell.
func wideBytes(frame string) int {
	n, start, wide := 0, 0, false
	for i := range len(frame) {
		switch c := frame[i]; {
		case c == '\n':
			if wide {
				n += i - start
			}
			start, wide = i+1, false
		case c >= 0xe1 && c != 0xe2 && c != 0xee && c <= 0xf0:
			wide = true
		}
	}
	if wide {
		n += len(frame) - start
	}
	return n
}

// hasten makes what the engine says to a key come without delay. While nothing is
// held back there is nothing to hasten.
func (s *session) hasten(now time.Time) {
	s.pressed.Store(now.UnixNano())
	if s.least.Load() > s.usual.Load() {
		s.ring()
	}
}

// focus tells whether somebody may be looking.
func (s *session) focus(on bool) {
	s.away.Store(!on)
	if on {
		s.ring()
	}
}

// ring ends the pause that is under way.
func (s *session) ring() {
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
