package limits

import (
	"testing"

	"github.com/farsight-console/farsight/engine"
	"github.com/farsight-console/farsight/ui/page"
	"github.com/farsight-console/farsight/ui/page/pagetest"
)

// TestLimitsOfASimulatorBlameNoLimiter: its 429s are the fault of clients that are none of ours.
func TestLimitsOfASimulatorBlameNoLimiter(t *testing.T) {
	for state, want := range map[engine.EngineState]string{engine.EngineBrowse: "3, 2 broke a limit", engine.EngineLive: "3, 2 unexpected"} {
		v := pagetest.View(&page.Data{Ready: true})
		v.Engine.State, v.Engine.Throttled, v.Engine.Unforeseen = state, 3, 2
		if got := howGood(v); got != want {
			t.Errorf("%s: %s", state, got)
		}
	}
}
