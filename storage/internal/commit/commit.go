// Package commit writes in groups. Whoever has something to write queues it; one goroutine, inside
// Serve, carries out what is queued in one transaction, commits that, and answers all who wait for
// it. A commit costs about the same for few as for many.
//
// It knows nothing of tables and files: see Group.
package commit

import (
	"context"
	"errors"
	"fmt"
	"runtime"
	"runtime/debug"
	"slices"
	"sync"
	"sync/atomic"
	"time"

	"github.com/farsight-console/farsight/engine"
	"github.com/farsight-console/farsight/storage/internal/disk"
)

// Group is the transaction of one group.
type Group interface {
	// Try lets fn do its part (see Call), and reports whether it wrote. What it announced without
	// having written is forgotten when it fails.
	Try(fn func(engine.Tx) error) (wrote bool, err error)
	Bytes() int // written so far
	// Commit completes the transaction, writes it to disk and publishes it. It does nothing when
	// nothing was written.
	Commit() error
	Rollback() // ends what was not committed
}

// Committer is the one writer of a store. Use New.
type Committer struct {
	begin    func() (Group, error)
	makeRoom func(full error) bool
	queue    *queue
	group    []*op // the memory of the last one
	before   int   // its ops

	running  atomic.Bool
	broken   chan error            // ends Serve
	brokenBy atomic.Pointer[error] // the same, for whoever writes meanwhile
	why      error                 // Serve has ended with it
	ended    sync.Once
}

// New makes a committer. begin is called on the goroutine of Serve alone, and so is makeRoom:
// an order (engine.AsOrder) was not written since the disk is full, and what it reports is whether there is
// room now.
func New(begin func() (Group, error), makeRoom func(full error) bool) *Committer {
	return &Committer{begin: begin, makeRoom: makeRoom, queue: newQueue(), broken: make(chan error, 1)}
}

// Write carries fn out in the next group and returns after its commit, with fn's error or that of
// the commit. The end of ctx counts as long as fn is queued.
func (c *Committer) Write(ctx context.Context, fn func(engine.Tx) error) error {
	if ctx.Err() != nil {
		return context.Cause(ctx)
	}
	if why := c.brokenBy.Load(); why != nil {
		return fmt.Errorf("%w: %w", disk.ErrClosed, *why)
	}
	o := c.queue.op(fn, engine.IsOrder(ctx))
	if err := c.queue.push(o); err != nil {
		return err
	}
	err := c.queue.wait(ctx, o)
	o.fn = nil
	c.queue.used.Put(o)
	return err
}

// Serve commits until ctx ends, then what is still queued, and returns nil. It ends early when a
// commit failed in a way after which nothing can be trusted, with what tick says, or with Break's.
// tick is called between groups, now and then.
func (c *Committer) Serve(ctx context.Context, every time.Duration, tick func() error) error {
	if !c.running.CompareAndSwap(false, true) {
		return errors.New("storage: Serve was called twice")
	}
	// bbolt maps the file. A page that the disk cannot read would end the process; so it is a
	// panic, which Call and try turn into errors.
	defer debug.SetPanicOnFault(debug.SetPanicOnFault(true))
	err := c.loop(ctx, every, tick)
	c.end(err)
	return err
}

func (c *Committer) loop(ctx context.Context, every time.Duration, tick func() error) error {
	watch := time.NewTicker(every)
	defer watch.Stop()
	for {
		var err error
		select {
		case <-c.queue.bell:
			err = c.commitQueued()
			if c.queue.len() > 0 {
				c.queue.bell.Ring()
			}
		case <-watch.C:
			err = tick()
		case err = <-c.broken:
		case <-ctx.Done():
			// Whoever has queued before the end still gets an answer: those are the last outcomes
			// of a stop.
			for err == nil && c.queue.len() > 0 {
				err = c.commitQueued()
			}
			return err
		}
		if err != nil {
			return err
		}
	}
}

// Break ends Serve and refuses what is written until it has ended. It does not block.
func (c *Committer) Break(why error) {
	c.brokenBy.CompareAndSwap(nil, &why)
	select {
	case c.broken <- why:
	default: // a reason waits already
	}
}

// Close takes no more writes, and says why Serve has ended.
func (c *Committer) Close() (why error) {
	c.end(nil)
	return c.why
}

func (c *Committer) end(err error) {
	c.ended.Do(func() {
		c.why = err
		why := error(disk.ErrClosed)
		if err != nil {
			why = fmt.Errorf("%w: %w", disk.ErrClosed, err)
		}
		c.queue.close(why)
	})
}

// commitQueued commits a group of what is queued, if anything is.
func (c *Committer) commitQueued() error {
	o := c.queue.pop()
	if o == nil {
		return nil
	}
	if why := c.brokenBy.Load(); why != nil {
		o.done <- fmt.Errorf("%w: %w", disk.ErrClosed, *why)
		return *why
	}
	c.gather(1)
	g := append(c.group[:0], o)
	err := c.commit(&g)
	c.group, c.before = g[:0], len(g)
	return err
}

