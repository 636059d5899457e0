package control

import (
	"context"
	"errors"

	"github.com/farsight-console/farsight/engine"
)

func (f finder) payload(ctx context.Context, q engine.PayloadQuery) (engine.Answer, error) {
	if f.payloads == nil {
		return nil, engine.Problemf(engine.ErrInvalid, "", "this console cannot read payloads")
	}
	raw, err := f.payloads(ctx, q)
	if errors.Is(err, engine.ErrNotFound) {
		return nil, engine.Problemf(engine.ErrNotFound, "", "%v", err)
	}
	return wrap(engine.Payload{JSON: raw}, err)
}
