package control

import (
	"context"

	"github.com/farsight-console/farsight/engine"
)

// payload gives Riot's JSON of a match or a timeline, byte for byte as it came.
func (f finder) payload(ctx context.Context, q engine.PayloadQuery) (p engine.Payload, err error) {
	if f.payloads == nil {
		return p, engine.Problemf(engine.ErrInvalid, "", "this console cannot read payloads")
	}
	p.JSON, err = f.payloads(ctx, q)
	return p, err
}
