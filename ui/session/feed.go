package session

import (
	"context"
	"sync/atomic"
	"time"

	"github.com/farsight-console/farsight/engine"
	"github.com/farsight-console/farsight/engine/await"
)

// Lost says that Watch has nothing more to tell.
type Lost struct {
	Again time.Time // when it is asked again
	Why   string    // "" = the engine has gone
}

// Absent is a console that knows why Watch has ended, where the engine has not just
// gone: it is of another version, or lets this user in no more. "" = it has gone.
type Absent interface {
	Absent(ctx context.Context) string
}

// absentWait is how long the answer may take.
const absentWait = time.Second

// Gaps between two updates of one console. The screen of a network terminal
// costs its owner more than it is worth to see ten a second.
const (
	gapLocal = 100 * time.Millisecond
	gapSSH   = 250 * time.Millisecond
	gapAway  = time.Second // the window has lost its focus
)

// MostFPS is how many updates a second a console shows at most.
const MostFPS = 10

// gapsRetry are the waits before a lost engine is looked for again; the last one
// stays.
var gapsRetry = [...]time.Duration{time.Second, 2 * time.Second, 3 * time.Second, 5 * time.Second, 10 * time.Second}

// Feed turns Watch into messages: one goroutine, which reads the next update
// only when the last one was taken and the gap has passed. What comes meanwhile
// is merged at the other end, so a slow terminal sees the newest state and makes
// nobody wait.
type Feed struct {
	console engine.Console
	usual   atomic.Int64 // nanoseconds between two updates
	away    atomic.Bool
	back    await.Bell // rung when the focus returns
}

// NewFeed makes the feed of a console at a seat.
func NewFeed(c engine.Console, s Seat) *Feed {
	f := &Feed{console: c, back: await.NewBell()}
	usual := gapLocal
	if s.SSH {
		usual = gapSSH
	}
	if s.MaxFPS > 0 {
		usual = max(usual, time.Second/time.Duration(s.MaxFPS))
	}
	f.usual.Store(int64(usual))
	return f
}

// Rate sets how many updates a second are shown, 1 to MostFPS.
func (f *Feed) Rate(fps int) { f.usual.Store(int64(time.Second / time.Duration(fps))) }

// Run feeds send each engine.Update, those that came since the last one merged, until ctx
// ends. When Watch ends by itself it sends Lost and tries again, less and less often as
// long as nothing comes.
func (f *Feed) Run(ctx context.Context, send func(msg any)) {
	for try := 0; ctx.Err() == nil; try++ {
		for u := range f.console.Watch(ctx) {
			try = 0
			send(u)
			if !f.pause(ctx) {
				return
			}
		}
		if ctx.Err() != nil {
			return
		}
		gap := gapsRetry[min(try, len(gapsRetry)-1)]
		why := f.absent(ctx)
		send(Lost{time.Now().Add(gap), why})
		await.Pause(ctx, gap)
	}
}

// absent asks the console why it has nothing more to say.
func (f *Feed) absent(ctx context.Context) string {
	c, ok := f.console.(Absent)
	if !ok {
		return ""
	}
	ctx, cancel := context.WithTimeout(ctx, absentWait)
	defer cancel()
	return c.Absent(ctx)
}

// Gap is the least time between two updates now.
func (f *Feed) Gap() time.Duration {
	gap := time.Duration(f.usual.Load())
	if f.away.Load() {
		gap = max(gap, gapAway)
	}
	return gap
}

// pause lets the gap pass, less of it where the focus returns; false when ctx ended.
func (f *Feed) pause(ctx context.Context) bool {
	t := time.NewTimer(f.Gap())
	defer t.Stop()
	select {
	case <-ctx.Done():
		return false
	case <-t.C:
	case <-f.back:
	}
	return true
}

// Focus tells whether somebody may be looking.
func (f *Feed) Focus(on bool) {
	f.away.Store(!on)
	if on {
		f.back.Ring()
	}
}
