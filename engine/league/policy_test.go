package league

import (
	"strings"
	"testing"
	"time"

	"pgregory.net/rapid"
)

func TestPolicyTextIsReadBack(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		p := Policy{
			Queues:    rapid.SliceOfNDistinct(rapid.IntRange(1, 3000), 0, maxQueues, rapid.ID[int]).Draw(t, "queues"),
			Type:      rapid.SampledFrom([]string{"", "ranked", "normal", "tourney", "tutorial"}).Draw(t, "type"),
			Lookback:  time.Duration(rapid.IntRange(0, 800).Draw(t, "days")) * 24 * time.Hour,
			Timelines: rapid.SampledFrom([]Timelines{"", TimelinesAll, TimelinesRanked, TimelinesNone}).Draw(t, "timelines"),
			Cadence:   time.Duration(rapid.IntRange(0, 80).Draw(t, "hours")) * time.Hour,
			Priority:  uint8(rapid.IntRange(0, 4).Draw(t, "priority")),
		}
		got, err := ParsePolicy(p.String())
		want := p
		again, _ := ParsePolicy(got.String())
		if err != nil || got.String() != again.String() || len(got.Queues) != len(want.Queues) || got.Lookback != want.Lookback ||
			got.Type != want.Type || got.Timelines != want.Timelines || got.Cadence != want.Cadence || got.Priority != want.Priority {
			t.Fatalf("%q was read as %+v, %v", p, got, err)
		}
		lists := got.Filter().Lists()
		if len(lists) != max(1, len(p.Queues)) {
			t.Fatalf("%d lists of %q", len(lists), got.Filter())
		}
		for _, l := range lists {
			if l.Type != p.Type || Filter(l.Name()).Lists()[0] != l {
				t.Fatalf("list %+v of %q", l, got.Filter())
			}
		}
	})
}

func TestEveryFaultOfAPolicyIsTold(t *testing.T) {
	_, err := ParsePolicy("queues=solo lookback=1h speed=3 priority=9")
	if err == nil || strings.Count(err.Error(), "\n") != 3 {
		t.Errorf("%v", err)
	}
}

func TestAPolicyFillsWhatAnotherLeavesOpen(t *testing.T) {
	own := Policy{Type: "ranked", Cadence: time.Hour}
	tag := Policy{Queues: []int{450}, Timelines: TimelinesNone, Cadence: 9 * time.Hour, Priority: 3, Lookback: time.Hour}
	got := own.Or(tag)
	if len(got.Queues) != 0 || got.Type != "ranked" || got.Cadence != time.Hour || got.Timelines != TimelinesNone || got.Priority != 3 || got.Lookback != time.Hour {
		t.Errorf("%+v", got)
	}
}
