package control

import (
	"context"

	"github.com/farsight-console/farsight/engine"
)

// Finder answers queries of a domain that the console itself knows nothing of.
type Finder interface {
	// Find answers q; known is false when it is not one of the domain's.
	Find(ctx context.Context, q engine.Query) (a engine.Answer, known bool, err error)
}

// Domain is a Finder that carries out the domain's own commands, too.
type Domain interface {
	Finder
	// Do carries out cmd, or with DryRun says what it would cost; known is false when
	// it is not one of the domain's.
	Do(ctx context.Context, cmd engine.Command) (r engine.Receipt, known bool, err error)
}

// Domain lets the console of stored data answer the queries of a domain.
func (b *Browse) Domain(d Finder) *Browse {
	b.domain = d
	return b
}

// elsewhere asks the domain.
func (f finder) elsewhere(ctx context.Context, q engine.Query) (engine.Answer, error) {
	if f.domain != nil {
		if a, known, err := f.domain.Find(ctx, q); known {
			return wrap(a, err)
		}
	}
	return nil, engine.Problemf(engine.ErrInvalid, "", "this console does not know the query %T", q)
}

// inDomain is a command of the domain.
func (c *Control) inDomain(ctx context.Context, cmd engine.Command) (engine.Receipt, error) {
	if c.opt.Domain != nil {
		if r, known, err := c.opt.Domain.Do(ctx, cmd); known {
			return r, err
		}
	}
	return engine.Receipt{}, engine.Problemf(engine.ErrInvalid, "", "this Farsight does not know the command %q", cmd.Op)
}
