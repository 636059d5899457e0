package engine_test

import (
	"testing"
	"time"

	"pgregory.net/rapid"

	"github.com/farsight-console/farsight/engine"
)

// S2-1: which status ends an attempt, and which one is
// tried again.
func TestS2_1_OutcomePerStatus(t *testing.T) {
	cases := []struct {
		status, reason string
		ended, alert   bool
		verb           engine.Verb
	}{
		{"busy", "", true, false, engine.VerbRetry},
		{"no-answer", "", true, false, engine.VerbRetry},
		{"failed", "", true, false, engine.VerbRetry},
		{"failed", "network", true, false, engine.VerbRetry},
		{"failed", "invalid-number", true, false, engine.VerbFail},
		{"completed", "", true, false, engine.VerbDone},
		{"canceled", "", true, false, engine.VerbAbort},
		{"in-progress", "", false, false, 0},
		{"ringing", "", false, false, 0},
		{"initiated", "", false, false, 0},
		{"queued", "", false, false, 0},
		{"teleported", "", true, true, engine.VerbFail},
		{"", "", true, true, engine.VerbFail},
	}
	seen := map[engine.CallStatus]bool{}
	for _, c := range cases {
		status := engine.CallStatus(c.status)
		seen[status] = true
		rule := status.Rule()
		if rule.Ended != c.ended || rule.Alert != c.alert {
			t.Errorf("%q: %+v", c.status, rule)
		}
		if o := (engine.CallEnd{Status: status, Reason: c.reason, External: "CA1"}).Outcome(); c.ended && (o.Verb != c.verb || o.Call.External != "CA1") {
			t.Errorf("%q %q: %s, external %q; want %s", c.status, c.reason, o.Verb, o.Call.External, c.verb)
		}
	}
	for _, s := range engine.CallStatuses() {
		if !seen[s] {
			t.Errorf("%s has no case", s)
		}
	}
}

// S2-2: the delays are the table's, and no formula is evaluated.
func TestS2_2_DelaysAreATable(t *testing.T) {
	now := time.Date(2026, 11, 21, 12, 0, 0, 0, time.UTC)
	p := engine.DefaultPolicies()[engine.PolicyCall]
	for i, want := range []time.Duration{5 * time.Minute, 15 * time.Minute} {
		if due, ok := p.Next(i+1, now); !ok || due.Sub(now) != want {
			t.Errorf("after attempt %d: %s, %t; want %s", i+1, due.Sub(now), ok, want)
		}
	}
	if due, ok := p.Next(3, now); ok || !due.IsZero() {
		t.Errorf("after attempt 3: %s", due)
	}
	rapid.Check(t, func(t *rapid.T) {
		minutes := rapid.SliceOfN(rapid.IntRange(0, 24*60), 1, 10).Draw(t, "delays")
		var delays []time.Duration
		for _, m := range minutes {
			delays = append(delays, time.Duration(m)*time.Minute)
		}
		p := engine.NewPolicy("any", len(delays)+1, delays...)
		n := rapid.IntRange(1, len(delays)).Draw(t, "failed")
		if due, ok := p.Next(n, now); !ok || due.Sub(now) != delays[n-1] {
			t.Fatalf("after attempt %d of %v: %s", n, delays, due.Sub(now))
		}
	})
}
