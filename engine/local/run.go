package local

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"syscall"
	"time"

	"github.com/farsight-console/farsight/engine"
	"github.com/farsight-console/farsight/engine/await"
	"github.com/farsight-console/farsight/engine/crash"
)

// New makes a Backend. It starts nothing.
func New(o Options) (*Backend, error) {
	if o.Store == nil || o.Boot == "" {
		return nil, errors.New("engine/local: Options need a Store and a Boot id")
	}
	o.fillIn()
	b := &Backend{
		opt: o, kinds: make(map[engine.Kind]*engine.KindSpec, len(o.Kinds)),
		wake: await.NewBell(),
	}
	for _, k := range o.Kinds {
		if err := b.register(k); err != nil {
			return nil, err
		}
	}
	b.idx = newIndex(b.kinds)
	if o.OnlyServed {
		b.idx.trees = newTrees()
	}
	return b, nil
}

// register takes a kind in, with what its spec leaves open. A kind without a policy is refused at the
// start and not when its first attempt fails.
func (b *Backend) register(k engine.KindSpec) error {
	if k.Kind == "" || k.Handler == nil {
		return fmt.Errorf("engine/local: kind %q needs a name and a handler", k.Kind)
	}
	if b.kinds[k.Kind] != nil {
		return fmt.Errorf("engine/local: kind %q is named twice", k.Kind)
	}
	if _, ok := b.opt.Policies[k.Policy]; !ok {
		return fmt.Errorf("engine/local: kind %q names the unknown retry policy %q", k.Kind, k.Policy)
	}
	if k.Stuck <= 0 {
		k.Stuck = engine.DefaultStuck
	}
	b.kinds[k.Kind] = &k
	return nil
}

// fillIn puts in what stands for nil and zero, so that nobody asks for them later. Room stays
// nil: nobody is asked then.
func (o *Options) fillIn() {
	o.PerWrite = cmp.Or(o.PerWrite, usualPerWrite)
	if o.Admitter == nil {
		o.Admitter = admitAll{}
	}
	if o.Workers == nil {
		o.Workers = func() int { return defaultWorkers }
	}
	if o.OnNote == nil {
		o.OnNote = func(engine.Note) {}
	}
	if o.NoRoom == nil {
		o.NoRoom = func(err error) bool { return errors.Is(err, syscall.ENOSPC) }
	}
}

// Run takes in the store, gives orphans back, and runs jobs until ctx ends; then
// it claims nothing more, gives running jobs two seconds, hands the rest back
// uncharged, and returns nil. It returns an error when the store cannot be
// trusted any more: close it, open it again, and Run anew. Call it once at a
// time, and let it outlive nothing but the store.
func (b *Backend) Run(ctx context.Context) error {
	s, done := newSession(ctx)
	defer done()
	if err := b.start(s); err != nil {
		return err
	}
	b.dispatch(s)
	b.drain(s)
	return s.failure()
}

// start builds the index and gives orphans back. Nothing is chosen before open: an orphan must go back
// to its place before others pass it.
func (b *Backend) start(s *session) error {
	if err := b.load(s.ctx, b.giveUpUnreadable); err != nil {
		return ended(s, fmt.Errorf("read the jobs: %w", err))
	}
	if err := b.recover(s); err != nil {
		return ended(s, fmt.Errorf("give orphans back: %w", err))
	}
	b.lookAtRoom()
	b.idx.open()
	return nil
}

// ended tells a start that was cut short by the signal from one that failed.
func ended(s *session, err error) error {
	if s.ctx.Err() != nil && errors.Is(err, context.Cause(s.ctx)) {
		return nil
	}
	return err
}

// drain ends the session: nothing is claimed any more. After the signal running
// handlers get their grace; after an error they do not.
//
//	signal ──▶ nothing is chosen ──▶ grace ──▶ handlers are cancelled ──▶ stopPatience ──▶ abandon
func (b *Backend) drain(s *session) {
	crash.Point("drain-begun")
	gone := make(chan struct{})
	go func() {
		b.group.Wait()
		close(gone)
	}()
	if s.failure() == nil {
		waitFor(gone, grace)
	}
	crash.Point("drain-grace-over")
	s.stop(engine.ErrShutdown)
	if !waitFor(gone, stopPatience) {
		// What they bring later is stale.
		for _, r := range b.idx.running() {
			b.counts.deaf.Add(1)
			of(b.opt.Log.Error(), r.job).Msg("handler does not answer the stop; its job is handed back without it")
			b.withdraw(r)
			b.handBack(s, r.job)
		}
	}
	b.idx.shut()
	crash.Point("drain-done")
}

// waitFor reports whether gone was closed within d.
func waitFor(gone <-chan struct{}, d time.Duration) bool {
	t := time.NewTimer(d)
	defer t.Stop()
	select {
	case <-gone:
		return true
	case <-t.C:
		return false
	}
}
