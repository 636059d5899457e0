package ingest_test

import (
	"context"
	"strings"
	"testing"
	"time"

	"github.com/farsight-console/farsight/engine"
	"github.com/farsight-console/farsight/riot/sim"
)

func (r *rig) freshness() engine.Freshness {
	r.t.Helper()
	f, err := r.in.Freshness(context.Background())
	must(r.t, err)
	return f
}

func wantOutlook(t *testing.T, f engine.Freshness, says string, never bool, in time.Duration) {
	t.Helper()
	at := time.Duration(0)
	if !f.FreshAt.IsZero() {
		at = time.Until(f.FreshAt).Round(time.Minute)
	}
	if !strings.Contains(f.Outlook, says) || f.Never != never || at != in {
		t.Errorf("%q, never %v, in %v; want %q, %v, %v", f.Outlook, f.Never, at, says, never, in)
	}
}

func TestFreshness_SaysWhenAllAreFresh(t *testing.T) {
	long(t)
	inBubble(t, func(t *testing.T) {
		dev := sim.Limits{App: []sim.Limit{{N: 20, Per: time.Second}, {N: 100, Per: 2 * time.Minute}}}
		r := start(t, newSim(sim.Options{Limits: dev, Players: []sim.PlayerSpec{player("Ana#EUW", 3), player("Ben#EUW", 3)}}))
		wantOutlook(t, r.freshness(), "track accounts", false, 0)
		r.track("Ana#EUW", engine.SyncAsk{})
		r.track("Ben#EUW", engine.SyncAsk{})
		time.Sleep(3 * time.Hour)
		wantOutlook(t, r.freshness(), "known after the first call", false, 0)
		r.trigger("Ana#EUW", engine.SyncAsk{})
		r.settle("Ana#EUW", time.Minute)
		f := r.freshness() // one is late: the next run of `latest` looks at it
		wantOutlook(t, f, "all are fresh in about 1 h", false, time.Hour)
		if f.Lates != 1 || f.Regions[0].Behind != 42 {
			t.Errorf("%+v", f)
		}
		r.fire("latest")
		r.settle("Ben#EUW", time.Minute)
		f = r.freshness()
		wantOutlook(t, f, "all are fresh", false, 0)
		if f.FreshAt.IsZero() || f.Regions[0].Behind != 0 {
			t.Errorf("%+v", f)
		}
	})
}

func TestFreshness_CountsWhatTheKeyAllowsBesideTheRhythm(t *testing.T) {
	long(t)
	inBubble(t, func(t *testing.T) {
		hourly := sim.Limits{App: []sim.Limit{{N: 50, Per: time.Hour}}}
		r := start(t, newSim(sim.Options{Limits: hourly, Players: []sim.PlayerSpec{player("Ana#EUW", 1), player("Ben#EUW", 1), player("Cy#EUW", 1)}}))
		for _, name := range []string{"Ana#EUW", "Ben#EUW", "Cy#EUW"} {
			r.track(name, engine.SyncAsk{Policy: "cadence=24h"})
		}
		time.Sleep(49 * time.Hour)
		r.trigger("Ana#EUW", engine.SyncAsk{})
		r.settle("Ana#EUW", 2*time.Hour)
		f := r.freshness()
		h := f.Regions[0]
		if want := time.Duration(h.Behind / (h.Allowed - h.Needs) * float64(time.Hour)); f.Lates != 2 || h.Behind != 84 || want < 90*time.Minute {
			t.Errorf("%+v, %v", f, want)
		} else {
			wantOutlook(t, f, "all are fresh in about", false, want.Round(time.Minute))
		}
	})
}

func TestFreshness_SaysThatTheyNeverAreAndWhatHelps(t *testing.T) {
	inBubble(t, func(t *testing.T) {
		slow := sim.Limits{App: []sim.Limit{{N: 4, Per: time.Hour}}}
		r := start(t, newSim(sim.Options{Limits: slow, Players: []sim.PlayerSpec{player("Ana#EUW", 1), player("Ben#EUW", 1)}}))
		r.track("Ana#EUW", engine.SyncAsk{Policy: "cadence=1h"})
		r.track("Ben#EUW", engine.SyncAsk{Policy: "cadence=1h"})
		r.trigger("Ana#EUW", engine.SyncAsk{Timelines: "none"})
		r.settle("Ana#EUW", 3*time.Hour)
		f := r.freshness()
		wantOutlook(t, f, "never all are fresh", true, 0)
		for _, says := range []string{"app:europe", "of what europe needs", "cadence=24h", "timelines=none", "higher limit"} {
			if !strings.Contains(f.Outlook, says) {
				t.Errorf("%q lacks %q", f.Outlook, says)
			}
		}
		r.track("Ana#EUW", engine.SyncAsk{Policy: "cadence=24h"}) // what helps, helps
		r.track("Ben#EUW", engine.SyncAsk{Policy: "cadence=24h"})
		if f := r.freshness(); f.Never {
			t.Errorf("with a longer cadence: %+v", f)
		}
	})
}

func TestFreshness_NamesWhatNoWaitMends(t *testing.T) {
	inBubble(t, func(t *testing.T) {
		r := start(t, newSim(sim.Options{Players: []sim.PlayerSpec{player("Ana#EUW", 1)}}))
		r.track("Ana#EUW", engine.SyncAsk{})
		r.track("Gone#EUW", engine.SyncAsk{})
		r.fire("latest")
		r.settle("Ana#EUW", time.Minute)
		r.settle("Gone#EUW", time.Hour)
		r.trigger("Ana#EUW", engine.SyncAsk{Force: true})
		r.settle("Ana#EUW", time.Minute)
		time.Sleep(3 * time.Hour)
		r.trigger("Ana#EUW", engine.SyncAsk{})
		r.settle("Ana#EUW", time.Minute)
		wantOutlook(t, r.freshness(), "all are fresh but 1 that cannot be synced: `farsight accounts 'state:failed'`", true, 0)
	})
	t.Run("syncs are off", func(t *testing.T) {
		inBubble(t, func(t *testing.T) {
			r := start(t, newSim(sim.Options{}), func(s *setup) { s.ingest.SyncOff = true })
			r.track("Ana#EUW", engine.SyncAsk{})
			wantOutlook(t, r.freshness(), "SYNC_ENABLE=true", true, 0)
		})
	})
}
