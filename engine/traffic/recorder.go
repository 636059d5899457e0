package traffic

import (
	"slices"
	"strconv"
	"sync"
	"time"

	"github.com/farsight-console/farsight/engine"
	"github.com/farsight-console/farsight/riot"
	"github.com/farsight-console/farsight/riot/limit"
)

const (
	recorded   = 2000 // calls that the flight recorder keeps
	p50Answers = 200  // answers of which the median is taken
	sparkCell  = 5    // seconds per cell of the spark line
	sparkCells = 24
	ratedFor   = sparkCell * sparkCells // seconds that calls are counted by
)

// recorder is the flight recorder: the last calls, and counts of all of them. Its own lock is never
// held while another is taken.
type recorder struct {
	mu         sync.Mutex
	ring       []record // oldest at next, once it is full
	next       int
	seq        uint64
	throttled  int64
	unforeseen int64
	perSecond  [ratedFor]int
	stamp      [ratedFor]int64 // the second that perSecond counts
	owned      [engine.ForecastPast]ownedCalls
	work       map[engine.JobID]engine.CallRow // what all calls of a job have in common, of those under way
	// middle is the median when the newest call was middleOf: it is asked for far more often than there
	// are calls.
	middle   time.Duration
	middleOf uint64
}

// record is a recorded call. What stands beside its row stays here: rows go to every console.
type record struct {
	seen
	stat    engine.CallStat // what it cost the attempt that made it
	headers []string        // of its answer
	body    string          // how that began, of one that was refused
}

// add records one exchange. It must not block: the client waits for it.
func (r *recorder) add(c riot.Call) {
	called := record{
		seen: seen{rowOf(c), markOf(c)}, headers: c.Headers, body: c.Body,
		stat: engine.CallStat{
			Calls: 1, Status: c.Status, External: c.TraceID, Limiter: c.Waited, HTTP: c.Latency, Bytes: bytesOf(c),
		},
	}
	r.mu.Lock()
	defer r.mu.Unlock()
	of := r.work[called.Job]
	called.Seq, called.Owner, called.Try, called.Asked = r.seq+1, of.Owner, of.Try, of.Asked
	r.keep(called)
}

// adopt takes over what the recorder of another process has, by its numbers: what is here already is left
// out. The rows are the oldest first. They come without what only their own process needs: the cost of
// an attempt and the evidence of a 429.
func (r *recorder) adopt(rows []engine.CallRow) {
	r.mu.Lock()
	defer r.mu.Unlock()
	for _, row := range rows {
		if row.Seq > r.seq {
			r.keep(record{seen: seen{CallRow: row}})
		}
	}
}

// keep adds the newest call.
func (r *recorder) keep(c record) {
	r.seq = c.Seq
	if len(r.ring) < recorded {
		r.ring = append(r.ring, c)
	} else {
		r.ring[r.next] = c
		r.next = (r.next + 1) % recorded
	}
	if c.Status == 429 {
		r.throttled++
	}
	if c.Unforeseen {
		r.unforeseen++
	}
	r.count(c.At.Unix())
}

// newest iterates the calls from the last one back. The lock is held.
func (r *recorder) newest(yield func(*record) bool) {
	n := len(r.ring)
	for i := range n {
		if !yield(&r.ring[(r.next+n-1-i)%n]) {
			return
		}
	}
}

// count adds a call to its second. A place that holds an older second is begun anew, so that nothing
// needs to be cleared as time passes.
func (r *recorder) count(second int64) {
	i := int(((second % ratedFor) + ratedFor) % ratedFor)
	if r.stamp[i] != second {
		r.stamp[i], r.perSecond[i] = second, 0
	}
	r.perSecond[i]++
}

// ownedCalls are the calls of one step of time, by the account whose work they were.
type ownedCalls struct {
	step  int64 // since the epoch
	calls map[string]int
}

func stepOf(at time.Time) int64 { return at.UnixNano() / int64(engine.ForecastStep) }

