package page

import (
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/farsight-console/farsight/engine"
	"github.com/farsight-console/farsight/engine/columns"
	"github.com/farsight-console/farsight/ui/part"
)

// TestListsNameASyncByItsPlayer: its key is of the id of an account, which says nothing.
func TestListsNameASyncByItsPlayer(t *testing.T) {
	j := engine.JobRow{Job: engine.Job{ID: "7", Key: "full:01M7", State: engine.Retryable}, Player: "Ana#EUW"}
	v := view(&Data{Ready: true})
	for name, cells := range map[string][]part.Cell{"jobs": cellsOf(v, columns.JobList)(j, nil), "retries": cellsOf(v, newRetryPage().fields)(j, nil)} {
		if !slices.ContainsFunc(cells, func(c part.Cell) bool { return strings.HasPrefix(c.Text, "Ana#EUW") }) {
			t.Errorf("%s shows %+v", name, cells)
		}
	}
}

// TestASimulatorsConsoleBlamesNoLimiter: it shows calls of clients that are none of ours.
func TestASimulatorsConsoleBlamesNoLimiter(t *testing.T) {
	c := engine.CallRow{Seq: 7, Host: "europe", Method: "match-v5.match", Status: 429, Class: "429.app", Unforeseen: true, Early: time.Second}
	p := NewForensics(c.Seq)
	for state, want := range map[engine.EngineState][2]string{
		engine.EngineBrowse: {"the client broke the limit", "3, 2 broke a limit"},
		engine.EngineLive:   {"unexpected: by our count there was room", "3, 2 unexpected"},
	} {
		if c.Early = time.Second; state == engine.EngineLive {
			c.Early = 0
		}
		v := view(&Data{Ready: true, Calls: []engine.CallRow{c}})
		v.Engine.State, v.Engine.Throttled, v.Engine.Unforeseen = state, 3, 2
		if got := strings.Join(p.facts(v, 100), "\n"); !strings.Contains(got, want[0]) {
			t.Errorf("%s: %s", state, got)
		}
		if got := howGood(v); got != want[1] {
			t.Errorf("%s: %s", state, got)
		}
	}
}
