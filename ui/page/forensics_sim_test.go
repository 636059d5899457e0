package page

import (
	"strings"
	"testing"
	"time"

	"github.com/farsight-console/farsight/engine"
)

// TestASimulatorsConsoleBlamesNoLimiter: it shows calls of clients that are none of ours.
func TestASimulatorsConsoleBlamesNoLimiter(t *testing.T) {
	c := engine.CallRow{Seq: 7, Host: "europe", Method: "match-v5.match", Status: 429, Class: "429.app", Unforeseen: true, Early: time.Second}
	v := view(&Data{Ready: true, Calls: []engine.CallRow{c}})
	p := NewForensics(c.Seq)
	for state, want := range map[engine.EngineState][2]string{
		engine.EngineBrowse: {"the client broke the limit", "429s 3, 2 broke a limit"},
		engine.EngineLive:   {"our limiter did not foresee it", "429s 3, 2 not foreseen"},
	} {
		v.Engine.State, v.Engine.Throttled, v.Engine.Unforeseen = state, 3, 2
		if got := strings.Join(p.facts(v, 100), "\n"); !strings.Contains(got, want[0]) {
			t.Errorf("%s: %s", state, got)
		}
		if got := howGood(v); got != want[1] {
			t.Errorf("%s: %s", state, got)
		}
	}
}
