package traffic

import (
	"time"

	"github.com/farsight-console/farsight/engine"
	"github.com/farsight-console/farsight/riot"
)

// breaker watches one lane: when the last five answers, of at least two jobs, were
// 5xx or timeouts, it is down unless something that it answered before proves that
// it works. With a slow key five of one lane take a minute: the last five of its host
// count as well, and then each lane is doubted at its next failure.
//
//	closed   answers are good, or fail now and then
//	doubted  too many failures: a proof is under way, nobody is let through, failures wait for it
//	blown    one job at a time tries, by the fuse
//	ramp     a try was answered: calls return by steps, then closed
type breaker struct {
	fuse
	failed streak
	host   *streak        // that of all lanes of its host
	lost   []engine.JobID // jobs of the last answers in a row that were 404
	ramp   ramp

	good   time.Time       // the last answer that was no failure; zero = none yet
	proof  *proof          // under way; nil = none
	asked  int             // proofs so far
	ill    map[string]bool // accounts whose last call failed
	proven bool            // while it is blown: something known to be good failed too
}

const (
	// Answers in a row, and of how many jobs: one job that fails five times may be its own fault.
	breakerAnswers = 5
	breakerJobs    = 2
)

// streak are the last answers in a row, of a lane or of a whole host, if they failed.
type streak struct {
	jobs      []engine.JobID // whose they were
	since, at time.Time      // the first and the newest came
	last      *riot.Error
}

// silence is how long after a failure another one goes with it: the longest wait of a job for its next try is half of it,
// and schedules run each hour.
const silence = time.Hour

func (s *streak) add(job engine.JobID, e *riot.Error, now time.Time) {
	if len(s.jobs) == 0 || now.Sub(s.at) > silence {
		s.jobs, s.since = nil, now
	}
	s.jobs, s.at, s.last = lastOf(s.jobs, job), now, e
}

// fail counts a failure. doubt says that there are now so many that the lane is
// down, unless it is proven to work. One that is down already tells nothing new of its host.
func (b *breaker) fail(job engine.JobID, e *riot.Error, now time.Time) (doubt bool) {
	// They begin at one call, not two: the lane is not well yet.
	if b.ramp.leave(job) {
		b.ramp.most, b.ramp.good = 1, 0
	}
	if b.blown {
		b.blow(job, now)
		return false
	}
	b.failed.add(job, e, now)
	b.host.add(job, e, now)
	return b.proof != nil || several(b.host.jobs) || several(b.failed.jobs)
}

// begun is when what shows that it is down came first: the failures in a row of its own, or of its host.
func (b *breaker) begun() time.Time {
	switch {
	case several(b.host.jobs) && !b.failed.since.Before(b.host.since):
		return b.host.since
	case len(b.failed.jobs) > 0:
		return b.failed.since
	}
	return b.since // refused by a page before Riot
}

// lastOf adds a job to those of the last answers.
func lastOf(jobs []engine.JobID, job engine.JobID) []engine.JobID {
	jobs = append(jobs, job)
	return jobs[max(0, len(jobs)-breakerAnswers):]
}

// several reports whether the last answers are so many, of so many jobs, that it is no job's own fault.
func several(jobs []engine.JobID) bool {
	distinct := map[engine.JobID]bool{}
	for _, j := range jobs {
		distinct[j] = true
	}
	return len(jobs) == breakerAnswers && len(distinct) >= breakerJobs
}

// succeed counts a good answer: the failures in a row are over. It reports whether somebody who was
// held may go now.
func (b *breaker) succeed(job engine.JobID, now time.Time) bool {
	b.failed.jobs, b.host.jobs, b.good, b.proven = nil, nil, now, false
	if b.repair() {
		b.ramp.begin()
		return true
	}
	return b.ramp.succeed(job)
}

// ramp lets work return by steps after an outage: 2 calls under way after the
// probe, then 4, 8 …, so that thousands of jobs that have become due meanwhile do
// not meet a server that has just come back (P-19). The zero ramp holds nobody.
type ramp struct {
	most  int // calls under way; 0 = as many as like
	good  int // answers since it last grew
	under map[engine.JobID]bool
}

// rampDone is the number of calls under way at which a recovery is complete.
const rampDone = 64

// begin starts the steps, at the first good answer after an outage.
func (r *ramp) begin() { *r = ramp{most: 2, under: map[engine.JobID]bool{}} }

// admits reports whether the job may call, or calls already; enter notes that it does.
func (r *ramp) admits(job engine.JobID) bool {
	return r.most == 0 || r.under[job] || len(r.under) < r.most
}

func (r *ramp) enter(job engine.JobID) {
	if r.most > 0 {
		r.under[job] = true
	}
}

// leave takes out a job whose call has ended, or was not made.
func (r *ramp) leave(job engine.JobID) bool {
	if !r.under[job] {
		return false
	}
	delete(r.under, job)
	return true
}

// succeed makes the next step when as many answers were good as may be under way. Calls that were under
// way before the steps began count for nothing.
func (r *ramp) succeed(job engine.JobID) bool {
	if !r.leave(job) {
		return false
	}
	if r.good++; r.good >= r.most {
		r.most, r.good = 2*r.most, 0
	}
	if r.most > rampDone {
		*r = ramp{}
	}
	return true
}

// proof finds out whether a lane is down: it is asked for something that it answered
// well before. Whoever fails meanwhile waits for what comes of it.
type proof struct {
	over chan struct{} // closed when the rest is known
	// asked: something was known, and there was an answer or none came. cut: whoever
	// asked was ended before.
	asked, cut bool
	err        *riot.Error // nil = it was answered well
	next       time.Time   // when what the error holds may be tried again
}

// answers are the reasons of errors that a lane which works gives.
var answers = map[riot.Reason]bool{
	riot.Missing: true, riot.BadRequest: true, riot.WrongProject: true, riot.Malformed: true, riot.TooLarge: true,
}

// works reports whether the proof shows that the lane does.
func (p *proof) works() bool { return p.asked && (p.err == nil || answers[p.err.Reason]) }

// fails reports whether the proof shows that the lane is down.
func (p *proof) fails() bool { return p.asked && p.err != nil && outages[p.err.Reason] }

// outages are the reasons of errors that a lane which is down gives, or what stands before it.
var outages = map[riot.Reason]bool{riot.Transient: true, riot.Timeout: true, riot.Blocked: true}
