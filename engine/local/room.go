package local

import (
	"cmp"
	"container/heap"
	"time"

	"github.com/farsight-console/farsight/engine"
	"github.com/farsight-console/farsight/engine/human"
	"github.com/farsight-console/farsight/engine/wall"
)

// roomLook is how often the disk is asked how much room it has.
const roomLook = 10 * time.Second

// lookAtRoom asks the disk, and stops or resumes the choosing. What runs goes on,
// and so does every write: they are few, and they end what was begun.
func (b *Backend) lookAtRoom() {
	if b.opt.Room == nil {
		return
	}
	free, ok := b.opt.Room()
	low := ""
	if !ok {
		low = "disk low: " + human.Bytes(int64(free)) + " free"
	}
	was := b.idx.setLow(low)
	switch {
	case low != "" && was == "":
		b.opt.Log.Warn().Uint64("free", free).Msg("the disk is nearly full; no job is started until there is room")
		b.note(engine.LevelErr, "",
			"only %s are free on the disk: nothing is lost, and work goes on by itself when there is room",
			human.Bytes(int64(free)))
	case low == "" && was != "":
		b.opt.Log.Info().Uint64("free", free).Msg("there is room again; jobs are started")
		b.note(engine.LevelOK, "", "there is room on the disk again: work goes on")
		b.wake.Ring()
	}
}

// Halted says why no job is started at all: "disk full", or "disk low: 419.4 MB
// free", or "store: read-only"; "" when nothing of the kind stops the engine.
func (b *Backend) Halted() string {
	b.idx.mu.Lock()
	defer b.idx.mu.Unlock()
	if !b.idx.loaded || b.idx.halted == hasStopped {
		return ""
	}
	return b.idx.stopped()
}

// beingRead is why nobody knows yet what waits.
const beingRead = "the stored jobs are being read"

// Reading says that the stored jobs are still to be read: what waits is not known before all are. "" = it is.
func (b *Backend) Reading() string {
	b.idx.mu.Lock()
	defer b.idx.mu.Unlock()
	switch n := len(b.idx.jobs); {
	case b.idx.loaded:
		return ""
	case n > 0:
		return beingRead + ": " + human.Count(int64(n)) + " so far"
	}
	return beingRead
}

// stopped is why nothing is chosen; "" = go.
func (x *index) stopped() string { return cmp.Or(x.halted, x.low) }

func (x *index) setLow(why string) (was string) {
	x.mu.Lock()
	defer x.mu.Unlock()
	was, x.low = x.low, why
	return was
}

// shut ends the choosing; the index goes on showing what is committed.
func (x *index) shut() { x.halt(hasStopped) }

// hasStopped is why nothing is chosen after the end.
const hasStopped = "the engine has stopped"

// halt stops the choosing for a reason; "" lets it go on.
func (x *index) halt(why string) {
	x.mu.Lock()
	defer x.mu.Unlock()
	x.halted = why
}

// Releaser is an Admitter that knows when what jobs are held for has ended, such
// as a key that was refused and works again. It is asked when Changed is signalled.
type Releaser interface {
	// Released names the holds that have ended since it was last asked: the jobs so held
	// become available at once instead of at their instant.
	Released() []engine.Hold
	// Untried reports whether a lane is down and nobody finds out whether it still is: one job
	// that does goes before all of a better rank, or the lane would be down until those have gone.
	Untried(lane string) bool
}

// reopen lets every lane be asked again, and the jobs go whose hold has ended.
func (b *Backend) reopen() {
	r, ok := b.opt.Admitter.(Releaser)
	if !ok {
		b.idx.reopen(func(string) bool { return false })
		return
	}
	b.idx.reopen(r.Untried)
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
