package remote

import (
	"context"
	"errors"
	"net/http"
	"sync"
	"time"

	"github.com/farsight-console/farsight/engine"
	"github.com/farsight-console/farsight/riot"
	"github.com/farsight-console/farsight/riot/limit"
)

// errNoGrant says that nobody has let a call go. A member makes no other call: what its job needs
// besides, the leader finds out.
var errNoGrant = errors.New("the leader has let no such call go")

// Calls is a member's limiter: it lets those calls go that the leader has, each once.
type Calls struct {
	mu   sync.Mutex
	open map[engine.JobID]*Call
}

var _ riot.Limiter = (*Calls)(nil)

// NewCalls makes a limiter.
func NewCalls() *Calls { return &Calls{open: map[engine.JobID]*Call{}} }

// Begin lets the one call of a job go that was begun at an instant, until End.
func (c *Calls) Begin(job engine.JobID, begun time.Time) *Call {
	c.mu.Lock()
	defer c.mu.Unlock()
	call := &Call{writeBy: begun.Add(writeWithin)}
	c.open[job] = call
	return call
}

// End forgets the call of a job.
func (c *Calls) End(job engine.JobID) {
	c.mu.Lock()
	defer c.mu.Unlock()
	delete(c.open, job)
}

// Acquire gives the permit that the job of a request has. It never waits for one.
func (c *Calls) Acquire(_ context.Context, r limit.Request) (riot.Permit, error) {
	c.mu.Lock()
	call := c.open[engine.JobID(r.Job)]
	c.mu.Unlock()
	if call == nil || !call.take(r) {
		return nil, errNoGrant
	}
	return call, nil
}

// Note takes in the record of a call that has ended, as riot.Options.OnCall gives it.
func (c *Calls) Note(done riot.Call) {
	c.mu.Lock()
	call := c.open[engine.JobID(done.Job)]
	c.mu.Unlock()
	if call == nil {
		return
	}
	call.mu.Lock()
	defer call.mu.Unlock()
	call.report.Class, call.report.Latency, call.report.Bytes = done.Class, done.Latency, done.Bytes
}

// maxHeader bounds what is told of a header, which comes from outside.
const maxHeader = 200

// Call is one call of a member's, from its begin to its report. It is a riot.Permit.
type Call struct {
	writeBy time.Time

	mu     sync.Mutex
	taken  bool
	req    limit.Request
	at     time.Time // when it was taken
	first  time.Time // of the answer's first byte
	report Report
	recv   limit.Receipt
}

var _ riot.Permit = (*Call)(nil)

// take gives the permit out, once: a second request of the job is one that the leader has not let go.
func (c *Call) take(r limit.Request) bool {
	c.mu.Lock()
	defer c.mu.Unlock()
	first := !c.taken
	if first {
		c.taken, c.req, c.at = true, r, time.Now()
		c.report.How = Lost // until its end is known
	}
	return first
}

// WriteBy is the instant after which the call must not be written.
func (c *Call) WriteBy() time.Time { return c.writeBy }

// Wrote says that the request was written.
func (c *Call) Wrote() {}

// FirstByte says that the answer begins.
func (c *Call) FirstByte() {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.first.IsZero() {
		c.first = time.Now()
	}
}

// Done ends the call with its answer. What a 429 closes here, and until when, is what the leader
// makes of it: it is read by the same rules.
func (c *Call) Done(status int, header http.Header) limit.Receipt {
	c.FirstByte()
	c.mu.Lock()
	defer c.mu.Unlock()
	c.recv = limit.New(limit.Options{}).Adopt(c.req, time.Since(c.at)).AnsweredAgo(time.Since(c.first), status, header)
	c.recv.Took = c.first.Sub(c.at)
	c.report.How, c.report.Status, c.report.Latency = Answered, status, c.recv.Took
	c.report.Headers = map[string]string{}
	for _, name := range limit.Headers {
		if v := header.Get(name); v != "" {
			c.report.Headers[name] = riot.Redact(v[:min(len(v), maxHeader)])
		}
	}
	return c.recv
}

// Refund ends a call that was not written.
func (c *Call) Refund() limit.Receipt { return c.without(Unused) }

// Lost ends a call that may have been written and was not answered.
func (c *Call) Lost() limit.Receipt { return c.without(Lost) }

// without ends a call that has no answer. One that was answered stays so.
func (c *Call) without(how How) limit.Receipt {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.report.Status == 0 {
		c.report.How = how
		c.recv = limit.Receipt{
			Job: c.req.Job, Host: c.req.Host, Method: c.req.Method, Priority: c.req.Priority, Took: time.Since(c.at),
		}
	}
	return c.recv
}

// Report is what there is to tell of the call, as of now. A call that nobody has asked for was not
// made.
func (c *Call) Report() Report {
	c.mu.Lock()
	defer c.mu.Unlock()
	r := c.report
	switch {
	case !c.taken:
		r.How = Unused
	case r.How == Answered:
		r.Ago = time.Since(c.first)
	}
	return r
}
