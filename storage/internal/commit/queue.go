package commit

import (
	"context"
	"sync"

	"github.com/farsight-console/farsight/engine"
	"github.com/farsight-console/farsight/engine/await"
)

// op is one Write. It is answered once, after the commit that holds it or when it is known that
// none will.
type op struct {
	fn    func(engine.Tx) error
	order bool  // see engine.AsOrder
	out   bool  // it takes no part in the group's next try: fn failed after it had written, or it can wait
	err   error // fn's answer
	done  chan error
}

// waits reports whether an order was not refused and would be written.
func (o *op) waits() bool { return o.order && o.err == nil }

func newOp(fn func(engine.Tx) error) *op { return &op{fn: fn, done: make(chan error, 1)} }

// queue holds the ops that wait for the next group. A writer that has queued one sleeps once, until
// it is answered; handed over one by one, each would sleep twice.
type queue struct {
	bell await.Bell // rung when ops come to an empty queue; whoever takes some rings it for the rest

	used sync.Pool // ops whose answer was read: one comes with each step of a job

	mu   sync.Mutex
	ops  []*op
	head int   // those before it have been taken
	shut error // no more are taken: why
}

func newQueue() *queue { return &queue{bell: await.NewBell()} }

// op gives one for fn.
func (q *queue) op(fn func(engine.Tx) error, order bool) *op {
	o, ok := q.used.Get().(*op)
	if !ok {
		o = newOp(nil)
	}
	o.fn, o.order, o.out, o.err = fn, order, false, nil
	return o
}

// push queues an op, or says why no more are taken.
func (q *queue) push(o *op) error {
	q.mu.Lock()
	defer q.mu.Unlock()
	if q.shut != nil {
		return q.shut
	}
	if q.head == len(q.ops) {
		q.bell.Ring()
	}
	q.ops = append(q.ops, o)
	return nil
}

func (q *queue) len() int {
	q.mu.Lock()
	defer q.mu.Unlock()
	return len(q.ops) - q.head
}

// pop takes the op that has waited longest; nil when none does.
func (q *queue) pop() *op {
	q.mu.Lock()
	defer q.mu.Unlock()
	if q.head == len(q.ops) {
		return nil
	}
	o := q.ops[q.head]
	q.ops[q.head] = nil
	// The slice begins anew when it is empty, so that it grows no longer than the longest queue
	// was.
	if q.head++; q.head == len(q.ops) {
		q.ops, q.head = q.ops[:0], 0
	}
	return o
}

// leave takes o back; false when it has been taken.
func (q *queue) leave(o *op) bool {
	q.mu.Lock()
	defer q.mu.Unlock()
	// It is a search of the whole queue, but only for a caller that gives up.
	for i := q.head; i < len(q.ops); i++ {
		if q.ops[i] == o {
			q.ops = append(q.ops[:i], q.ops[i+1:]...)
			return true
		}
	}
	return false
}

// close answers all that wait with why, and whoever comes.
func (q *queue) close(why error) {
	q.mu.Lock()
	defer q.mu.Unlock()
	for _, o := range q.ops[q.head:] {
		o.done <- why
	}
	q.ops, q.head, q.shut = nil, 0, why
}

// wait gives the answer to an op that was queued. The end of ctx counts until the op is taken.
func (q *queue) wait(ctx context.Context, o *op) error {
	select {
	case err := <-o.done:
		return err
	case <-ctx.Done():
	}
	// An op that has been taken may be in a commit already: only its answer tells whether it is on
	// disk.
	if q.leave(o) {
		return context.Cause(ctx)
	}
	return <-o.done
}