// begin notes whose work a job's calls are until [recorder.own], and which try.
func (r *recorder) begin(j *engine.Job) {
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.work == nil {
		r.work = map[engine.JobID]engine.CallRow{}
	}
	r.work[j.ID] = engine.CallRow{Owner: j.Owner, Try: j.Tries, Asked: j.Created}
}

// own counts the calls that a job has made as its account's work.
func (r *recorder) own(job engine.JobID, owner string, calls int, now time.Time) {
	r.mu.Lock()
	defer r.mu.Unlock()
	if delete(r.work, job); owner == "" || calls == 0 {
		return
	}
	step := stepOf(now)
	o := &r.owned[step%engine.ForecastPast]
	if o.step != step {
		*o = ownedCalls{step, map[string]int{}}
	}
	o.calls[owner] += calls
}

// byOwner are the calls of the past minute by step, the oldest first.
func (r *recorder) byOwner(now time.Time) map[string][]int {
	r.mu.Lock()
	defer r.mu.Unlock()
	out := map[string][]int{}
	for _, o := range r.owned {
		age := stepOf(now) - o.step
		if age < 0 || age >= engine.ForecastPast {
			continue
		}
		for owner, calls := range o.calls {
			if out[owner] == nil {
				out[owner] = make([]int, engine.ForecastPast)
			}
			out[owner][engine.ForecastPast-1-age] += calls
		}
	}
	return out
}

// bytesOf is how much a good answer brought.
func bytesOf(c riot.Call) int {
	if c.Class != "" {
		return 0
	}
	return c.Bytes
}

// rowOf is a call as consoles see it.
func rowOf(c riot.Call) engine.CallRow {
	row := engine.CallRow{
		At: c.At, Host: c.Host, Method: c.Method, Target: c.Target, Proof: c.Proof, Job: engine.JobID(c.Job),
		Status: c.Status, Class: engine.Class(c.Class), Took: c.Latency, Paced: c.Waited, PacedBy: c.PacedBy,
		App: c.AppCount, MethodUsed: c.MethodCount,
	}
	if row.Target == riot.ProbeTarget {
		row.Target = "tests the key"
	}
	if d, ok := limit.ParseRetryAfter(c.RetryAfter, c.At); ok {
		row.RetryAfter = d
	}
	// Of the application's and the method's limits we keep count ourselves: being
	// over one of them means that our count was wrong, or that somebody else uses
	// the key. The other 429s are Riot's own trouble.
	row.Unforeseen = c.Class == riot.ClassThrottledApp || c.Class == riot.ClassThrottledMethod
	if row.Status == 429 {
		row.Counts = countsOf(c)
	}
	return row
}

// lastOf gives the newest call of a job with what its answer said; nil = none is recorded.
func (r *recorder) lastOf(job engine.JobID) *engine.CallRow {
	r.mu.Lock()
	defer r.mu.Unlock()
	for c := range r.newest {
		if c.Job == job {
			row := c.CallRow
			row.Headers, row.Body = c.headers, c.body
			return &row
		}
	}
	return nil
}

// last gives the sequence of the newest call.
func (r *recorder) last() uint64 {
	r.mu.Lock()
	defer r.mu.Unlock()
	return r.seq
}

// statAfter is what a job's own call after a sequence cost; zero if it made none. Those
// that it made to find out what works are counted, and tell the rest where they are all. A job whose
// calls have left the ring meanwhile, which takes as many calls of others, costs less than it did.
func (r *recorder) statAfter(seq uint64, job engine.JobID) (stat engine.CallStat) {
	r.mu.Lock()
	defer r.mu.Unlock()
	calls := 0
	for c := range r.newest {
		if c.Seq <= seq {
			break
		}
		if c.Job != job {
			continue
		}
		if calls++; calls == 1 || !c.Proof {
			stat = c.stat
		}
	}
	stat.Calls = calls
	return stat
}

// after gives the calls after a sequence, oldest first.
func (r *recorder) after(seq uint64) (rows []engine.CallRow) {
	r.mu.Lock()
	defer r.mu.Unlock()
	for c := range r.newest {
		if c.Seq <= seq {
			break
		}
		rows = append(rows, c.CallRow)
	}
	slices.Reverse(rows)
	return rows
}

