package ingest

import (
	"context"
	"fmt"

	"github.com/farsight-console/farsight/engine"
	"github.com/farsight-console/farsight/engine/league"
	"github.com/farsight-console/farsight/engine/traffic"
	"github.com/farsight-console/farsight/riot"
	"github.com/farsight-console/farsight/riot/route"
)

// fetchTimeline is the handler of timeline.fetch.
func (in *fetches) fetchTimeline(ctx context.Context, r engine.Run) engine.Outcome {
	args, err := decode[fetchArgs](r.Job)
	if err != nil {
		return badArgs(err)
	}
	m, err := in.loadMatch(ctx, args.Match)
	switch {
	case err != nil:
		return traffic.Fault(err)
	case m.Timeline.Status.Settled():
		return engine.Done(nil)
	case in.opt.Timelines.Expired(m.Played, now()):
		return engine.Done(func(tx engine.Tx) error {
			return in.changeTimeline(tx, args.Match, func(f *league.Fetch) { f.Status = league.OutsideRetentionWindow })
		})
	}
	got, o, ok := obtain(ctx, in, r, m.Timeline, args, source[riot.Timeline]{
		part: league.PartTimeline, method: route.Timeline, fetch: in.api.Timeline, read: riot.ReadTimeline,
		payload: func(got riot.Timeline) (riot.Payload, string) { return got.Payload, shardOf(m) },
	})
	if !ok {
		return o
	}
	return engine.Done(func(tx engine.Tx) error {
		return in.changeTimeline(tx, args.Match, func(f *league.Fetch) { succeed(f, got.ref) })
	}).With(o.Call)
}

// shardOf is the shard of a timeline: that of its match.
func shardOf(m league.Match) string {
	switch {
	case m.Match.Ref.Month != "":
		return m.Match.Ref.Month
	case !m.Played.IsZero():
		return m.Played.UTC().Format("2006-01")
	}
	return now().Format("2006-01")
}

// changeTimeline edits the timeline of a match, unless it was settled meanwhile.
func (in *fetches) changeTimeline(tx engine.Tx, id string, edit func(*league.Fetch)) error {
	m, err := in.store.Match(tx, id)
	if err != nil {
		return fmt.Errorf("load match %s: %w", id, err)
	}
	if m.Timeline.Status.Settled() {
		return nil
	}
	edit(&m.Timeline)
	if err := in.store.SaveMatch(tx, m, false); err != nil {
		return fmt.Errorf("save match %s: %w", id, err)
	}
	return nil
}
