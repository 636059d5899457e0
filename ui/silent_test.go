package ui

import (
	"context"
	"iter"
	"slices"
	"testing"
	"time"

	"github.com/farsight-console/farsight/engine"
	"github.com/farsight-console/farsight/engine/await"
	"github.com/farsight-console/farsight/ui/uitest"
)

// fading is an engine that has made its last call two minutes ago: what it tells of
// its pace still moves, as in the hub.
type fading struct{ *uitest.Fake }

func (f fading) Watch(ctx context.Context) iter.Seq[engine.Update] {
	return func(yield func(engine.Update) bool) {
		last := time.Now().Add(-90 * time.Second)
		u := f.Scene.Update
		u.Calls = slices.Clone(u.Calls)
		for i := range u.Calls {
			u.Calls[i].At = last.Add(time.Duration(i-len(u.Calls)) * time.Second)
		}
		for ok := yield(u); ok && await.Pause(ctx, 250*time.Millisecond); {
			row := *u.Engine
			row.Spark = make([]int, 24)
			if age := int(time.Since(last) / (5 * time.Second)); age < 20 {
				row.Spark[23-age], row.Spark[22-age] = 5, 1+int(time.Since(last)/time.Second)%5
			}
			ok = yield(engine.Update{Seq: u.Seq, Engine: &row})
		}
	}
}

// rested is a scene in which all is done.
func rested() uitest.Scene {
	s := uitest.Busy()
	s.Jobs, s.Update.Jobs, s.Update.Notes, s.Update.Alerts = nil, nil, nil, nil
	for i := range s.Update.Accounts {
		a := &s.Update.Accounts[i]
		a.Status, a.LastSync = engine.SyncCompleted, uitest.Noon.Truncate(time.Minute).Add(-time.Hour)
	}
	row := *s.Update.Engine
	row.CallsPerMin, row.InFlight, row.Spark = 0, 0, nil
	s.Update.Engine, s.Update.Limits = &row, &engine.LimitsRow{At: uitest.Noon}
	for i := range s.Update.Queues {
		q := engine.QueueRow{QueueState: engine.QueueState{Name: s.Update.Queues[i].Name}}
		s.Update.Queues[i] = q
	}
	return s
}

// TestScreensAreSilentAfterWork: a minute after the last call nothing is sent between
// two changes of the minute, although the charts of the pace grow older.
func TestScreensAreSilentAfterWork(t *testing.T) {
	t.Parallel()
	long(t)
	for _, keys := range []string{"1", "2", "3", "4", "5", "9"} {
		if n := sentOver(t, fading{uitest.New(rested())}, testOptions(), keys, 40*time.Second); n != 0 {
			t.Errorf("screen %s sent %d bytes", keys, n)
		}
	}
}
