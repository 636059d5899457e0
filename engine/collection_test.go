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
