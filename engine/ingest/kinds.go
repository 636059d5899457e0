package ingest

import (
	"github.com/farsight-console/farsight/engine"
	"github.com/farsight-console/farsight/engine/league"
)

// Kinds are the job kinds that this package handles. What nobody
// does for the store (Options.Prune, Options.Compact) has no kind.
func (in *Ingest) Kinds() []engine.KindSpec {
	kinds := []engine.KindSpec{
		{Kind: KindSync, Policy: engine.PolicyIngest, Timeout: attemptTimeout, Handler: in.sync, OnMove: in.playerMoved(in.syncMoved),
			OnUndo: in.syncUndone},
		{Kind: KindMatch, Policy: engine.PolicyMatch, Timeout: attemptTimeout, Handler: in.fetchMatch,
			OnMove: in.partMoved(league.PartMatch), OnUndo: in.partUndone(league.PartMatch)},
		{Kind: KindTimeline, Policy: engine.PolicyMatch, Timeout: attemptTimeout, Handler: in.fetchTimeline,
			OnMove: in.partMoved(league.PartTimeline), OnUndo: in.partUndone(league.PartTimeline)},
		{Kind: KindRank, Policy: engine.PolicyIngest, Timeout: attemptTimeout, Handler: in.fetchRank},
		{Kind: KindWeekly, Policy: engine.PolicyIngest, Timeout: attemptTimeout, Handler: in.buildWeekly},
		{Kind: KindResolve, Policy: engine.PolicyIngest, Timeout: attemptTimeout, Handler: in.resolveAgain},
		{Kind: kindCollect, Policy: engine.PolicyIngest, Timeout: attemptTimeout, Handler: in.collect, OnMove: in.collectMoved},
		{Kind: KindSweep, Policy: engine.PolicyIngest, Timeout: attemptTimeout, Handler: in.sweep},
	}
	for _, care := range in.storeCares() {
		kinds = append(kinds, engine.KindSpec{Kind: care.kind, Policy: engine.PolicyIngest, Handler: in.careFor(care.do)})
	}
	return kinds
}
