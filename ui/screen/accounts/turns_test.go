package accounts

import (
	"testing"
	"time"

	"github.com/farsight-console/farsight/engine"
	"github.com/farsight-console/farsight/ui/page"
	"github.com/farsight-console/farsight/ui/page/pagetest"
)

// TestV7t_AccountsSaysItAsJobsDoes: of one call the two would else say different things at once.
func TestV7t_AccountsSaysItAsJobsDoes(t *testing.T) {
	v := pagetest.View(&page.Data{Ready: true, Engine: engine.EngineRow{State: engine.EngineLive}})
	for left, want := range map[time.Duration]string{0: "now", 400 * time.Millisecond: "<1 s", 1400 * time.Millisecond: "1.4 s"} {
		p := &Screen{turns: turns{first: map[string]engine.JobRow{"a": {Job: engine.Job{ID: "1", State: engine.Available}, Until: v.Beat().Add(left)}}}}
		if got := p.next(v, &engine.AccountRow{ID: "a", Status: engine.Syncing}).Text; got != want {
			t.Errorf("in %v: %q, want %q", left, got, want)
		}
	}
}

// TestTheStageOfAResumedSyncIsItsCalls, as that of any other whose matches are fetched.
func TestTheStageOfAResumedSyncIsItsCalls(t *testing.T) {
	v := pagetest.View(&page.Data{Ready: true})
	var p Screen
	p.plan.Plan.Accounts = []engine.AccountForecast{{Account: "a", Calls: 745}}
	a := engine.AccountRow{ID: "a", Status: engine.Syncing, Phase: engine.PhaseMatches, Resumed: 1, ResumedAt: 134}
	for id, want := range map[string]string{"a": "745 calls to go", "b": "resumed at 134"} {
		if a.ID = id; p.stage(v, &a).Text != want {
			t.Errorf("%q, want %q", p.stage(v, &a).Text, want)
		}
	}
}
