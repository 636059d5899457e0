package cli

import (
	"strings"
	"testing"
	"time"

	"github.com/farsight-console/farsight/engine"
)

func TestLimitsSayHowTheyWereLearnt(t *testing.T) {
	at := time.Date(2026, 11, 21, 12, 14, 0, 0, time.Local)
	l := engine.LimitsRow{
		Hosts:   []engine.LimitHost{{Host: "asia", Learnt: at, Blind: 1}, {Host: "kr", Learnt: at.Add(-time.Hour), Blind: 1}},
		Buckets: []engine.BucketRow{{Host: "asia", Waiting: 3}},
	}
	if got, want := howLearnt(l), "learnt from headers 2026-11-21 12:14:00, 3 calls held, 2 blind calls (sent before the limits were known)"; got != want {
		t.Errorf("%q, want %q", got, want)
	}
	if got := howLearnt(engine.LimitsRow{}); !strings.HasPrefix(got, "learnt from headers, 0 calls held, 0 blind calls") {
		t.Errorf("%q", got)
	}
}
