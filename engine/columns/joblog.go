package columns

import (
	"cmp"
	"strings"
	"time"

	"github.com/farsight-console/farsight/engine"
	"github.com/farsight-console/farsight/engine/human"
	"github.com/farsight-console/farsight/engine/table"
)

type ended = engine.JobLog

// JobLogLines are what a command prints of a job that has ended. They have no catalogue: no screen
// shows an archive, and no filter goes through it.
var JobLogLines = listed(
	name("id", "", func(j *ended) engine.JobID { return j.Job }).line("", table.Number, 0),
	name("job", "", func(j *ended) string { return cmp.Or(j.Key, string(j.Type)) }), // match:EUW1_7012345678
	name("queue", "", func(j *ended) engine.Queue { return j.Queue }),
	name("state", "", func(j *ended) string { return strings.ToUpper(j.Status.String()) }),
	number("retries", "", func(j *ended) int { return j.Retries }),
	past("created", "", func(j *ended) time.Time { return j.Created }).prints(func(j *ended) string { return human.Stamp(j.Created) }),
	past("finished", "", func(j *ended) time.Time { return j.Finished }).prints(func(j *ended) string { return human.Stamp(j.Finished) }),
	shown[ended]("last run").line("", table.Number, 0).prints(lastRun),
	prose("error", "", func(j *ended) string { return j.Error }),
)

// lastRun is how long the last attempt took; "-" of a job that was cancelled before its first one.
func lastRun(j *ended) string {
	if j.Started.IsZero() || j.Finished.IsZero() {
		return "-"
	}
	return human.Span(j.Finished.Sub(j.Started))
}

type (
	timeline = engine.TimelineRow
	standing = engine.RankRow
)

// TimelineExport is only exported: it has no catalogue, since nothing shows or filters such rows. Scripts depend on
// the names: a column may be added at the end, none may change or go.
var TimelineExport = listed(
	name("status", "", func(r *timeline) string { return r.Status }).always(),
	number("attempts", "", func(r *timeline) int { return r.Attempts }),
	past("fetched_at", "", func(r *timeline) time.Time { return r.FetchedAt }),
	past("last_attempt_at", "", func(r *timeline) time.Time { return r.LastAttemptAt }),
	name("last_class", "", func(r *timeline) string { return r.LastClass }),
	prose("last_error", "", func(r *timeline) string { return r.LastError }),
)
