package ui

import (
	"testing"
	"time"

	"github.com/farsight-console/farsight/engine"
	"github.com/farsight-console/farsight/ui/uitest"
)

// TestV2_WhatHappenedElsewhereIsDrawn: a screen with a past that was left for twenty seconds has them in it,
// and its window that sets the pace has its teeth; after a gap in what it was told the console asks the engine
// what was in that, and nothing that it has asked before.
func TestV2_WhatHappenedElsewhereIsDrawn(t *testing.T) {
	for _, screen := range []string{"1", "5"} {
		bubble(t, func(t *testing.T) {
			d := open(t, uitest.Demo(), 120, 40, testOptions())
			var from, to time.Time // of the last question
			asked := func() (n int) {
				for _, q := range d.fake.Asked() {
					if q, ok := q.(engine.MomentsQuery); ok {
						n++
						from, to = q.From, q.To
					}
				}
				return n
			}
			d.press(screen)
			d.press("8") // Logs, which has no past
			if asked() != 1 {
				t.Fatalf("screen %s asked %d times for what was before it", screen, asked())
			}
			told := to
			u, left := d.fake.Scene.Update, time.Now()
			u.Snapshot = false
			tell := func(after time.Duration) {
				d.wait(after)
				limits := *u.Limits
				limits.At = time.Now()
				u.Limits, u.Seq = &limits, u.Seq+1
				d.send(u)
			}
			for range 20 {
				tell(time.Second)
			}
			if d.press(screen); len(d.m.past.Since(left)) < 20 || asked() != 1 {
				t.Errorf("screen %s knows %d moments of the last 20 s, and has asked %d times", screen, len(d.m.past.Since(left)), asked())
			}
			if tell(8 * time.Second); asked() != 2 || !from.Equal(told) {
				t.Errorf("screen %s drew over a gap of 8 s, or asked from %v on, having been told up to %v", screen, from, told)
			}
		})
	}
}
