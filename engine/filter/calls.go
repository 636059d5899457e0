package filter

import (
	"time"

	"github.com/farsight-console/farsight/engine"
)

type call = engine.CallRow

// Calls is the schema of the flight recorder. A call without an answer has no
// status: status:none.
var Calls = New(Options{
	Free:  []string{"status", "host", "method", "target", "job", "class", "by"},
	Fuzzy: []string{"method", "target"},
	Age:   "ms", When: "at",
},
	field("status", Number, "of the answer: 429, 5xx, none", callStatus),
	field("class", Name, "fingerprint of the failure: 429.app, timeout", func(r *call) Value { return Text(r.Class) }),
	field("host", Name, "europe, kr", func(r *call) Value { return Text(r.Host) }, "region", "route"),
	field("method", Name, "", func(r *call) Value { return Text(r.Method) }),
	field("target", Prose, "match id or PUUID", func(r *call) Value { return Text(r.Target) }, "match"),
	field("job", Name, "id of the job that made it", func(r *call) Value { return Text(r.Job) }),
	field("ms", Duration, "how long it took; milliseconds unless a unit is given", func(r *call) Value { return Span(r.Took) }, "took").bare(time.Millisecond),
	field("paced", Duration, "how long the limiter kept it", func(r *call) Value { return Span(r.Paced) }),
	field("by", Prose, "the limit that kept it", func(r *call) Value { return Text(r.PacedBy) }, "paced_by"),
	field("retry_after", Duration, "as the answer asked", callRetryAfter, "ra"),
	field("at", Past, "when it was answered", func(r *call) Value { return At(r.At) }, "time"),
	Field[call]{Name: "age", Kind: Duration, Help: "since it was answered", Value: func(r *call, now time.Time) Value { return Since(r.At, now) }},
	YesNo("unforeseen", "a 429 that our limiter did not expect", func(r *call) bool { return r.Unforeseen }),
)

func callStatus(r *call) Value {
	if r.Status == 0 {
		return Value{}
	}
	return Count(r.Status)
}

func callRetryAfter(r *call) Value {
	if r.RetryAfter <= 0 {
		return Value{}
	}
	return Span(r.RetryAfter)
}