// Now commits a group that begins with these, before whatever is queued. Only what Serve calls may
// call it: it does not wait for Serve.
func (c *Committer) Now(fns ...func(engine.Tx) error) (answers []error, err error) {
	if why := c.brokenBy.Load(); why != nil {
		return nil, *why
	}
	var g []*op
	for _, fn := range fns {
		g = append(g, newOp(fn))
	}
	// commit takes the ops out of g as it answers them, and may add others that are queued.
	mine := slices.Clone(g)
	err = c.commit(&g)
	for _, o := range mine {
		answers = append(answers, <-o.done)
	}
	return answers, err
}

// errAgain: an op failed after it had written, so the group is rolled back and tried again without
// it.
var errAgain = errors.New("try the group again")

// commit commits g and whatever else is queued, and answers all of them. An error means that the
// store takes no more writes.
func (c *Committer) commit(g *[]*op) error {
	err := errAgain
	for errors.Is(err, errAgain) || c.roomFor(*g, err) {
		err = c.try(g)
	}
	for i, o := range *g {
		answer := o.err
		if answer == nil {
			answer = err
		}
		// Its memory serves the next group: nothing may be kept alive by it.
		(*g)[i] = nil
		o.done <- answer // from here on it may be another Write's
	}
	// Each writer has been told, and may try again when there is room. Any other error of a commit
	// leaves it open what is on disk.
	if errors.Is(err, disk.ErrDiskFull) || errors.Is(err, disk.ErrDeposed) {
		return nil
	}
	return err
}

// roomFor reports whether there is room now for the orders of a group that has failed with err. Its other ops
// take no part in the next try: they can wait for room, and would use this up.
func (c *Committer) roomFor(g []*op, err error) bool {
	if !errors.Is(err, disk.ErrDiskFull) || !slices.ContainsFunc(g, (*op).waits) || !c.makeRoom(err) {
		return false
	}
	for _, o := range g {
		if !o.order && !o.out {
			o.out, o.err = true, err
		}
	}
	return true
}

// try runs the ops of g, and those that are queued meanwhile and join it, in one transaction, and
// commits it.
func (c *Committer) try(g *[]*op) (err error) {
	t, err := c.begin()
	if err != nil {
		return fmt.Errorf("%w: begin: %w", disk.ErrUnknown, err)
	}
	defer t.Rollback()
	defer func() {
		if r := recover(); r != nil { // bbolt fell over a damaged page
			err = fmt.Errorf("%w: %v", disk.ErrUnknown, r)
		}
	}()
	for i := 0; i < len(*g) || c.takeNext(g, t.Bytes()); i++ {
		if o := (*g)[i]; !o.out {
			if err := o.run(t); err != nil {
				return err
			}
		}
	}
	return t.Commit()
}

// takeNext adds one queued op to the group, if there is one and room for it.
func (c *Committer) takeNext(g *[]*op, size int) bool {
	if len(*g) >= disk.MaxGroupOps || size >= disk.MaxGroupBytes {
		return false
	}
	o := c.queue.pop()
	if o == nil {
		c.gather(len(*g))
		if o = c.queue.pop(); o == nil {
			return false
		}
	}
	*g = append(*g, o)
	return true
}

// gather lets those whom the last group has answered queue what they write next: as long as more
// and more do, and no longer than until the group, which has so many already, is as large as that
// one.
func (c *Committer) gather(have int) {
	// Each turn of the scheduler lets those run that were just answered. It ends with the first
	// turn in which nobody has queued anything.
	for n := -1; have+n < c.before; {
		runtime.Gosched()
		queued := c.queue.len()
		if queued <= n {
			return
		}
		n = queued
	}
}

// run lets the op do its part. A refusal before its first write costs nobody anything; one after it
// asks for a new try.
func (o *op) run(t Group) error {
	var wrote bool
	wrote, o.err = t.Try(o.fn)
	// Not the caller's fault, and the next op would meet the same page: the whole group ends with
	// it.
	if fault, ok := errors.AsType[*pageFault](o.err); ok {
		o.err = nil // answered as all others of the group
		return fmt.Errorf("%w: %w", disk.ErrUnknown, fault)
	}
	if o.err != nil && wrote {
		o.out = true
		return errAgain
	}
	return nil
}

// Call runs fn and turns a panic into its error.
func Call(fn func(engine.Tx) error, t engine.Tx) (err error) {
	defer func() {
		switch r := recover().(type) {
		case nil:
		case interface {
			error
			Addr() uintptr
		}:
			err = &pageFault{r}
		default:
			err = &Panic{value: r, stack: debug.Stack()}
		}
	}()
	return fn(t)
}

// pageFault is a page of the mapped file that could not be read: the disk, not the caller, is at
// fault.
type pageFault struct{ cause error }

func (e *pageFault) Error() string {
	return fmt.Sprintf("a page of the file cannot be read: %v", e.cause)
}

// Panic is the error of an operation that panicked.
type Panic struct {
	value any
	stack []byte
}

func (e *Panic) Error() string { return fmt.Sprintf("panic in a write: %v\n%s", e.value, e.stack) }
