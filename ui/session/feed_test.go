package session

import (
	"context"
	"iter"
	"testing"
	"testing/synctest"
	"time"

	"github.com/farsight-console/farsight/engine"
)

// TestSessionPace: however much comes, a console is sent at most so many updates
// a second, and one that nobody looks at one a second.
func TestSessionPace(t *testing.T) {
	for _, c := range []struct {
		name string
		seat Seat
		away bool
		most int
	}{{"local", Seat{}, false, 10}, {"ssh", Seat{SSH: true}, false, 4}, {"fps 2", Seat{MaxFPS: 2}, false, 2}, {"away", Seat{}, true, 1}} {
		t.Run(c.name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				s := NewFeed(flood{}, c.seat)
				s.Focus(!c.away)
				for len(s.back) > 0 {
					<-s.back
				}
				ctx, cancel := context.WithTimeout(t.Context(), 10*time.Second)
				defer cancel()
				n := 0
				s.Run(ctx, func(any) { n++ })
				if most := c.most*10 + 1; n > most || n < most/2 {
					t.Errorf("%d updates in ten seconds, want at most %d", n, most)
				}
			})
		})
	}
}

// flood is a console that always has something to say.
type flood struct{ engine.Console }

func (flood) Watch(ctx context.Context) iter.Seq[engine.Update] {
	return func(yield func(engine.Update) bool) {
		for ctx.Err() == nil && yield(engine.Update{}) {
		}
	}
}

// TestSessionComesBackWhenWatchEnds says that the engine is gone, and tries again.
func TestSessionComesBackWhenWatchEnds(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		ctx, cancel := context.WithTimeout(t.Context(), 7*time.Second)
		defer cancel()
		var got []any
		NewFeed(mute{}, Seat{}).Run(ctx, func(m any) { got = append(got, m) })
		if len(got) != 4 { // at 0, 1, 3 and 6 s
			t.Errorf("%d messages in 7 s, want lost four times", len(got))
		}
	})
}

type mute struct{ engine.Console }

func (mute) Watch(context.Context) iter.Seq[engine.Update] { return func(func(engine.Update) bool) {} }

// absentee is a console whose engine is there, but not for it.
type absentee struct{ mute }

func (absentee) Absent(context.Context) string { return "it lets nobody in" }

// TestDisconnectedSaysWhy: an engine that refuses a console has not gone.
func TestDisconnectedSaysWhy(t *testing.T) {
	for want, c := range map[string]engine.Console{"": mute{}, "it lets nobody in": absentee{}} {
		synctest.Test(t, func(t *testing.T) {
			ctx, cancel := context.WithCancel(t.Context())
			NewFeed(c, Seat{}).Run(ctx, func(msg any) {
				if l, ok := msg.(Lost); !ok || l.Why != want {
					t.Errorf("%+v, want %q", msg, want)
				}
				cancel()
			})
		})
	}
}
