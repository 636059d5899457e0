package ui

import (
	"testing"
	"time"

	"github.com/farsight-console/farsight/engine"
	"github.com/farsight-console/farsight/ui/uitest"
)

// atPace is a console on a key at full pace.
func atPace(t *testing.T, do func(d *desk)) {
	t.Helper()
	bubble(t, func(t *testing.T) { do(open(t, uitest.Demo(), 120, 40, testOptions())) })
}

// A stranger asks what sets the pace: it stands on every screen, and its plan on Limits.
func TestStranger_WhatSetsThePace(t *testing.T) {
	atPace(t, func(d *desk) {
		d.wants("the 12 s window brakes")
		d.press("5")
		d.wants("20 left, spread over 3 s", "then 100 a window, 8 times", "then 21, and there is room")
	})
}

// A stranger asks how much of the key is used, by our count and by Riot's.
func TestStranger_HowMuchOfTheKeyIsUsed(t *testing.T) {
	atPace(t, func(d *desk) {
		d.wants("95 % of what the key allows", "80/100")
		d.press("5")
		d.wants("RIOT SAYS", "80/100   12 s    = 80", "Riot had 101, we 82", "19 not ours")
	})
}

// A stranger asks who gets the next calls.
func TestStranger_WhoGetsTheNextCalls(t *testing.T) {
	atPace(t, func(d *desk) {
		d.press("5")
		d.wants("NEXT 841 CALLS who gets them", "Night Heron           819", "of these, retries       3", "NEXT RESETS europe", "100 go")
	})
}

// A stranger asks what a sync would cost: how many calls, beside those in line and the
// scheduled runs, and when it is done.
func TestStranger_WhatWouldASyncCost(t *testing.T) {
	busy(t, func(d *desk) {
		d.fake.Answer = func(engine.Command) (engine.Receipt, error) {
			const calls, takes = 889, 2 * time.Hour
			cost := engine.Cost{Calls: calls, Takes: takes, Bucket: "app:asia 100/120s", Calendar: uitest.Beside(d.fake.Scene.Update, calls, takes)}
			return engine.Receipt{Matched: 1, Cost: &cost}, nil
		}
		d.press("2", "G", "t")
		d.wants("About 889 calls", "(asia's 2 min window)", "now", "+1 h", "calls in line", "with this 889", "◆ ~14:31 done", "scheduled runs", "◇")
	})
}
