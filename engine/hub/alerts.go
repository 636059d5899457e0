package hub

import (
	"reflect"
	"slices"

	"github.com/farsight-console/farsight/engine"
)

// changedAlerts gives all alerts when the reader would see a difference, else nil.
func (b *mailbox) changedAlerts(rows []engine.AlertRow) []engine.AlertRow {
	if sameSlice(b.judged, rows) {
		return nil
	}
	b.judged = rows
	if slices.EqualFunc(b.alerts, rows, looksSame) {
		return nil
	}
	b.alerts = rows
	return rows
}

// sameSlice reports whether nothing was evaluated since: rows are never changed,
// only replaced.
func sameSlice(a, b []engine.AlertRow) bool {
	return len(a) == len(b) && (len(a) == 0 || &a[0] == &b[0])
}

// looksSame compares values in words: the time until a key expires differs each
// second, and an idle engine must not wake a screen. The last cell of the history is
// the value once more.
func looksSame(a, b engine.AlertRow) bool {
	if a.Now() != b.Now() || a.Bound() != b.Bound() {
		return false
	}
	a.Value, b.Value, a.Limit, b.Limit = 0, 0, 0, 0
	a.History, b.History = settled(a.History), settled(b.History)
	return reflect.DeepEqual(a, b)
}

// settled are the cells of a history that do not change any more.
func settled(history []float64) []float64 { return history[:max(len(history)-1, 0)] }
