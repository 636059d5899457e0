package cron

import (
	"slices"
	"testing"
	"time"

	"github.com/farsight-console/farsight/engine"
)

// Each tick is told once, when what became of it is committed: runs, runs by hand,
// and what was missed.
func TestEachTickIsToldOnce(t *testing.T) {
	in2026(t, func(b *bench) { // Monday 12:10
		wants := func(when string, want ...engine.TickResult) {
			t.Helper()
			if got := b.told(); !slices.Equal(got, want) {
				t.Errorf("%s: told %v, want %v", when, got, want)
			}
		}
		r := b.start(hourly(Skip, 0))
		wants("at the start")
		b.pass(50 * time.Minute)
		wants("at one o'clock", engine.TickRan)
		b.pass(30 * time.Minute)
		wants("in between")
		if _, err := r.RunNow(t.Context(), "latest", engine.Actor{User: "ana"}); err != nil {
			t.Fatal(err)
		}
		wants("by hand", engine.TickRan)
		b.crash()
		b.pass(3 * time.Hour)
		r = b.start(hourly(Skip, 0))
		wants("after three hours of standstill", engine.TickMissed)
		if _, err := r.Pause(t.Context(), "latest", engine.Actor{User: "ana"}, "lunch"); err != nil {
			t.Fatal(err)
		}
		wants("a pause is no tick")
		b.pass(time.Hour)
		wants("while paused", engine.TickSkipped)
	})
}
