package both

import (
	"strings"
	"time"

	"github.com/farsight-console/farsight/engine"
	"github.com/farsight-console/farsight/engine/league"
	"github.com/farsight-console/farsight/storage/internal/payload"
)

// How long things are kept.

// KeptFor is how long a job that has ended is kept; 0 = for ever. The class "404.match" has the
// age of "404" if it has none of its own.
func KeptFor(rule engine.PruneAsk, j engine.Job) time.Duration {
	if !failed(j.State) {
		return rule.Completed
	}
	family, _, _ := strings.Cut(string(j.Class), ".")
	for _, class := range []engine.Class{j.Class, engine.Class(family)} {
		if age, ok := rule.Classes[class]; ok && (class != "" || class == j.Class) {
			return age
		}
	}
	return rule.Failed
}

// failed reports whether a job that ended so counts as failed when old ones are removed: a
// cancelled one does, as somebody may ask why it was.
func failed(s engine.State) bool { return s == engine.Discarded || s == engine.Cancelled }

// CountPruned counts a job that is removed.
func CountPruned(done *engine.PruneDone, j engine.Job, attempts int) {
	done.Attempts += attempts
	if !failed(j.State) {
		done.Completed++
		return
	}
	done.Failed++
	if done.Classes == nil {
		done.Classes = map[engine.Class]int{}
	}
	done.Classes[j.Class]++
}

// DroppedMonth is what retention did, or would do, with one month.
type DroppedMonth struct {
	Month    string `json:"month"`
	Payloads int    `json:"payloads"` // that matches name and that go with the file
	Bytes    int64  `json:"bytes"`
	Left     string `json:"left,omitempty"` // why the file stays
}

// monthOverlap is how long after the end of its month a game of that month may still have begun:
// it is created while players choose.
const monthOverlap = 24 * time.Hour

// Expired reports whether a month lies wholly outside of keep, as seen at now. What is no month
// never does: a rule that cannot tell how old something is deletes nothing.
func Expired(month string, keep league.Span, now time.Time) bool {
	end := payload.MonthEnd(month)
	return !end.IsZero() && end.Add(monthOverlap).Before(keep.Before(now))
}
