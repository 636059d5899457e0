package local

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"syscall"

	"github.com/farsight-console/farsight/engine"
	"github.com/farsight-console/farsight/engine/await"
)

// New makes a Backend. It starts nothing.
func New(o Options) (*Backend, error) {
	b := &Backend{
		store: o.Store, admitter: o.Admitter, launcher: o.Launcher, alive: o.Alive, policies: o.Policies, workers: o.Workers,
		boot: o.Boot, log: o.Log, onNote: o.OnNote, noRoom: o.NoRoom, room: o.Room, perWrite: cmp.Or(o.PerWrite, usualPerWrite),
		kinds: make(map[engine.Kind]*engine.KindSpec, len(o.Kinds)),
		wake:  await.NewBell(), gap: await.NewBell(),
	}
	if b.store == nil || b.boot == "" {
		return nil, errors.New("engine/local: Options need a Store and a Boot id")
	}
	for _, k := range o.Kinds {
		if err := b.register(k); err != nil {
			return nil, err
		}
	}
	b.fillIn()
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
	if _, ok := b.policies[k.Policy]; !ok {
		return fmt.Errorf("engine/local: kind %q names the unknown retry policy %q", k.Kind, k.Policy)
	}
	if k.Stuck <= 0 {
		k.Stuck = engine.DefaultStuck
	}
	b.kinds[k.Kind] = &k
	return nil
}

// fillIn puts what stands for nil in Options, so that nobody asks for nil later.
func (b *Backend) fillIn() {
	if b.admitter == nil {
		b.admitter = admitAll{}
	}
	if b.launcher == nil {
		b.launcher = inProcess{}
	}
	if b.workers == nil {
		b.workers = func() int { return defaultWorkers }
	}
	if b.onNote == nil {
		b.onNote = func(engine.Note) {}
	}
	if b.noRoom == nil {
		b.noRoom = func(err error) bool { return errors.Is(err, syscall.ENOSPC) }
	}
}

// Run takes in the store, gives orphans back, and runs jobs until ctx ends; then
// it claims nothing more, gives running jobs two seconds, hands the rest back
// uncharged, and returns nil. It returns an error when the store cannot be
// trusted any more: close it, open it again, and Run anew. Call it once at a
// time, and let it outlive nothing but the store.
func (b *Backend) Run(ctx context.Context) error {
	s := &session{write: context.WithoutCancel(ctx)}
	s.ctx, s.end = context.WithCancelCause(ctx)
	defer s.end(nil)
	s.work, s.stop = context.WithCancelCause(s.write)
	defer s.stop(nil)
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
	if err := b.recover(s, b.othersHave); err != nil {
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
