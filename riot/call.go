package riot

import (
	"context"
	"maps"
	"net/http"
	"slices"
	"time"

	"github.com/farsight-console/farsight/riot/limit"
)

// Call is one exchange as the flight recorder keeps it: the limiter's receipt (job, host, method,
// status, wait, buckets before and after, what a 429 closed) and what the wire said. It never holds the key.
type Call struct {
	limit.Receipt
	At      time.Time     // when the request was sent
	Target  string        // what was asked for, cut: ids of players are long
	Latency time.Duration // from At to the end of the body
	Bytes   int           // of the body as it came
	Class   string        // of the error; empty when all went well
	Proof   bool          // see AsProof
	Carried bool          // another process has made it

	// The headers as they came, for the operator to compare with our own counts.
	AppLimit, AppCount       string
	MethodLimit, MethodCount string
	LimitType, RetryAfter    string
	TraceID                  string
	Date                     time.Time // of the server's clock, whole seconds; zero = not told
	// Headers are all of the answer's, "Name: value" in the order of names, bounded in number and length.
	Headers []string
	Body    string // start of an answer that was refused: one line, at most 200 characters
}

// observe copies what an answer says about limits, bounded: header values come from outside.
func (c *Client) observe(rec *Call, resp *http.Response) {
	// A header that is missing leaves its field empty: only answers that reached the limiter have all of them.
	for field, name := range map[*string]string{
		&rec.AppLimit: "X-App-Rate-Limit", &rec.AppCount: "X-App-Rate-Limit-Count",
		&rec.MethodLimit: "X-Method-Rate-Limit", &rec.MethodCount: "X-Method-Rate-Limit-Count",
		&rec.LimitType: "X-Rate-Limit-Type", &rec.RetryAfter: "Retry-After",
		&rec.TraceID: "X-Riot-Edge-Trace-Id",
	} {
		// "20:1,100:120" as it came: the order of the windows is told to the operator as well.
		*field = c.clean(resp.Header.Get(name))
	}
	// The time of the server is kept to be compared with ours; no limit is reckoned by it.
	if at, err := http.ParseTime(resp.Header.Get("Date")); err == nil {
		rec.Date = at
	}
	rec.Headers = c.headersOf(resp.Header)
}

// maxHeaders is how many headers of an answer are kept: Riot sends about twenty.
const maxHeaders = 40

// headersOf are an answer's headers as one can be shown them. Cookies are a secret of whoever set them, and
// a server may echo the key's header.
func (c *Client) headersOf(h http.Header) []string {
	var list []string
	for _, name := range slices.Sorted(maps.Keys(h)) {
		if name == "Set-Cookie" || name == headerKey {
			continue
		}
		for _, value := range h[name] {
			if len(list) == maxHeaders {
				return append(list, "… and more")
			}
			list = append(list, c.clean(name)+": "+c.clean(value))
		}
	}
	return list
}

// jobKey and proofKey are keys of a context. As types of this package they cannot meet those of another.
type jobKey struct{}

type job struct {
	id       string
	priority limit.Priority
}

// WithJob tells the calls made under ctx for whom they are: the limiter shows the id of who waits and
// serves interactive ones first, the flight recorder keeps it.
func WithJob(ctx context.Context, id string, p limit.Priority) context.Context {
	return context.WithValue(ctx, jobKey{}, job{id, p})
}

type proofKey struct{}

// AsProof marks the calls made under ctx as made to find out what works: their answers are looked at and
// not kept.
func AsProof(ctx context.Context) context.Context { return context.WithValue(ctx, proofKey{}, true) }

// jobOf is the job of ctx; calls without one are bulk.
func jobOf(ctx context.Context) job {
	if j, ok := ctx.Value(jobKey{}).(job); ok {
		return j
	}
	return job{priority: limit.Bulk}
}

// cut shortens an id for the recorder; what is left tells ids of one screen apart.
func cut(id string, n int) string {
	// By characters and not bytes: half a character of a Korean name would be no UTF-8 in the recorder.
	if r := []rune(id); len(r) > n {
		return string(r[:n]) + "…"
	}
	return id
}
