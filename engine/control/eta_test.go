package control

import (
	"context"
	"iter"
	"testing"
	"time"

	"github.com/farsight-console/farsight/engine"
	"github.com/farsight-console/farsight/engine/hub"
)

// paced is a limiter of which only the pace is asked: one call a second.
type paced struct{ Limiter }

func (paced) ETA(_, _ string, calls int) engine.ETA {
	d := time.Duration(calls) * time.Second
	return engine.ETA{Calls: calls, Low: d, High: d, Bucket: "app:europe 120s", Known: true}
}

func (paced) Restore(context.Context, bool, iter.Seq2[engine.Job, error]) error { return nil }

func open(id, region string, matches int, timelines bool) engine.AccountRow {
	return engine.AccountRow{
		ID: id, Region: region, Status: engine.Syncing, WantsTimelines: timelines,
		Matches: engine.Progress{Total: matches, Open: matches},
	}
}

// TestI3_ETAsShareTheBudgetFairly: runs of one host share its budget fairly: until a small one ends, each larger
// one gets as many calls as it, and no more.
func TestI3_ETAsShareTheBudgetFairly(t *testing.T) {
	small, big, far := open("small", "europe", 10, true), open("big", "europe", 500, false), open("far", "asia", 900, true)
	listing := open("listing", "europe", 0, true)
	listing.Matches.Total = -1
	ended := open("ended", "europe", 0, true)
	ended.Status = engine.SyncCompleted
	h := hub.New(hub.Options{})
	h.SeedAccounts([]engine.AccountRow{small, big, far, listing, ended})
	c := &Control{opt: Options{Limiter: paced{}}, hub: h}
	cases := []struct {
		name  string
		row   engine.AccountRow
		calls int // of its own
		wait  time.Duration
		known bool
	}{
		{"ten matches and their timelines beside a larger run", small, 20, 40 * time.Second, true},
		{"a large run ends after all the small one needs", big, 500, 520 * time.Second, true},
		{"another region shares nothing", far, 1800, 1800 * time.Second, true},
		{"nobody knows while ids are listed", listing, 0, 0, false},
		{"an ended run has none", ended, 0, 0, false},
	}
	for _, tc := range cases {
		got := c.eta(tc.row)
		if got.Calls != tc.calls || got.High != tc.wait || got.Known != tc.known {
			t.Errorf("%s: %+v, want %d calls in %s, known %t", tc.name, got, tc.calls, tc.wait, tc.known)
		}
	}
}
