package league

import (
	"testing"
	"time"
)

func TestAskCoversTheSameAndTheNarrower(t *testing.T) {
	now := time.Date(2026, 11, 22, 12, 0, 0, 0, time.UTC)
	all := Ask{Timelines: TimelinesAll}
	with := func(change func(*Ask)) Ask {
		a := all
		change(&a)
		return a
	}
	newest := func(n int) Ask { return with(func(a *Ask) { a.Count = n }) }
	since := func(d time.Duration) Ask { return with(func(a *Ask) { a.Floor = now.Add(-d) }) }
	of := func(f Filter) Ask { return with(func(a *Ask) { a.Filter = f }) }
	ranked, none := with(func(a *Ask) { a.Timelines = TimelinesRanked }), with(func(a *Ask) { a.Timelines = TimelinesNone })
	for _, c := range []struct {
		have, want Ask
		covers     bool
	}{
		{all, all, true},
		{all, newest(40), true},
		{newest(40), all, false},
		{newest(40), newest(40), true},
		{newest(40), newest(20), true},
		{newest(20), newest(40), false},
		{since(time.Hour), all, false},
		{all, since(time.Hour), true},
		{since(time.Hour), since(time.Minute), true},
		{since(time.Minute), since(time.Hour), false},
		{newest(40), since(time.Hour), false},
		{of("queue=420"), all, false},
		{all, of("queue=420"), true},
		{of("queue=420"), of("queue=420"), true},
		{of("queue=420,440"), of("queue=440"), true},
		{of("queue=440"), of("queue=420,440"), false},
		{newest(40), with(func(a *Ask) { a.Count, a.Filter = 40, "queue=420" }), false},
		{none, all, false},
		{ranked, none, true},
		{ranked, all, false},
		{with(func(a *Ask) { a.Mode = "latest" }), with(func(a *Ask) { a.Mode, a.Force = "full", true }), true},
	} {
		if got := c.have.Covers(c.want); got != c.covers {
			t.Errorf("%+v covers %+v: %v", c.have, c.want, got)
		}
	}
}
