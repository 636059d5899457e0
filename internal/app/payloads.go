package app

import (
	"context"

	"github.com/farsight-console/farsight/engine"
	"github.com/farsight-console/farsight/engine/league"
)

// payloadsOf lets a console give out Riot's JSON.
func payloadsOf(db store) func(context.Context, engine.PayloadQuery) ([]byte, error) {
	return func(ctx context.Context, q engine.PayloadQuery) ([]byte, error) {
		part := league.PartMatch
		if q.Timeline {
			part = league.PartTimeline
		}
		return db.Raw(ctx, q.Match, part)
	}
}
