package local

import (
	"fmt"
	"time"

	"github.com/farsight-console/farsight/engine"
	"github.com/farsight-console/farsight/engine/wall"
)

// dispatch chooses and claims until the session ends. It sleeps until something
// was committed, the admitter has news, or the next instant has come. No other goroutine promotes,
// watches or fills free slots; a worker claims the job that follows its own.
func (b *Backend) dispatch(s *session) {
	timer := time.NewTimer(0)
	defer timer.Stop()
	watch := watcher{swept: time.Now(), roomed: time.Now()}
	for {
		select {
		case <-b.wake:
		case <-timer.C:
		case <-b.opt.Admitter.Changed():
			b.reopen()
		case <-s.ctx.Done():
			return
		}
		more, err := b.turn(s, &watch)
		if err != nil {
			s.fail(err)
			return
		}
		wait := time.Duration(0)
		if !more {
			wait = b.idx.nextWake(time.Now())
		}
		timer.Reset(wait)
	}
}

// turn does what can be done now. more says that it did not do all of it. The clock goes first, since
// it may make jobs due, and what is due before what is chosen. The backlog is told once more at the
// end: promotions may have changed it without a pick.
func (b *Backend) turn(s *session, w *watcher) (more bool, err error) {
	now := time.Now()
	b.idx.mindClock(now)
	more, err = b.promote(s, now)
	if err != nil {
		return false, fmt.Errorf("move due jobs: %w", err)
	}
	b.idx.expire(now)
	full, err := b.startSome(s)
	if err != nil {
		return false, fmt.Errorf("claim jobs: %w", err)
	}
	b.picking.Lock()
	b.tellBacklog()
	b.picking.Unlock()
	return more || full, b.watch(s, w)
}

// promote makes due jobs available, one batch in one write.
func (b *Backend) promote(s *session, now time.Time) (more bool, err error) {
	due := b.idx.dueNow(now, b.opt.PerWrite)
	if len(due) == 0 {
		return false, nil
	}
	at := wall.At(now)
	err = b.persist(s, func(tx engine.Tx) error {
		for i := range due {
			if err := b.promoteIn(tx, &due[i], at); err != nil {
				return err
			}
		}
		return nil
	})
	if err != nil {
		return false, err
	}
	for i := range due {
		if !due[i].ok {
			b.asStored(&due[i])
		}
	}
	return len(due) == b.opt.PerWrite, nil
}

// promoteIn makes one due job available, if it still is as it was when its instant
// came; else it notes why not.
func (b *Backend) promoteIn(tx engine.Tx, c *claim, now time.Time) error {
	if err := b.inspect(tx, c); err != nil {
		return err
	}
	if c.moved != nil || c.gone || c.bad != nil {
		return nil
	}
	after := c.job
	after.Rev++
	after.State, after.Hold = engine.Available, engine.HoldNone
	c.ok = true
	return b.move(tx, c.job, after, because{cause: engine.ByTime, now: now})
}

// startSome fills free slots. full says that there may be more to start. Slots are taken before jobs
// are chosen, so that workers which hire the next job meanwhile never exceed the ceiling.
func (b *Backend) startSome(s *session) (full bool, err error) {
	n := b.idx.enlist(b.opt.Workers(), b.opt.PerWrite)
	if n == 0 {
		return false, nil
	}
	picked := b.pick(s, n)
	b.idx.dismiss(n - len(picked))
	if len(picked) == 0 {
		return false, nil
	}
	b.idx.seat(picked)
	if err := b.claimAll(s, picked); err != nil {
		b.idx.dismiss(len(picked))
		b.idx.vacate(picked...)
		for i := range picked {
			picked[i].ok = false
			b.unclaimed(&picked[i])
		}
		return false, err
	}
	for _, c := range picked {
		b.hire(s, c)
	}
	return len(picked) == b.opt.PerWrite, nil
}
