package ingest

import (
	"context"
	"fmt"

	"github.com/farsight-console/farsight/engine"
	"github.com/farsight-console/farsight/engine/league"
	"github.com/farsight-console/farsight/riot"
	"github.com/farsight-console/farsight/riot/route"
)

// fetchTimeline is the handler of timeline.fetch.
func (in *Ingest) fetchTimeline(ctx context.Context, r engine.Run) engine.Outcome {
	args, err := decode[fetchArgs](r.Job)
	if err != nil {
		return badArgs(err)
	}
	m, err := in.loadMatch(ctx, args.Match)
	switch {
	case err != nil:
		return storageFault(err)
	case m.Timeline.Status.Settled():
		return engine.Done(nil)
	case in.opt.Timelines.Expired(m.Played, now()):
		return engine.Done(func(tx engine.Tx) error { return in.expireTimeline(tx, args.Match) })
	}
	ref, stat, o, ok := in.obtainTimeline(ctx, r, m, args)
	if !ok {
		return o
	}
	return engine.Done(func(tx engine.Tx) error { return in.storeTimeline(tx, args.Match, ref) }).With(stat)
}

// obtainTimeline adopts or fetches, as obtainMatch does. A timeline lies in the
// shard of its match.
func (in *Ingest) obtainTimeline(ctx context.Context, r engine.Run, m league.Match, args fetchArgs) (ref league.PayloadRef, stat engine.CallStat, o engine.Outcome, ok bool) {
	if in.again(r.Job, m.Timeline) {
		if got, ok := adopt(ctx, in.store, args.Match, league.PartTimeline, riot.ReadTimeline); ok {
			return got.ref, engine.CallStat{Bytes: got.ref.Size}, o, true
		}
	}
	at, region, err := fetchLane(args.Match, route.Timeline)
	if err != nil {
		return ref, stat, badArgs(err), false
	}
	a := attempt{in: in, run: r, at: at, region: region, missing: in.disbelief(r.Job, args)}
	var got riot.Timeline
	o, ok = a.call(ctx, func(ctx context.Context) (err error) {
		got, err = in.api.Timeline(ctx, region, args.Match)
		return err
	})
	if !ok {
		return ref, a.stat, o, false
	}
	ref = refOf(got.Payload, shardOf(m))
	if err := in.store.PutPayload(ctx, args.Match, league.PartTimeline, ref, got.Body); err != nil {
		return ref, a.stat, storageFault(fmt.Errorf("store timeline %s: %w", args.Match, err)).With(a.stat), false
	}
	return ref, a.stat, o, true
}

func shardOf(m league.Match) string {
	switch {
	case m.Match.Ref.Month != "":
		return m.Match.Ref.Month
	case !m.Played.IsZero():
		return m.Played.UTC().Format("2006-01")
	}
	return now().Format("2006-01")
}

func (in *Ingest) storeTimeline(tx engine.Tx, id string, ref league.PayloadRef) error {
	return in.changeTimeline(tx, id, func(f *league.Fetch) { succeed(f, ref) })
}

func (in *Ingest) expireTimeline(tx engine.Tx, id string) error {
	return in.changeTimeline(tx, id, func(f *league.Fetch) { f.Status = league.OutsideRetentionWindow })
}

// changeTimeline edits the timeline of a match, unless it was settled meanwhile.
func (in *Ingest) changeTimeline(tx engine.Tx, id string, edit func(*league.Fetch)) error {
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
