package block_test

import (
	"strings"
	"testing"
	"time"

	"github.com/farsight-console/farsight/engine"
	"github.com/farsight-console/farsight/ui/block"
	"github.com/farsight-console/farsight/ui/charts"
	"github.com/farsight-console/farsight/ui/page"
	"github.com/farsight-console/farsight/ui/page/pagetest"
)

// TestV1n_ABurstIsWithinWhatIsAllowed: 59 calls of a minute are within 100 of two.
func TestV1n_ABurstIsWithinWhatIsAllowed(t *testing.T) {
	for want, window := range map[string]time.Duration{"100/2 min": 2 * time.Minute, "500": 12 * time.Second} {
		if got, whole := block.KeyAllows(100, window, time.Minute); got != want || whole != strings.Contains(want, "/") {
			t.Errorf("of %v: %q, want %q", window, got, want)
		}
	}
}

// TestV3p_BothWindowsOfAKeyAreTold: that of a second beside the one that sets the pace.
func TestV3p_BothWindowsOfAKeyAreTold(t *testing.T) {
	v := pagetest.View(&page.Data{Limits: engine.LimitsRow{Buckets: []engine.BucketRow{{Host: "europe", Kind: "app", Limit: 20, Window: time.Second}}}})
	if got := block.Totals(v, &charts.Timetable{Limit: 100, Span: 2 * time.Minute}, nil)[0].Note; got != "20/s, 100/2 min" {
		t.Errorf("%q", got)
	}
}

// TestOneCallIsNotCalls: neither of a minute nor since the start.
func TestOneCallIsNotCalls(t *testing.T) {
	v := pagetest.View(&page.Data{Ready: true})
	for n, want := range map[float64]string{1: "call/min", 2: "calls/min"} {
		v.Engine.CallsPerMin = n
		if got := block.Totals(v, &charts.Timetable{}, nil)[0].Short; got != want {
			t.Errorf("of %v: %q", n, got)
		}
	}
}

// TestTheNextRetryIsOfAllThatAreCounted: one whose instant has come and that stands in line since is among those that
// retry, and may leave first; what is in a paused queue does not.
func TestTheNextRetryIsOfAllThatAreCounted(t *testing.T) {
	v := pagetest.View(&page.Data{})
	v.Jobs = []engine.JobRow{
		{Job: engine.Job{ID: "later", State: engine.Retryable, Tries: 1, Due: v.Now.Add(3 * time.Minute)}},
		{Job: engine.Job{ID: "line", Queue: "latest", State: engine.Available, Tries: 1}, Until: v.Now.Add(2 * time.Minute)},
	}
	for paused, want := range map[bool]string{false: "next in 2 min", true: "next in 3 min"} {
		v.Queues = []engine.QueueRow{{QueueState: engine.QueueState{Name: "latest", Paused: paused}}}
		if got := block.Totals(v, &charts.Timetable{}, nil)[3].Note; got != want {
			t.Errorf("paused %v: %q", paused, got)
		}
	}
}

// TestV3m_FailuresOfTheLastMinutesAreCounted: where more calls failed in them than were refused since the start, those are
// told, with the time that they are of.
func TestV3m_FailuresOfTheLastMinutesAreCounted(t *testing.T) {
	v := pagetest.View(&page.Data{})
	v.Engine.Started, v.Engine.Throttled = v.Now.Add(-time.Hour), 1
	told := func(value, short, note string) {
		t.Helper()
		if got := block.Totals(v, &charts.Timetable{}, nil)[5]; got.Value != value || got.Short != short || got.Note != note {
			t.Errorf("%+v, want %s %s %s", got, value, short, note)
		}
	}
	for i, status := range []int{503, 503, 200, 404, 503} { // the first two are too long ago
		v.Calls = append(v.Calls, engine.CallRow{At: v.Now.Add(time.Duration(3*i-14) * time.Minute), Status: status})
	}
	told("1", "× 429", "all expected")
	v.Calls = append(v.Calls, engine.CallRow{At: v.Now, Status: 503})
	told("2", "× 503", "in 10 min, 1 × 429")
	v.Calls, v.Engine.Throttled = append(v.Calls, engine.CallRow{At: v.Now, Status: 500}), 0
	v.Engine.Started = v.Now.Add(-3 * time.Minute)
	told("3", "failed", "in 3 min")
	v.Calls = v.Calls[len(v.Calls)-1:]
	v.Calls[0].Status = 0 // no answer
	told("1", "failed", "in 3 min")
}

// TestNothingInLineDoesNotGrowLess: that it has become nothing is told by the figure.
func TestNothingInLineDoesNotGrowLess(t *testing.T) {
	v := pagetest.View(&page.Data{Ready: true})
	queues := func(n int) []engine.QueueRow {
		return []engine.QueueRow{{Counts: map[engine.State]int{engine.Available: n}}}
	}
	for now, want := range map[int]string{0: "", 9: v.Theme.Glyphs.Minus + "81/min"} {
		v.Past = &page.Past{}
		v.Past.See(&page.Data{Queues: queues(now + 81)}, v.Now.Add(-time.Minute))
		v.Queues, v.Calls = queues(now), []engine.CallRow{{At: v.Now}}
		v.Past.See(v.Data, v.Now)
		if got := block.Totals(v, &charts.Timetable{}, nil)[2].Beat; got != want {
			t.Errorf("%d in line: %q, want %q", now, got, want)
		}
	}
}
