package block

import (
	"cmp"
	"slices"

	"github.com/farsight-console/farsight/engine"
	"github.com/farsight-console/farsight/ui/charts"
	"github.com/farsight-console/farsight/ui/page"
	"github.com/farsight-console/farsight/ui/part"
)

// FailedCalls are those that went wrong, the oldest first, as far as the console has seen them:
// older ones are in the attempts of their jobs. Sixty of them fill any screen.
func FailedCalls(v *page.View) (calls []engine.CallRow) {
	const most = 60
	for i := len(v.Calls) - 1; i >= 0 && len(calls) < most; i-- {
		if page.FailedCall(&v.Calls[i]) {
			calls = append(calls, v.Calls[i])
		}
	}
	slices.Reverse(calls)
	return calls
}

// Failures are they on h rows, the newest first.
func Failures(v *page.View, h int) part.Section {
	calls := FailedCalls(v)
	s := part.Section{Title: "CALLS THAT FAILED", Note: "the newest first; ms = Riot, s = our limiter", Height: h}
	if len(calls) == 0 {
		s.Note, s.Empty = "", cmp.Or(v.Waiting(), "none of those that are known")
		return s
	}
	s.Rows = charts.CallColumns(v, calls, v.Inner(v.W), h)
	return s
}
