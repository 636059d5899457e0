package columns

import (
	"time"

	"github.com/farsight-console/farsight/engine"
)

type (
	timeline = engine.TimelineRow
	standing = engine.RankRow
)

// TimelineExport is only exported: it has no catalogue, since nothing shows or filters such rows. Scripts depend on
// the names: a column may be added at the end, none may change or go.
var TimelineExport = List[timeline]{
	name("status", "", func(r *timeline) string { return r.Status }).always(),
	number("attempts", "", func(r *timeline) int { return r.Attempts }),
	past("fetched_at", "", func(r *timeline) time.Time { return r.FetchedAt }),
	past("last_attempt_at", "", func(r *timeline) time.Time { return r.LastAttemptAt }),
	name("last_class", "", func(r *timeline) string { return r.LastClass }),
	prose("last_error", "", func(r *timeline) string { return r.LastError }),
}
