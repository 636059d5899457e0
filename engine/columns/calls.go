package columns

import (
	"time"

	"github.com/farsight-console/farsight/engine"
	"github.com/farsight-console/farsight/engine/filter"
)

type call = engine.CallRow

// Calls is what can be asked of the flight recorder. A call without an answer has no
// status: status:none.
var Calls = New(filter.Options{
	Free:  []string{"status", "host", "method", "target", "job", "class", "by"},
	Fuzzy: []string{"method", "target"},
	Age:   "ms", When: "at",
},
	known("status", "of the answer: 429, 5xx, none", func(r *call) int { return r.Status }),
	name("class", "fingerprint of the failure: 429.app, timeout", func(r *call) engine.Class { return r.Class }),
	name("host", "europe, kr", func(r *call) string { return r.Host }).as("region", "route"),
	name("method", "", func(r *call) string { return r.Method }),
	prose("target", "match id or PUUID", func(r *call) string { return r.Target }).as("match"),
	name("job", "id of the job that made it", func(r *call) engine.JobID { return r.Job }),
	span("ms", "how long it took; milliseconds unless a unit is given", func(r *call) time.Duration { return r.Took }).as("took").bare(time.Millisecond),
	span("paced", "how long the limiter kept it", func(r *call) time.Duration { return r.Paced }),
	prose("by", "the limit that kept it", func(r *call) string { return r.PacedBy }).as("paced_by"),
	span("retry_after", "as the answer asked", func(r *call) time.Duration { return r.RetryAfter }).as("ra").unknown(func(r *call) bool { return r.RetryAfter <= 0 }),
	past("at", "when it was answered", func(r *call) time.Time { return r.At }).as("time"),
	age("age", "since it was answered", func(r *call) time.Time { return r.At }),
	yesNo("unforeseen", "a 429 that our limiter did not expect", func(r *call) bool { return r.Unforeseen }),
)
