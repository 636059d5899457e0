package columns

import (
	"cmp"
	"fmt"
	"strconv"
	"time"

	"github.com/farsight-console/farsight/engine"
	"github.com/farsight-console/farsight/engine/filter"
	"github.com/farsight-console/farsight/engine/human"
	"github.com/farsight-console/farsight/engine/table"
)

// Limit is what keeps calls back: a bucket, or a method of a host that does not answer.
type Limit struct {
	engine.BucketRow
	Breaker *engine.BreakerRow `json:"breaker,omitempty"` // nil = a bucket
}

// Breaking is a method that does not answer, as a limit: what only a bucket has is not known
// of it. A count of the server that is below 0 was never told.
func Breaking(b engine.BreakerRow) Limit {
	return Limit{engine.BucketRow{Host: b.Host, Method: b.Method, Waiting: b.Waiting, Server: -1}, &b}
}

// Limits is what a command tells of a limit: the screen draws its windows as bars.
//
//	HOST    SCOPE  WINDOW  USED    SERVER  RESET  MODE     STATE
//	europe  app    2 min   97/100  97      41 s   sliding  HELD by 429 application, 8 s
var Limits = catalogue(filter.Options{Free: []string{"host", "scope", "mode"}},
	name("host", "europe, kr", func(r *Limit) string { return r.Host }),
	name("scope", "a method, or app for all calls of the host",
		func(r *Limit) string { return cmp.Or(r.Method, r.Kind) }),
	ofBucket(span("window", "how long it counts", func(r *Limit) time.Duration { return r.Window })),
	ofBucket(number("used", "calls of its window", func(r *Limit) int { return r.Used }).
		prints(func(r *Limit) string { return fmt.Sprintf("%d/%d", r.Used, r.Limit) })),
	ofBucket(number("limit", "calls that a window may have", func(r *Limit) int { return r.Limit })),
	number("server", "the count that the server told last", func(r *Limit) int { return r.Server }).
		printsAt(serverCount).unknown(untold),
	ofBucket(ahead("reset", "when its window ends", func(r *Limit) time.Time { return r.Reset }).
		line("", table.Number, 0).
		printsAt(func(r *Limit, now time.Time) string { return human.SpanTo(r.Reset, now) })),
	ofBucket(name("mode", "sliding: each call takes a place for a whole window; fixed: Riot is proven to begin anew at each reset", func(r *Limit) string { return r.Mode })),
	number("waiting", "calls that wait for it", func(r *Limit) int { return r.Waiting }),
	shown[Limit]("state").line("", table.Words, 1).printsAt(limitState),
)

// LimitLines are the columns that a command prints unless it is asked for others.
var LimitLines = Limits.Pick("host scope window used server reset mode state")

// ofBucket is a column that only a bucket has. It wraps what is printed and exported by then, so that it
// stands around the whole entry.
func ofBucket(c *declaration[Limit]) *declaration[Limit] {
	text, value := c.Print, c.JSON
	c.Print = func(r *Limit, now time.Time) string {
		if r.Breaker != nil {
			return "-"
		}
		return text(r, now)
	}
	return c.value(func(r *Limit) any {
		if r.Breaker != nil {
			return nil
		}
		return value(r)
	})
}

// untold reports whether no answer has told the server's count yet.
func untold(r *Limit) bool { return r.Server < 0 }

// serverCount is the count that the server told, and how old it is if that matters.
func serverCount(r *Limit, now time.Time) string {
	text := strconv.Itoa(r.Server)
	if age := engine.OldReading(r.ServerAt, now); age > 0 {
		text += ", " + human.SpanAgo(r.ServerAt, now)
	}
	return text
}

// limitState says what keeps calls back. It is written for people: "HELD by 429 application, 8 s, paces
// 412 waiting".
func limitState(r *Limit, now time.Time) string {
	if b := r.Breaker; b != nil {
		return string(engine.StandDown) + " since " + human.Stamp(b.Since) + ", " +
			b.Tried(human.If(b.Next.After(now), human.SpanTo(b.Next, now)))
	}
	state := "OPEN"
	switch {
	case r.Frozen() && r.Thaws.After(now):
		state = "FROZEN, " + human.SpanTo(r.Thaws, now)
	case r.Frozen():
		state = "FROZEN"
	case r.Blocked.After(now):
		state = "HELD by " + r.BlockedBy + ", " + human.SpanTo(r.Blocked, now)
	}
	if r.Paces && r.Waiting > 0 {
		state += ", paces " + human.Count(int64(r.Waiting)) + " waiting"
	}
	return state
}
