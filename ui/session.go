package ui

import (
	"context"
	"sync/atomic"
	"time"

	tea "charm.land/bubbletea/v2"

	"github.com/farsight-console/farsight/engine"
	"github.com/farsight-console/farsight/engine/await"
)

// Messages of the session.
type (
	updated struct{ engine.Update } // rows, merged since the last one
	lost    struct {                // Watch has nothing more to say, and is asked again then
		again time.Time
		why   string // "" = the engine has gone
	}
)

// Gaps between two updates of one console. The screen of a network terminal
// costs its owner more than it is worth to see ten a second.
const (
	gapLocal = 100 * time.Millisecond
	gapSSH   = 250 * time.Millisecond
	gapAway  = time.Second // the window has lost its focus
)

// absentWait is how long the answer may take.
const absentWait = time.Second

// Absent is a console that knows why Watch has ended, where the engine has not just
// gone: it is of another version, or lets this user in no more. "" = it has gone.
type Absent interface {
	Absent(ctx context.Context) string
}

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
	away    atomic.Bool
	back    await.Bell // rung when the focus returns
}

func newSession(c engine.Console, opt Options) *session {
	s := &session{console: c, back: await.NewBell()}
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
		why := s.absent(ctx)
		send(lost{time.Now().Add(gap), why})
		_ = sleep(ctx, gap, nil)
	}
}

// absent asks the console why it has nothing more to say.
func (s *session) absent(ctx context.Context) string {
	c, ok := s.console.(Absent)
	if !ok {
		return ""
	}
	ctx, cancel := context.WithTimeout(ctx, absentWait)
	defer cancel()
	return c.Absent(ctx)
}

func (s *session) pause(ctx context.Context) error {
	gap := time.Duration(s.usual.Load())
	if s.away.Load() {
		gap = max(gap, gapAway)
	}
	return sleep(ctx, gap, s.back)
}

// focus tells whether somebody may be looking.
func (s *session) focus(on bool) {
	s.away.Store(!on)
	if on {
		s.back.Ring()
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
