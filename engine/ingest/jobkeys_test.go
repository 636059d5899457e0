package ingest

import (
	"encoding/json"
	"testing"
	"time"

	"github.com/farsight-console/farsight/engine"
)

// jobKeys are all builders of unique keys: no key is built anywhere else.
var jobKeys = []func(id string) string{
	func(id string) string { return syncKey(ModeLatest, id) },
	func(id string) string { return syncKey(ModeFull, id) },
	matchKey, timelineKey, rankJobKey, resolveKey,
}

// FuzzP08_JobKeys: two keys are equal if and only if they were built for the same
// purpose and the same id, whatever the id holds.
func FuzzP08_JobKeys(f *testing.F) {
	f.Add(uint8(0), "01J", uint8(1), "01J")
	f.Add(uint8(2), "EUW1_7", uint8(3), "EUW1_7")
	f.Add(uint8(2), "", uint8(3), "")
	f.Add(uint8(0), "full:01J", uint8(1), "01J")
	f.Add(uint8(2), "timeline:EUW1_7", uint8(3), "match:EUW1_7")
	f.Add(uint8(4), "a\x00:b", uint8(5), "a\x00:b")
	f.Fuzz(func(t *testing.T, k uint8, a string, l uint8, b string) {
		one, other := int(k)%len(jobKeys), int(l)%len(jobKeys)
		same := one == other && a == b
		if got := jobKeys[one](a) == jobKeys[other](b); got != same {
			t.Fatalf("%q and %q: equal %v", jobKeys[one](a), jobKeys[other](b), got)
		}
	})
}

// TestP08_AKeyIsTheSameInEveryZone: the week that a tick is about, and so its key,
// follows the report's zone and not the one that the instant is written in.
func TestP08_AKeyIsTheSameInEveryZone(t *testing.T) {
	seoul, err := time.LoadLocation("Asia/Seoul")
	if err != nil {
		t.Fatal(err)
	}
	in := New(Options{Zone: seoul})
	// Sunday 16:00 UTC is Monday 01:00 in Seoul; the change of zone rules lies between.
	at := time.Date(2026, 10, 25, 16, 0, 0, 0, time.UTC)
	want := in.lastWeek(at)
	if want != "2026-10-19" {
		t.Errorf("the week before %v is %s", at, want)
	}
	for _, name := range []string{"Europe/Berlin", "America/New_York", "Australia/Lord_Howe", "Asia/Kathmandu"} {
		zone, err := time.LoadLocation(name)
		if err != nil {
			t.Fatal(err)
		}
		for step := range 48 {
			instant := at.Add(time.Duration(step) * time.Hour)
			if a, b := in.lastWeek(instant), in.lastWeek(instant.In(zone)); a != b {
				t.Errorf("%v: %s, in %s %s", instant, a, name, b)
			}
		}
	}
	// Arguments are written by us, with fixed names in a fixed order: what is equal
	// is equal as bytes.
	a, b := encode(fetchArgs{Match: "EUW1_7", More: true}), encode(fetchArgs{More: true, Match: "EUW1_7"})
	if string(a) != string(b) || !json.Valid(a) {
		t.Errorf("%s and %s", a, b)
	}
	if _, err := decode[fetchArgs](engine.Job{Args: a}); err != nil {
		t.Error(err)
	}
}
