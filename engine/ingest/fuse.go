package ingest

import (
	"time"

	"github.com/farsight-console/farsight/engine"
)

// fuse is blown by a failure and repaired by a success. While it is blown, one
// job after `probe` may try; each failure of a probe doubles the wait.
type fuse struct {
	hold        engine.Hold
	first, most time.Duration // wait before a probe

	blown  bool
	since  time.Time
	probe  time.Time // the next try, unless a prober is under way
	wait   time.Duration
	prober engine.JobID

	told func(f *fuse) // that it blew or was repaired; must not block; nil = nobody
}

// Waits between probes.
func newKeyFuse() fuse {
	return fuse{hold: engine.HoldKeyInvalid, first: time.Minute, most: time.Minute}
}
func newNetworkFuse() fuse {
	return fuse{hold: engine.HoldLocalNetwork, first: time.Second, most: time.Minute}
}
func newOutageFuse() fuse {
	return fuse{hold: engine.HoldOutage, first: 5 * time.Second, most: time.Minute}
}

// leastProbe keeps the probes of a world that runs fast from being a flood.
const leastProbe = 50 * time.Millisecond

// at gives the fuse for a world that runs so many times as fast; 0 = as fast as this
// one.
func (f fuse) at(speed float64) fuse {
	if speed > 0 {
		f.first = max(time.Duration(float64(f.first)/speed), leastProbe)
		f.most = max(time.Duration(float64(f.most)/speed), leastProbe)
	}
	return f
}

// blow opens the fuse, or puts off the next probe when the prober failed. A
// straggler that was under way when it blew changes nothing.
func (f *fuse) blow(job engine.JobID, now time.Time) {
	switch {
	case !f.blown:
		f.blown, f.since, f.wait = true, now, f.first
		defer f.tell()
	case f.prober == job:
		f.wait = min(2*f.wait, f.most)
	default:
		return
	}
	f.prober, f.probe = "", now.Add(f.wait)
}

// repair closes the fuse and reports whether it was blown.
func (f *fuse) repair() bool {
	was := f.blown
	f.blown, f.prober, f.wait = false, "", 0
	if was {
		f.tell()
	}
	return was
}

func (f *fuse) tell() {
	if f.told != nil {
		f.told(f)
	}
}

// next is when the next probe may go; zero = one is under way.
func (f *fuse) next() time.Time {
	if f.prober != "" {
		return time.Time{}
	}
	return f.probe
}

// release takes the probe back from a job that ended without an answer.
func (f *fuse) release(job engine.JobID) bool {
	if f.prober != job || job == "" {
		return false
	}
	f.prober = ""
	return true
}

// admits reports whether job may go; if not, when to ask again (zero: when the
// prober is back).
func (f *fuse) admits(job engine.JobID, now time.Time) (until time.Time, ok bool) {
	switch {
	case !f.blown || f.prober == job:
		return time.Time{}, true
	case f.prober != "":
		return time.Time{}, false
	case now.Before(f.probe):
		return f.probe, false
	}
	return time.Time{}, true
}

// breaker watches one lane: when the last five answers, of at least two jobs, were
// 5xx or timeouts, it is down unless something that it answered before proves that
// it works.
type breaker struct {
	fuse
	failed []engine.JobID // jobs of the last answers in a row that failed
	ramp   ramp

	good   time.Time       // the last answer that was no failure; zero = none yet
	proof  *proof          // under way; nil = none
	asked  int             // proofs so far
	ill    map[string]bool // accounts whose last call failed
	proven bool            // while it is blown: something known to be good failed too
}

const (
	breakerAnswers = 5
	breakerJobs    = 2
)

// fail counts a failure. doubt says that there are now so many that the lane is
// down, unless it is proven to work.
func (b *breaker) fail(job engine.JobID, now time.Time) (doubt bool) {
	b.ramp.fail(job)
	b.failed = append(b.failed, job)
	if n := len(b.failed); n > breakerAnswers {
		b.failed = b.failed[n-breakerAnswers:]
	}
	if b.blown {
		b.blow(job, now)
		return false
	}
	return b.proof != nil || len(b.failed) == breakerAnswers && b.jobs() >= breakerJobs
}

func (b *breaker) jobs() int {
	distinct := map[engine.JobID]bool{}
	for _, j := range b.failed {
		distinct[j] = true
	}
	return len(distinct)
}

func (b *breaker) succeed(job engine.JobID, now time.Time) bool {
	b.failed, b.good, b.proven = b.failed[:0], now, false
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

func (r *ramp) begin() { *r = ramp{most: 2, under: map[engine.JobID]bool{}} }

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

// succeed makes the next step when as many answers were good as may be under way.
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

// fail begins the steps anew.
func (r *ramp) fail(job engine.JobID) {
	if r.leave(job) {
		r.most, r.good = 1, 0
	}
}
