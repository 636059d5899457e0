package local

import (
	"context"
	"errors"
	"sync"
	"sync/atomic"
	"time"

	"github.com/farsight-console/farsight/engine"
)

// run is one attempt at work.
type run struct {
	job    engine.Job // as claimed
	kind   *engine.KindSpec
	lane   string // "" = it has no permit
	paced  time.Duration
	ctx    context.Context
	cancel context.CancelCauseFunc
	began  time.Time    // monotonic
	beat   atomic.Int64 // last sign of life, nanoseconds after began
	limit  *time.Timer  // ends the attempt; nil = no timeout

	mu      sync.Mutex
	over    bool      // the handler has returned
	deafFor time.Time // since when it is known to have been cancelled (the watch's own)
	stuck   bool      // its slot is open for another
	rescued bool      // its job has been given back without it

	withdrawn bool // its permit was given back

	external string // the other side's id of this attempt; "" = not known yet
}

// Beat says that the work goes on: the job is not rescued, and the kind's timeout
// begins anew. Waiting for a permit beats, so it does not count.
func (r *run) Beat() {
	r.beat.Store(int64(time.Since(r.began)))
	if r.limit != nil {
		r.limit.Reset(r.kind.Timeout)
	}
}

// Named notes the id that the other side has given to the attempt.
func (r *run) Named(external string) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.external = external
}

// silent is how long the handler has given no sign of life.
func (r *run) silent() time.Duration {
	return time.Since(r.began) - time.Duration(r.beat.Load())
}

// errTimeout is the cause of an attempt that was out of time.
var errTimeout = errors.New("the attempt took too long")

// register adds a run; true when a cancel was asked for before it began.
func (x *index) register(r *run) (cancel bool) {
	x.mu.Lock()
	defer x.mu.Unlock()
	x.runs[r] = struct{}{}
	e := x.jobs[r.job.ID]
	if e == nil {
		return false
	}
	e.run = r
	return e.cancel
}

// unregister takes a run out when its outcome is stored.
func (x *index) unregister(r *run) {
	x.mu.Lock()
	defer x.mu.Unlock()
	delete(x.runs, r)
}

// running gives the runs as they are.
func (x *index) running() []*run {
	x.mu.Lock()
	defer x.mu.Unlock()
	out := make([]*run, 0, len(x.runs))
	for r := range x.runs {
		out = append(out, r)
	}
	return out
}

// deaf reports, once, that a handler has gone on for ten seconds after it was
// cancelled. The run's slot is then open for another.
func (r *run) deaf(now time.Time) bool {
	if r.ctx.Err() == nil {
		return false
	}
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.over || r.stuck {
		return false
	}
	if r.deafFor.IsZero() {
		r.deafFor = now
	}
	r.stuck = now.Sub(r.deafFor) >= deafAfter
	return r.stuck
}

// gone reports whether the run has nothing left to rescue.
func (r *run) gone() bool {
	r.mu.Lock()
	defer r.mu.Unlock()
	return r.over || r.rescued
}

// markRescued notes that the job went back without the handler, which may go on all the same.
func (r *run) markRescued() {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.rescued = true
}

// ghost lets a run count no more as busy: its handler does not answer to its end, so
// its slot goes to another worker, and others need not wait for it to be alone.
func (x *index) ghost(r *run) {
	x.mu.Lock()
	defer x.mu.Unlock()
	x.slots--
	e := x.jobs[r.job.ID]
	if e == nil || e.run != r || !e.busy() || e.ghost {
		return
	}
	e.ghost = true
	x.busy--
	if x.alone == e {
		x.alone = nil
	}
}
