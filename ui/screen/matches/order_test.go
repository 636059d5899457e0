package matches

import (
	"testing"

	"github.com/farsight-console/farsight/engine"
)

// TestV8i_WhatIsNotFetchedStandsLast: the others stay in the order in which they came.
func TestV8i_WhatIsNotFetchedStandsLast(t *testing.T) {
	p := New("").(*screen)
	for _, m := range []string{"9unfetched", "8success", "7unfetched", "6temporary_failure", "5outside_retention_window"} {
		p.read = append(p.read, engine.MatchRow{ID: m[:1], Status: m[1:]})
	}
	got := ""
	for _, m := range p.ofStatus() {
		got += m.ID
	}
	if got != "86597" || p.read[0].ID != "9" {
		t.Errorf("they stand %s", got)
	}
}
