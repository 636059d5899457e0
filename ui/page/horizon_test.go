package page

import (
	"testing"
	"time"

	"pgregory.net/rapid"
)

// TestHorizonsKeepTheOrderOfTime: what is later never stands farther left, and the
// middle of a cell lies in that cell.
func TestHorizonsKeepTheOrderOfTime(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		h := rapid.SampledFrom(horizons).Draw(t, "horizon")
		w := rapid.IntRange(10, 180).Draw(t, "w")
		a, b := time.Duration(rapid.Int64Range(0, int64(25*time.Hour)).Draw(t, "a")), time.Duration(rapid.Int64Range(0, int64(25*time.Hour)).Draw(t, "b"))
		if a, b := min(a, b), max(a, b); h.cell(a, w) > h.cell(b, w) {
			t.Errorf("%v stands at %d of %d, %v at %d", a, h.cell(a, w), w, b, h.cell(b, w))
		}
		cell := rapid.IntRange(0, w-1).Draw(t, "cell")
		if got := h.cell(h.ahead(cell, w), w); got != cell {
			t.Errorf("the middle of cell %d of %d stands at %d", cell, w, got)
		}
	})
}
