package fleet

import (
	"context"
	"errors"

	"github.com/farsight-console/farsight/engine"
	"github.com/farsight-console/farsight/storage/pg"
)

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
