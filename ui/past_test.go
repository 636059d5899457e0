package ui

import (
	"testing"
	"time"

	"github.com/farsight-console/farsight/engine"
	"github.com/farsight-console/farsight/ui/uitest"
)

// TestV2_WhatHappenedElsewhereIsDrawn: a screen with a past that was left for twenty seconds asks the engine
// what was in them, and its window that sets the pace has its teeth again.
func TestV2_WhatHappenedElsewhereIsDrawn(t *testing.T) {
	for _, screen := range []string{"1", "5"} {
		bubble(t, func(t *testing.T) {
			d := open(t, uitest.Demo(), 120, 40, testOptions())
			asked := func() (n int) {
				for _, q := range d.fake.Asked() {
					if _, ok := q.(engine.MomentsQuery); ok {
						n++
					}
				}
				return n
			}
			d.press(screen)
			d.press("8") // Logs, which has no past
			before := asked()
			if before == 0 {
				t.Fatalf("screen %s never asked for what was before it", screen)
			}
			u := d.fake.Scene.Update
			u.Snapshot = false
			for range 20 {
				d.wait(time.Second)
				limits := *u.Limits
				limits.At = time.Now()
				u.Limits, u.Seq = &limits, u.Seq+1
				d.send(u)
			}
			if d.press(screen); asked() == before {
				t.Errorf("screen %s drew over a gap of 20 s", screen)
			}
		})
	}
}
