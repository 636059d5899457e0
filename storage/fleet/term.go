package fleet

import (
	"context"
	"errors"
	"sync"
	"time"

	"github.com/farsight-console/farsight/engine"
	"github.com/farsight-console/farsight/storage/pg"
)

// Term is the time for which a member leads.
type Term struct {
	Epoch int64
	// Within ends with the term, with pg.ErrDeposed, or once Lead has returned: a Lead that returns in order because its
	// process ends still writes.
	Within context.Context

	mu    sync.Mutex
	until time.Time // by this process's stopwatch
	timer *time.Timer

	lead  context.Context // of Lead
	stop  context.CancelCauseFunc
	over  context.CancelCauseFunc
	ended chan error
	done  context.Context // ends when Lead has returned
}

// errTaken ends a term for one task, which nobody takes up where it was.
var errTaken = errors.New("another leads now")

// newTerm begins to lead until an instant, which is extended with each renewal.
//
// Lead has a context of its own, which ends with the term and with that of Run.
func newTerm(run context.Context, epoch int64, until time.Time, lead func(context.Context, *Term) error) *Term {
	ctx, stop := context.WithCancelCause(run)
	done, over := context.WithCancel(context.Background())
	within, gone := context.WithCancelCause(context.Background())
	t := &Term{Epoch: epoch, Within: within, until: until, lead: ctx, stop: stop, over: gone,
		ended: make(chan error, 1), done: done}
	t.mu.Lock() // end may be due already
	t.timer = time.AfterFunc(time.Until(until), t.End)
	t.mu.Unlock()
	go func() {
		defer over()
		defer gone(pg.ErrDeposed)
		err := lead(ctx, t)
		// What fails after the end of the term follows from that, such as "context canceled". One that
		// has stood still meets connections that the server has cut before it is told of the end.
		if err != nil && !errors.Is(err, errTaken) && (errors.Is(context.Cause(ctx), pg.ErrDeposed) || !t.Held()) {
			err = pg.ErrDeposed
		}
		t.ended <- err
	}()
	return t
}

// Held reports whether the term goes on, for what is not written: a call to Riot must not be made
// when another leads already. A process that has stood still does not know it before it asks.
func (t *Term) Held() bool { return time.Now().Before(t.Until()) }

// Until is how long the term lasts if it is not renewed, by this process's stopwatch; the zero time
// when it has ended.
func (t *Term) Until() time.Time {
	t.mu.Lock()
	defer t.mu.Unlock()
	return t.until
}

// Over is closed when the term has ended, or its task.
func (t *Term) Over() <-chan struct{} { return t.lead.Done() }

// extend lets the term last until an instant, if it has not ended.
func (t *Term) extend(until time.Time) {
	t.mu.Lock()
	defer t.mu.Unlock()
	if time.Now().Before(t.until) {
		t.until = until
		t.timer.Reset(time.Until(until))
	}
}

// End tells Lead to return. It may come more than once, from the stopwatch, from Run, and from a store that has refused
// what was written within.
func (t *Term) End() {
	t.mu.Lock()
	t.until = time.Time{}
	t.timer.Stop()
	t.mu.Unlock()
	t.stop(pg.ErrDeposed)
	t.over(pg.ErrDeposed)
}

// Take leads for one task, such as a command, if nobody else does: else it gives *storage.ErrHeld,
// which says who. release ends the term, and must be called.
func Take(ctx context.Context, db *pg.DB, o Options) (t *Term, release func() error, err error) {
	run, stop := context.WithCancel(context.WithoutCancel(ctx))
	terms, held, done := make(chan *Term, 1), make(chan struct{}, 1), make(chan error, 1)
	o.Lead = func(ctx context.Context, t *Term) error {
		terms <- t
		<-ctx.Done()
		if run.Err() == nil {
			return errTaken
		}
		return nil
	}
	var first engine.MemberRow
	o.OnLook = func(v engine.MembersPage) {
		at := v.Of(v.Leader)
		switch {
		case at.ID == "" || at.ID == o.ID:
		case at.ID != first.ID:
			first = at
		case at.Seen.After(first.Seen): // it lives; of one that is gone the term ends soon
			select {
			case held <- struct{}{}:
			default:
			}
		}
	}
	go func() { done <- Run(run, db, o) }()
	release = func() error { stop(); return <-done }
	select {
	case t = <-terms:
		return t, release, nil
	case err = <-done:
		stop()
		return nil, nil, err
	case <-ctx.Done():
		err = context.Cause(ctx)
	case <-held:
		if err = db.Holder(ctx); err == nil {
			err = errTaken // until just now
		}
	}
	return nil, nil, errors.Join(err, release())
}
