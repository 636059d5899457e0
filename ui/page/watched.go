package page

import (
	"cmp"

	"github.com/farsight-console/farsight/engine"
)

// AccountHolder is a page on which an account may be selected, so that it can be
// watched.
type AccountHolder interface {
	// SelectedAccount is its id; "" = none.
	SelectedAccount(v *View) string
}

// BlockedBy says what sets the pace of an open run: a pause, a full limit, or its
// turn; "" = nothing that is known.
func BlockedBy(v *View, a engine.AccountRow, e engine.ETA) string {
	if q, ok := v.Queue(a.Queue); ok && q.Paused {
		return q.Pause()
	}
	if a.Status == engine.SyncPending {
		return waitsFor(v, a)
	}
	return cmp.Or(e.Why, e.Bucket)
}
