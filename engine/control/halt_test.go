package control_test

import (
	"strings"
	"testing"

	"github.com/farsight-console/farsight/engine"
)

// A disk without room is the banner of every console, ahead of what the calls would
// say: nothing is called.
func TestAHaltedEngineSaysWhy(t *testing.T) {
	r := newRig(t)
	rewrite(func() { r.limiter.state, r.backend.halted = engine.EngineDegraded, "disk low: 419.4 MB free" })
	a, err := r.Find(t.Context(), engine.StatusQuery{})
	if err != nil {
		t.Fatal(err)
	}
	row := a.(engine.StatusAnswer).Engine
	if row.State != engine.EnginePaused || !strings.Contains(row.Why, "419.4 MB") || !strings.Contains(row.Why, "by itself") {
		t.Errorf("%s: %s", row.State, row.Why)
	}
}
