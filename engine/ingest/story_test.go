package ingest_test

import (
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/rs/zerolog"

	"github.com/farsight-console/farsight/engine"
	"github.com/farsight-console/farsight/engine/journal"
	"github.com/farsight-console/farsight/riot/sim"
)

// logged runs with a log of that level and gives what was written.
func logged(level zerolog.Level) (change func(*setup), rows func() []engine.LogRow) {
	ring := journal.NewRing(10_000, 1<<20)
	change = func(s *setup) { s.log = zerolog.New(ring).Level(level) }
	return change, func() []engine.LogRow { return ring.After(0, 10_000) }
}

// said finds the first record of an area that begins with the words.
func said(t *testing.T, rows []engine.LogRow, area, words string) engine.LogRow {
	t.Helper()
	i := slices.IndexFunc(rows, func(r engine.LogRow) bool { return r.Area == area && strings.HasPrefix(r.Text, words) })
	if i < 0 {
		t.Errorf("%s never said %q", area, words)
		return engine.LogRow{}
	}
	return rows[i]
}

func fieldOf(r engine.LogRow, key string) string {
	for _, f := range r.Fields {
		if f.Key == key {
			return f.Value
		}
	}
	return ""
}

// A hold begins and ends in the log, and each refused or failed call names its job.
func TestLog_HoldsAndFailedCalls(t *testing.T) {
	inBubble(t, func(t *testing.T) {
		s := newSim(sim.Options{Players: []sim.PlayerSpec{player("Ana#EUW", 8)}})
		ids := s.MatchIDs("Ana#EUW")
		f := fails(sim.LimitMethod, ids[2], 1)
		f.RetryAfter = "7"
		must(t, s.Inject(f))
		must(t, s.Inject(fails(sim.Unavailable, ids[5], 1)))
		log, rows := logged(zerolog.InfoLevel)
		r := start(t, s, log)
		r.trigger("Ana#EUW", engine.SyncAsk{Timelines: "none"})
		r.settle("Ana#EUW", time.Hour)
		time.Sleep(2 * time.Second)
		all := rows()
		said(t, all, "riot", "key accepted")
		refused := said(t, all, "riot", "call refused: rate limited")
		if refused.Level != "warn" || refused.Job != r.detail("match:"+ids[2]).Job.ID || fieldOf(refused, "class") != "429.method" {
			t.Errorf("%+v", refused)
		}
		if failed := said(t, all, "riot", "call failed"); fieldOf(failed, "status") != "503" || failed.Job != r.detail("match:"+ids[5]).Job.ID {
			t.Errorf("%+v", failed)
		}
		begun, over := said(t, all, "limiter", "hold begun by a 429"), said(t, all, "limiter", "hold over")
		if begun.Level != "warn" || fieldOf(begun, "bucket") != "match-v5.match:europe" || fieldOf(over, "bucket") != fieldOf(begun, "bucket") || over.Seq < begun.Seq {
			t.Errorf("%+v\n%+v", begun, over)
		}
		if n := len(all); n > 12 {
			t.Errorf("%d records of 10 calls: what goes well is not for this level", n)
		}
	})
}

func TestLog_BreakerAndKey(t *testing.T) {
	long(t)
	inBubble(t, func(t *testing.T) {
		s := newSim(sim.Options{Players: []sim.PlayerSpec{player("Ana#EUW", 20)}})
		must(t, s.Inject(sim.Fault{Name: "outage", Kind: sim.Unavailable, Match: sim.Match{Method: "match-v5.match"}, Until: 3 * time.Minute}))
		log, rows := logged(zerolog.InfoLevel)
		r := start(t, s, log)
		r.trigger("Ana#EUW", engine.SyncAsk{Timelines: "none"})
		r.settle("Ana#EUW", 12*time.Hour)
		all := rows()
		opened, closed := said(t, all, "riot", "breaker opened"), said(t, all, "riot", "breaker closed")
		if opened.Level != "warn" || fieldOf(opened, "method") != "match-v5.match" || closed.Level != "info" || closed.Seq < opened.Seq {
			t.Errorf("%+v\n%+v", opened, closed)
		}
		s.SetKey(testKey, sim.Key{State: sim.KeyUnknown})
		r.trigger("Ana#EUW", engine.SyncAsk{Timelines: "none", Force: true})
		time.Sleep(5 * time.Minute)
		s.SetKey(testKey, sim.Key{})
		r.settle("Ana#EUW", 12*time.Hour)
		all = rows()
		refused, accepted := said(t, all, "riot", "key refused"), said(t, all, "riot", "key accepted, calls go on")
		if refused.Level != "error" || accepted.Seq < refused.Seq {
			t.Errorf("%+v\n%+v", refused, accepted)
		}
		for _, row := range all {
			if strings.Contains(row.Text, testKey) {
				t.Errorf("P-40: %+v", row)
			}
		}
	})
}
