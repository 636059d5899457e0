package engine_test

import (
	"testing"
	"time"

	"github.com/farsight-console/farsight/engine"
)

// TestCountedIsOfTheServersWindow: the server begins to count anew at a reset, while our
// limiter still counts the calls of the last 12 s.
func TestCountedIsOfTheServersWindow(t *testing.T) {
	now := time.Date(2026, 1, 20, 12, 0, 0, 0, time.UTC)
	row := engine.BucketRow{Window: 12 * time.Second, Limit: 100, Used: 98, InFlight: 3, Server: 12, ServerAt: now.Add(-time.Second), Reset: now.Add(10 * time.Second)}
	with := func(change func(b *engine.BucketRow)) engine.BucketRow {
		b := row
		change(&b)
		return b
	}
	for name, c := range map[string]struct {
		row  engine.BucketRow
		want int
	}{
		"told":              {row, 15},
		"at most its limit": {with(func(b *engine.BucketRow) { b.Server = 99 }), 100},
		"never told":        {with(func(b *engine.BucketRow) { b.Server = -1 }), 98},
		"told without when": {with(func(b *engine.BucketRow) { b.ServerAt = time.Time{} }), 98},
		"of an old window":  {with(func(b *engine.BucketRow) { b.ServerAt = now.Add(-3 * time.Second) }), 3},
		"its window ended":  {with(func(b *engine.BucketRow) { b.Reset = now }), 0},
	} {
		if got := c.row.Counted(now); got != c.want {
			t.Errorf("%s: %d, want %d", name, got, c.want)
		}
	}
}
