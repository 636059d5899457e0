package engine_test

import (
	"testing"
	"time"

	"github.com/farsight-console/farsight/engine"
)

// TestL6_TheScheduleOfACollectionIsWrittenAsTyped: without the units of which there are none.
func TestL6_TheScheduleOfACollectionIsWrittenAsTyped(t *testing.T) {
	for _, every := range []string{"1m", "10m", "1h", "1h30m", "1h10m", "10h", "24h", "100h", "1h0m30s", "10m10s"} {
		r := engine.CollectionRow{}
		r.Every, _ = time.ParseDuration(every)
		if s, ok := r.Schedule(engine.QueueState{}); !ok || s.Expr != "@every "+every {
			t.Errorf("%s is %q", every, s.Expr)
		}
	}
}

// While its last players are listed a collection does not end with the matches that were found before.
func TestPaceOfTheLastPlayers(t *testing.T) {
	now := time.Date(2026, 11, 20, 12, 0, 0, 0, time.UTC)
	r := engine.CollectionRow{Collection: engine.Collection{Job: "j1", Started: now.Add(-272 * time.Second), Players: 300, Ladder: 1}, Listed: 272, Ladders: 1, Calls: 880,
		Collected: engine.Collected{Found: 653, Stored: 649}}
	if at := new(engine.Pace).Ends(&r, now); !at.Equal(now.Add(28 * time.Second)) {
		t.Errorf("272 of 300 players in 272 s: done in %s", at.Sub(now))
	}
	r.Collected.Stored = 53 // 1,200 calls for matches and none for players
	if at := new(engine.Pace).Ends(&r, now); at.Sub(now) < time.Minute {
		t.Errorf("with 600 matches to be fetched it is done in %s", at.Sub(now))
	}
}
