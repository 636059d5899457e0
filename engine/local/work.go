package local

import (
	"context"
	"errors"
	"runtime/debug"
	"time"

	"github.com/farsight-console/farsight/engine"
	"github.com/farsight-console/farsight/engine/safe"
)

// begin registers a claimed job as running here.
func (b *Backend) begin(s *session, c *claim) *run {
	r := &run{job: c.job, kind: b.kinds[c.job.Kind], lane: c.lane, paced: c.paced, began: time.Now()}
	r.ctx, r.cancel = context.WithCancelCause(s.work)
	if r.kind.Timeout > 0 {
		r.limit = time.AfterFunc(r.kind.Timeout, func() { r.cancel(errTimeout) })
	}
	if b.idx.register(r) {
		r.cancel(engine.ErrCancelled)
	}
	return r
}

// work runs a claimed job and writes its outcome. If there is another to claim in the
// same write, that one follows in the worker's place; else its slot is given back. The permit is given
// back before the next job is chosen, which may be one of the same lane.
func (b *Backend) work(s *session, c claim) {
	defer b.group.Done()
	r := b.begin(s, &c)
	o := b.call(r, c.groups)
	stuck := b.quit(r)
	b.withdraw(r)
	if stuck { // its slot has another worker
		b.finish(s, r, o, nil)
		b.idx.vacate(c)
		return
	}
	next := b.pickNext(s, c.worker)
	if err := b.finish(s, r, o, next); err == nil && len(next) == 1 {
		b.hire(s, next[0])
		return
	}
	b.leave(c)
}

// pickNext chooses the worker's next job, unless there are too many workers.
func (b *Backend) pickNext(s *session, worker int) []claim {
	if !b.idx.keeps(b.opt.Workers()) {
		return nil
	}
	batch := b.pick(s, 1)
	for i := range batch {
		batch[i].worker = worker
	}
	return batch
}

// hire lets a job that was to be claimed begin, if it was; else its worker's slot is given back.
func (b *Backend) hire(s *session, c claim) {
	if !b.accept(s, &c) {
		b.leave(c)
		return
	}
	b.group.Add(1)
	go b.work(s, c)
}

// leave gives a worker's slot and number back.
func (b *Backend) leave(c claim) {
	b.idx.dismiss(1)
	b.idx.vacate(c)
	b.wake.Ring()
}

// accept reports whether a job that was to be claimed may begin. One that was
// claimed while the signal came is handed back.
func (b *Backend) accept(s *session, c *claim) bool {
	if !c.ok {
		b.unclaimed(c)
		return false
	}
	if s.ctx.Err() == nil {
		return true
	}
	if c.lane != "" {
		b.opt.Admitter.Withdraw(c.id)
	}
	b.handBack(s, c.job)
	return false
}

// quit ends the handler's part of a run; true if its slot was opened meanwhile. From then on deaf does
// not count it: only one of the two gives the slot away.
func (b *Backend) quit(r *run) (stuck bool) {
	if r.limit != nil {
		r.limit.Stop()
	}
	r.mu.Lock()
	defer r.mu.Unlock()
	r.over = true
	return r.stuck
}

// call runs the handler. A panic is that attempt's error. A handler that ran out of time and calls it
// by no class of its own gets "timeout".
func (b *Backend) call(r *run, groups []engine.GroupStat) (o engine.Outcome) {
	defer func() {
		if p := recover(); p != nil {
			o = b.panicked(r.job, &panicError{value: p, stack: debug.Stack()})
		}
	}()
	o = r.kind.Handler(r.ctx, engine.Run{
		Job: r.job, Groups: groups, Beat: r.Beat, Named: r.Named, Policy: b.policyOf(r.job),
	})
	if o.Verb == engine.VerbRetry && o.Class == "" && errors.Is(context.Cause(r.ctx), errTimeout) {
		o.Class = "timeout"
	}
	return o
}

// panicked is the outcome of a handler that panicked: charged, so that a job which always does comes to
// its end. Its stack goes to the log, and the panic's value to the job.
func (b *Backend) panicked(j engine.Job, p *panicError) engine.Outcome {
	b.counts.panics.Add(1)
	of(b.opt.Log.Error(), j).Int("attempt", j.Attempts).
		Str("err", safe.Text(p.Error())).Str("stack", safe.Block(string(p.stack))).Msg("handler panicked")
	b.note(engine.LevelErr, j.ID, "the handler of %s panicked: %v", j.Kind, p.value)
	return engine.Retry(p).As("panic")
}
