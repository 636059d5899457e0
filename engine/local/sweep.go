package local

import (
	"context"
	"errors"
	"fmt"
	"runtime"
	"time"

	"github.com/farsight-console/farsight/engine"
	"github.com/farsight-console/farsight/engine/human"
	"github.com/farsight-console/farsight/engine/safe"
)

// watcher is the dispatcher's memory of its watch over running jobs.
type watcher struct {
	looked time.Time // monotonic
	roomed time.Time // when the disk was last asked
	swept  time.Time
}

// watch looks, once a second, for cancelled handlers that go on, every ten seconds
// at the room on the disk, and once a minute for jobs without a sign of life.
func (b *Backend) watch(s *session, w *watcher) error {
	now := time.Now()
	if now.Sub(w.looked) < time.Second {
		return nil
	}
	w.looked = now
	for _, r := range b.idx.running() {
		if r.deaf(now) {
			b.openSlot(r)
		}
	}
	if now.Sub(w.roomed) >= roomLook {
		w.roomed = now
		b.lookAtRoom()
	}
	if now.Sub(w.swept) < sweepEvery {
		return nil
	}
	w.swept = now
	for _, r := range b.idx.running() {
		if r.silent() <= r.kind.Stuck || r.gone() {
			continue
		}
		if err := b.rescue(s, r); err != nil {
			return err
		}
	}
	return nil
}

// openSlot lets another worker take the place of a handler that ignores its
// context. The job stays running until it returns or is rescued.
func (b *Backend) openSlot(r *run) {
	b.counts.deaf.Add(1)
	b.idx.ghost(r)
	of(b.opt.Log.Error(), r.job).AnErr("err", context.Cause(r.ctx)).
		Str("stack", safe.Block(stacks())).Msg("handler ignores its context; its slot is opened")
	b.note(engine.LevelErr, r.job.ID, "job %s is stuck: its handler ignores that it was ended", r.job.ID)
	b.wake.Ring()
}

// stacks is a dump of all goroutines, cut to 64 KiB.
func stacks() string {
	buf := make([]byte, 64<<10)
	return string(buf[:runtime.Stack(buf, true)])
}

// rescue gives one silent job back. Its permit goes first: the job may be admitted again as soon as the
// write is done. The handler is told last, when its word counts for nothing any more.
func (b *Backend) rescue(s *session, r *run) error {
	b.withdraw(r)
	why := fmt.Sprintf("no sign of life for %s", human.Span(r.silent()))
	err := b.persist(s, func(tx engine.Tx) error {
		return b.interruptIn(tx, r.job, why, engine.ByRescue)
	})
	switch {
	case errors.Is(err, engine.ErrStale), errors.Is(err, engine.ErrNotFound):
		return nil // it has just ended
	case errors.Is(err, engine.ErrUnreadable):
		b.giveUpUnreadable(r.job.ID, err)
	case err != nil:
		return fmt.Errorf("rescue job %s: %w", r.job.ID, err)
	}
	r.markRescued()
	r.cancel(engine.ErrRescued)
	if err != nil {
		return nil // it was discarded and not rescued
	}
	b.counts.rescued.Add(1)
	of(b.opt.Log.Warn(), r.job).Int("attempt", r.job.Attempts).Msg("rescued: " + why)
	b.note(engine.LevelWarn, r.job.ID, "job %s was rescued: %s", r.job.ID, why)
	return nil
}
