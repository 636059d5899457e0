package ingest

import (
	"time"

	"github.com/farsight-console/farsight/engine"
	"github.com/farsight-console/farsight/engine/wall"
)

// Kinds of jobs.
const (
	// Stored jobs name them: a kind that is renamed leaves jobs that nobody handles.
	KindSync     engine.Kind = "account.sync"
	KindMatch    engine.Kind = "match.fetch"
	KindTimeline engine.Kind = "timeline.fetch"
	KindRank     engine.Kind = "rank.fetch"
	KindWeekly   engine.Kind = "report.weekly"
	KindResolve  engine.Kind = "account.resolve"
	KindSweep    engine.Kind = "sweep"
	KindPrune    engine.Kind = "prune"
	KindCompact  engine.Kind = "compact"
	kindCollect  engine.Kind = "collect"
)

// Queues (S4-1). The children of a sync run in its queue; what keeps the store
// itself in order has one of its own.
const (
	QueueLatest engine.Queue = "ingest.summoner.latest"
	QueueFull   engine.Queue = "ingest.summoner.full"
	QueueRank   engine.Queue = "ingest.rank.daily"
	QueueWeekly engine.Queue = "report.weekly"
	QueueUpkeep engine.Queue = "upkeep"
)

// Modes of a sync.
const (
	ModeFull   = "full"
	ModeLatest = "latest"
)

// Results of a run.
const (
	resultCompleted  = "completed"
	resultIncomplete = "incomplete"
	resultFailed     = "failed"
	resultCancelled  = "cancelled"
)

// now is the wall clock as rows keep it.
func now() time.Time { return wall.Now() }
