package app

import (
	"context"
	"fmt"

	"github.com/farsight-console/farsight/engine"
	"github.com/farsight-console/farsight/engine/league"
	"github.com/farsight-console/farsight/storage"
)

// rawPayload reads Riot's JSON of a stored match or timeline.
func rawPayload(ctx context.Context, db *storage.DB, match string, part league.Part) ([]byte, error) {
	var m league.Match
	err := db.Read(ctx, func(tx engine.Tx) (err error) {
		m, err = db.Match(tx, match)
		return err
	})
	if err != nil {
		return nil, fmt.Errorf("%s payload of %s: %w", part, match, err)
	}
	ref := m.Match.Ref
	if part == league.PartTimeline {
		ref = m.Timeline.Ref
	}
	raw, err := db.Payloads().Raw(match, part, ref)
	if err != nil {
		return nil, fmt.Errorf("%s payload of %s: %w", part, match, err)
	}
	return raw, nil
}

// payloadsOf lets a console give out Riot's JSON.
func payloadsOf(db *storage.DB) func(context.Context, engine.PayloadQuery) ([]byte, error) {
	return func(ctx context.Context, q engine.PayloadQuery) ([]byte, error) {
		part := league.PartMatch
		if q.Timeline {
			part = league.PartTimeline
		}
		return rawPayload(ctx, db, q.Match, part)
	}
}
