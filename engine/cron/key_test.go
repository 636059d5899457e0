package cron

import (
	"testing"
	"time"

	"pgregory.net/rapid"

	"github.com/farsight-console/farsight/engine"
)

// TestP08_ATickHasOneIDInEveryZone: a tick is its schedule and its instant: the same
// pair never differs across zones, different pairs never collide, and no run that an
// operator asks for has the id of a planned one.
func TestP08_ATickHasOneIDInEveryZone(t *testing.T) {
	var zones []*time.Location
	for _, name := range []string{"UTC", "Europe/Berlin", "America/New_York", "Asia/Seoul", "Australia/Lord_Howe", "Asia/Kathmandu"} {
		zone, err := time.LoadLocation(name)
		if err != nil {
			t.Fatal(err)
		}
		zones = append(zones, zone)
	}
	instant := rapid.Custom(func(t *rapid.T) time.Time {
		at := time.Unix(rapid.Int64Range(1_790_000_000, 1_900_000_000).Draw(t, "second"), 0)
		return at.In(rapid.SampledFrom(zones).Draw(t, "zone"))
	})
	name := rapid.SampledFrom([]string{"latest", "rank.daily", "report.weekly", "sweep", "prune"})
	rapid.Check(t, func(t *rapid.T) {
		s, at := name.Draw(t, "schedule"), instant.Draw(t, "at")
		id := tickOf(s, at, at).ID
		for _, zone := range zones {
			if other := tickOf(s, at.In(zone), at).ID; other != id {
				t.Fatalf("%s in %s is %s", id, zone, other)
			}
		}
		s2, at2 := name.Draw(t, "other schedule"), instant.Draw(t, "other instant")
		if same := s == s2 && at.Equal(at2); same != (tickOf(s2, at2, at2).ID == id) {
			t.Fatalf("%s at %v and %s at %v: equal %v", s, at, s2, at2, !same)
		}
		if tickNow(s, at, engine.Actor{}).ID == id {
			t.Fatalf("%s is the id of a run by hand, too", id)
		}
	})
}
