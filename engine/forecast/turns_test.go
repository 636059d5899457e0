package forecast

import (
	"slices"
	"testing"
	"time"

	"pgregory.net/rapid"

	"github.com/farsight-console/farsight/engine"
)

// Whatever stands in line: all calls are made by the instant that the pace allows, none
// before it, and more calls of others never let anybody end earlier.
func TestI2_TurnsLoseNoCall(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		one := rapid.Custom(func(t *rapid.T) Share {
			return Share{
				Load: engine.Load{
					Queue:    engine.Queue(rapid.SampledFrom([]string{"x", "y", "z"}).Draw(t, "queue")),
					Priority: engine.Priority(rapid.IntRange(0, 4).Draw(t, "priority")), Calls: rapid.Float64Range(0.01, 500).Draw(t, "calls"),
				},
				Of: rapid.IntRange(-1, 2).Draw(t, "of"), From: time.Duration(rapid.IntRange(0, 600).Draw(t, "from")) * time.Second,
			}
		})
		shares := rapid.SliceOfN(one, 1, 12).Draw(t, "shares")
		more := rapid.SliceOfN(one, 0, 4).Draw(t, "more")
		const pace = 2.5
		ends := Turns(shares, pace, 3)
		sum, last, first := 0.0, time.Duration(0), time.Duration(0)
		for _, s := range shares {
			if s.Of >= 0 && s.Calls > 0 && ends[s.Of] < s.From+seconds(s.Calls/pace)-time.Millisecond {
				t.Fatalf("%d ends at %s, before %v calls from %s can be made", s.Of, ends[s.Of], s.Calls, s.From)
			}
			sum += s.Calls
			if s.Calls > 0 {
				first = max(first, s.From)
			}
		}
		for _, end := range ends {
			last = max(last, end)
		}
		if last > first+seconds(sum/pace)+time.Second {
			t.Fatalf("the last ends at %s, with %v calls from %s", last, sum, first)
		}
		for i := range more {
			more[i].Of = -1
		}
		for i, end := range Turns(append(slices.Clone(shares), more...), pace, 3) {
			if end < ends[i]-time.Millisecond {
				t.Fatalf("%d ends at %s with more in line, at %s without", i, end, ends[i])
			}
		}
	})
}
