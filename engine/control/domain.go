package control

import (
	"context"

	"github.com/farsight-console/farsight/engine"
)

// elsewhere asks the domain. It comes last: a domain cannot take a query over that the console answers.
func (f finder) elsewhere(ctx context.Context, q engine.Query) (engine.Answer, error) {
	if f.domain != nil {
		if a, known, err := f.domain.Find(ctx, q); known {
			return a, err
		}
	}
	return nil, engine.Problemf(engine.ErrInvalid, "", "this console does not know the query %T", q)
}
