package local

import (
	"container/heap"
	"time"

	"github.com/farsight-console/farsight/engine"
	"github.com/farsight-console/farsight/engine/wall"
)

// Releaser is an Admitter that knows when what jobs are held for has ended, such
// as a key that was refused and works again.
type Releaser interface {
	// Released names the holds that have ended since it was last asked. It is asked
	// when Changed is signalled: the jobs so held become available at once instead
	// of at their instant.
	Released() []engine.Hold
}

// release lets the jobs go whose hold has ended.
func (b *Backend) release() {
	r, ok := b.opt.Admitter.(Releaser)
	if !ok {
		return
	}
	for _, h := range r.Released() {
		b.idx.release(h, time.Now())
	}
}

// release lets the jobs of one hold wait no longer. When that was is kept for dueOf.
func (x *index) release(h engine.Hold, now time.Time) {
	x.mu.Lock()
	defer x.mu.Unlock()
	own := x.clock.own(now)
	x.released[h] = wall.At(now)
	for _, e := range x.due {
		if e.hold == h && e.wake.After(own) {
			e.wake = own
		}
	}
	heap.Init(&x.due)
}
