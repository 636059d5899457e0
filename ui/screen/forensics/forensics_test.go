package forensics

import (
	"strings"
	"testing"
	"time"

	"github.com/farsight-console/farsight/engine"
	"github.com/farsight-console/farsight/ui/page"
	"github.com/farsight-console/farsight/ui/page/pagetest"
)

// TestASimulatorsConsoleBlamesNoLimiter: it shows calls of clients that are none of ours.
func TestASimulatorsConsoleBlamesNoLimiter(t *testing.T) {
	c := engine.CallRow{Seq: 7, Host: "europe", Method: "match-v5.match", Status: 429, Class: "429.app", Unforeseen: true, Early: time.Second}
	p := New(c.Seq)
	for state, want := range map[engine.EngineState]string{
		engine.EngineBrowse: "the client broke the limit", engine.EngineLive: "unexpected: by our count there was room",
	} {
		if c.Early = time.Second; state == engine.EngineLive {
			c.Early = 0
		}
		v := pagetest.View(&page.Data{Ready: true, Calls: []engine.CallRow{c}})
		v.Engine.State = state
		if got := strings.Join(p.facts(v, 100), "\n"); !strings.Contains(got, want) {
			t.Errorf("%s: %s", state, got)
		}
	}
}
