package control_test

import (
	"strings"
	"testing"
	"time"

	"github.com/farsight-console/farsight/engine"
)

// Of all that is wrong at once the first in the order is told: each end of a trouble brings the next one forth,
// on a running engine's row as in its sentence.
func TestW5a_OneCauseInItsOrder(t *testing.T) {
	r := newRig(t)
	all := engine.QueueRow{QueueState: engine.QueueState{Name: "ingest.summoner.full", Paused: true, Since: time.Now(), Reason: "the disk is slow"}, Counts: map[engine.State]int{engine.Available: 3}}
	frozen := engine.BucketRow{Host: "europe", Kind: "app", Waiting: 3, FreezeWhy: "maintenance", Blocked: time.Now().Add(time.Hour), BlockedBy: engine.BlockedFrozen}
	rewrite(func() {
		r.limiter.state, r.backend.halted = engine.EngineNoKey, "disk low: 419.4 MB free"
		r.backend.reading, r.backend.queues = "the stored jobs are being read", []engine.QueueRow{all}
		r.limiter.rows = engine.LimitsRow{At: time.Now(), Buckets: []engine.BucketRow{frozen}, Holds: []engine.LimitHold{{Why: "Riot asked for an hour"}},
			Breakers: []engine.BreakerRow{{Host: "europe", Method: "match-v5.match", Waiting: 9}}}
		r.keys.shown = ""
	})
	for _, cause := range []struct {
		state engine.EngineState
		why   string
		ends  func()
	}{
		{engine.EngineNoKey, "there is no API key", func() { r.keys.shown = "…0000" }},
		{engine.EngineNoKey, "", func() { r.limiter.state = engine.EngineDegraded }},
		{engine.EngineDegraded, "", func() { r.limiter.state = engine.EngineAPIDown }},
		{engine.EnginePaused, "419.4 MB free; work goes on by itself when there is room", func() { r.backend.halted = "" }},
		{engine.EngineAPIDown, "match calls to europe fail: 9 jobs wait", func() { r.limiter.state = engine.EngineLive }},
		{engine.EngineOpening, "being read", func() { r.backend.reading = "" }},
		{engine.EngineHeld, "Riot asked for an hour", func() { r.limiter.rows.Holds = nil }},
		{engine.EnginePaused, "every queue with work is paused: the disk is slow", func() { r.backend.queues[0].Paused = false }},
		{engine.EngineHeld, "europe is frozen", func() { r.limiter.rows.Buckets = nil }},
		{engine.EngineLive, "", func() {}},
	} {
		a, err := engine.Ask[engine.StatusAnswer](t.Context(), r, engine.StatusQuery{})
		if err != nil {
			t.Fatal(err)
		}
		row := a.Engine
		if row.State != cause.state || !strings.Contains(row.Why, cause.why) || row.State != engine.EngineLive && row.Pace != row.Why {
			t.Errorf("%s: %q, %q; want %s: %q", row.State, row.Why, row.Pace, cause.state, cause.why)
		}
		l, err := engine.Ask[engine.LimitsRow](t.Context(), r, engine.LimitsQuery{})
		if err != nil || l.Cause != row.Cause() || !strings.HasPrefix(l.Cause, string(cause.state)) {
			t.Errorf("limits: %q, %v; status: %q", l.Cause, err, row.Cause())
		}
		rewrite(cause.ends)
	}
}
