package app

import (
	"testing"

	"github.com/farsight-console/farsight/engine"
)

// TestV5b_AMemberTellsWhyBeforeWhoLeads: what holds the calls as who leads has told it in this term.
func TestV5b_AMemberTellsWhyBeforeWhoLeads(t *testing.T) {
	p := &process{id: "988-c0de"}
	p.seen.Store(&engine.MembersPage{Epoch: 12, Leader: "803-51aa", Members: []engine.MemberRow{{ID: "803-51aa", Host: "db-2"}}})
	l := &ledLimits{p: p}
	for epoch, want := range map[int64]string{12: "94 calls wait", 11: ""} {
		l.told.Store(&reading{Epoch: epoch, State: engine.EngineLive, Pace: "94 calls wait"})
		if got := l.Term(); got.Pace != want || got.String() != "803-51aa on db-2 leads, in term 12" {
			t.Errorf("told in term %d: %q, %s", epoch, got.Pace, got)
		}
	}
}