// forgets takes off whose work they were from all calls, what was asked for, and what was answered: a call of one player's
// may name another.
func (r *recorder) forgets() {
	r.mu.Lock()
	defer r.mu.Unlock()
	clear(r.work)
	for i := range r.ring {
		c := &r.ring[i]
		c.Owner, c.Target, c.headers, c.body = "", "", nil, ""
	}
}

// page answers a CallsQuery, newest first. Next is the sequence to go on below. An After that is no
// number begins at the newest. The ring may have lost the calls below Next when the next page is asked
// for: then it ends earlier.
func (r *recorder) page(q engine.CallsQuery) (page engine.CallsPage) {
	r.mu.Lock()
	defer r.mu.Unlock()
	below, err := strconv.ParseUint(q.After, 10, 64)
	if err != nil {
		below = r.seq + 1
	}
	limit := q.Limit
	if limit <= 0 || limit > recorded {
		limit = recorded
	}
	for c := range r.newest {
		if c.Seq >= below || (q.Job != "" && c.Job != q.Job) || (q.Status != 0 && c.Status != q.Status) {
			continue
		}
		if len(page.Calls) == limit {
			page.Next = strconv.FormatUint(page.Calls[limit-1].Seq, 10)
			break
		}
		page.Calls = append(page.Calls, c.CallRow)
	}
	return page
}

// meter adds up how the calls went lately.
func (r *recorder) meter(now time.Time) engine.Meter {
	r.mu.Lock()
	defer r.mu.Unlock()
	p := engine.Meter{P50: r.median(), Throttled: r.throttled, Unforeseen: r.unforeseen, Answered: r.answered(),
		Spark: make([]int, sparkCells)}
	at := r.pulse(now)
	for i, second := range r.stamp {
		age := at - second
		if age < 0 || age >= ratedFor {
			continue
		}
		p.Spark[sparkCells-1-int(age)/sparkCell] += r.perSecond[i]
		if age < 60 {
			p.CallsPerMin += float64(r.perSecond[i])
		}
	}
	return p
}

// pulse is the second that the meter stands at. When no call has come for a cell of the
// chart it moves a cell at a time: what only grows old must not wake every console each
// second.
func (r *recorder) pulse(now time.Time) int64 {
	at := now.Unix()
	if at-slices.Max(r.stamp[:]) >= sparkCell {
		at -= at % sparkCell
	}
	return at
}

// answered is when the newest call went out that was answered; zero = none was.
func (r *recorder) answered() time.Time {
	for c := range r.newest {
		if c.Status != 0 {
			return c.At
		}
	}
	return time.Time{}
}

// p50 is the median answer time; 0 while there was no answer.
func (r *recorder) p50() time.Duration {
	r.mu.Lock()
	defer r.mu.Unlock()
	return r.median()
}

// median is of the last answers; calls without an answer tell nothing.
func (r *recorder) median() time.Duration {
	if r.middleOf != r.seq {
		r.middle, r.middleOf = r.medianNow(), r.seq
	}
	return r.middle
}

// medianNow sorts the answer times of the last [p50Answers] answers.
func (r *recorder) medianNow() time.Duration {
	took := make([]time.Duration, 0, p50Answers)
	for c := range r.newest {
		if len(took) == p50Answers {
			break
		}
		if c.Status != 0 {
			took = append(took, c.Took)
		}
	}
	if len(took) == 0 {
		return 0
	}
	slices.Sort(took)
	return took[len(took)/2]
}

// upTo gives the recorded calls up to a number, oldest first, and whether the
// recorder once held older ones.
func (r *recorder) upTo(seq uint64) (calls []seen, cut bool) {
	r.mu.Lock()
	defer r.mu.Unlock()
	for c := range r.newest {
		if c.Seq <= seq {
			calls = append(calls, c.seen)
		}
	}
	slices.Reverse(calls)
	return calls, len(r.ring) == recorded
}

// goOnFrom makes the numbers of calls go on after those that are stored.
func (r *recorder) goOnFrom(seq uint64) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.seq = max(r.seq, seq)
}
