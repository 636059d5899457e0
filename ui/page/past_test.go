package page

import (
	"testing"
	"time"

	"pgregory.net/rapid"

	"github.com/farsight-console/farsight/engine"
)

// TestPastProperties: whatever comes in, at most one moment per second of eleven minutes is kept, in
// order, and the moment of an instant is never of after it. Of an engine's record each is kept, wherever it
// begins, and what was seen where it has none.
func TestPastProperties(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		now := time.Date(2026, 1, 20, 12, 31, 35, 0, time.UTC)
		p, begun := Past{}, now.Add(time.Duration(rapid.IntRange(-30_000, 600_000).Draw(t, "begun"))*time.Millisecond)
		for range rapid.IntRange(0, 200).Draw(t, "n") {
			now = now.Add(time.Duration(rapid.IntRange(-500, 20_000).Draw(t, "ms")) * time.Millisecond)
			p.See(&Data{}, now)
		}
		var record []engine.Moment
		for i := range rapid.IntRange(0, 30).Draw(t, "engine") {
			record = append(record, engine.Moment{At: begun.Add(time.Duration(i) * time.Second)})
		}
		seen, within := len(p.seen), 0
		for _, own := range p.seen {
			if n := len(record); n > 0 && !own.At.Before(begun) && !own.At.After(record[n-1].At) {
				within++
			}
		}
		p.Got(&View{Now: now}, engine.MomentsQuery{}, engine.MomentsAnswer{Moments: record}, nil)
		if len(p.seen) != seen-within+len(record) || seen > 661 {
			t.Fatalf("%d moments of %d, %d of them within a record of %d", len(p.seen), seen, within, len(record))
		}
		for i := 1; i < len(p.seen); i++ {
			if !p.seen[i-1].At.Before(p.seen[i].At) {
				t.Fatal("not in order")
			}
		}
		at := now.Add(-time.Duration(rapid.IntRange(0, 700).Draw(t, "back")) * time.Second)
		if x := p.At(at); x != nil && x.At.After(at) {
			t.Fatalf("of %v gives %v", at, x.At)
		}
		before := p.UpTo(at)
		if n := len(before.seen); n > 0 && (before.seen[n-1].At.After(at) || n+len(p.Since(at.Add(1))) != len(p.seen)) {
			t.Fatalf("%d moments up to %v", n, at)
		}
	})
}
