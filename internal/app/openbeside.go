package app

import (
	"context"
	"errors"
	"time"

	"github.com/farsight-console/farsight/internal/config"
	"github.com/farsight-console/farsight/internal/swap"
)

// openPatience is how long a console waits for the data directory before it shows
// itself without. A store of a million matches takes half a second to prove and to
// open; the first frame may not.
const openPatience = 120 * time.Millisecond

// ownEngine is the engine of a console, which may still be opening its directory
// while the console is there already.
type ownEngine struct {
	con     *swap.Console
	settled chan struct{} // closed when the engine runs, or cannot
	running *engineTask   // after settled; nil if there is none
	err     error         // after settled: why
}

// openBeside opens the data directory and starts the engine in the background.
// ended is called when the engine stops, or cannot start.
func openBeside(ctx context.Context, cfg config.Config, a assembly, ended func()) *ownEngine {
	o := &ownEngine{con: swap.New(false), settled: make(chan struct{})}
	// What the console shows until then, in the place of an engine's state.
	o.con.Down("opening " + storeName(cfg))
	go func() {
		defer close(o.settled)
		if o.err = o.begin(ctx, cfg, a, ended); o.err != nil {
			ended()
		}
	}()
	return o
}

// begin opens the store and the sockets and lets the engine run. With the first error all is closed
// again.
func (o *ownEngine) begin(ctx context.Context, cfg config.Config, a assembly, ended func()) error {
	p, err := join(cfg, a)
	if err != nil {
		return err
	}
	if err := p.open(cfg); err != nil {
		return errors.Join(err, p.close())
	}
	o.running = p.start(ctx, ended)
	o.con.Up(p.front)
	return nil
}

// soon waits for a small store, which is there at once, and so is what is wrong with
// it: no screen comes up for a sentence. The error says why there will be no engine.
func (o *ownEngine) soon() error {
	select {
	case <-o.settled:
		return o.err
	case <-time.After(openPatience):
		return nil
	}
}

// task waits until the engine runs. The error says why it cannot.
func (o *ownEngine) task() (*engineTask, error) {
	<-o.settled
	return o.running, o.err
}

// stack keeps the stack of a console that fell in the engine's log.
func (o *ownEngine) stack(message, stack string) {
	if t, err := o.task(); err == nil {
		logStack(t.log)(message, stack)
	}
}

// ledNow reports whether somebody leads the members that share a database.
func ledNow(ctx context.Context, cfg config.Config) bool {
	db, err := openStored(cfg)
	if err != nil {
		return false
	}
	// A data directory has no members, and one process that works on it does not lead.
	leads := false
	if members := membersOf(db, ""); members != nil {
		page, err := members(ctx)
		leads = err == nil && page.Leader != ""
	}
	return db.Close() == nil && leads
}

// asGuest joins the members that share a database for as long as f takes: one that looks on and gives
// orders, as long as the assembly says.
func asGuest(ctx context.Context, cfg config.Config, a assembly, f func(context.Context, *base) error) error {
	p, err := join(cfg, a)
	if err != nil {
		return err
	}
	watching, done := context.WithCancel(ctx)
	defer done()
	t := p.start(ctx, done)
	return errors.Join(f(watching, p), t.stop())
}
