package ingest

import (
	"cmp"
	"context"
	"slices"

	"github.com/farsight-console/farsight/engine"
	"github.com/farsight-console/farsight/engine/cron"
)

// fireUpkeep inserts one job of a kind. The kind is its key: while the last one is live a tick adds
// none.
func fireUpkeep(kind engine.Kind, args func(cron.Tick) any) cron.Fire {
	return cron.Insert(func(t cron.Tick) []engine.Spec {
		return []engine.Spec{{Kind: kind, Queue: QueueUpkeep, Key: string(kind), Args: encode(args(t))}}
	})
}

func argsOfSweep(t cron.Tick) any { return sweepArgs{Every: t.Every} }
func argsOfStore(cron.Tick) any   { return noArgs{} }

// SchedulesConfig says when what recurs.
type SchedulesConfig struct {
	Off                  bool   // SCHEDULE_ENABLE=false: only the upkeep of the store goes on
	Latest, Rank, Weekly string // cron expressions
	Sweep                string // likewise; "" = CronSweep
	Zone                 string // IANA name; "" = UTC, "Local" = the host's
}

// Defaults of SchedulesConfig (S4-13, S0-5).
const (
	CronLatest = "0 */1 * * *"
	CronRank   = "0 3 * * *"
	CronWeekly = "0 4 * * 1"
	CronSweep  = "17 * * * *" // off the full hour, when `latest` starts
	cronPrune  = "40 4 * * *"
	// behind what is built at night; months are closed a week after their end
	cronCompact = "20 5 * * *"
)

// Schedules that make calls: Forecast knows them by these names.
const (
	scheduleLatest = "latest"
	scheduleRank   = "rank.daily"
)

// Schedules are what recurs: the hourly latest, the daily ranks, the weekly
// report, and the upkeep of the store. Whatever was missed while nobody ran is
// made up for once; a sweep has nothing to make up for.
func (in *Ingest) Schedules(c SchedulesConfig) []cron.Spec {
	in.plan = c
	upkeep := []cron.Spec{
		{Name: "sweep", Expr: cmp.Or(c.Sweep, CronSweep), Zone: c.Zone, Misfire: cron.Skip,
			Fire: fireUpkeep(KindSweep, argsOfSweep)},
	}
	for _, care := range in.storeCares() {
		upkeep = append(upkeep, cron.Spec{Name: string(care.kind), Expr: care.expr, Zone: c.Zone, Misfire: cron.Once,
			Fire: fireUpkeep(care.kind, argsOfStore)})
	}
	if c.Off {
		return upkeep
	}
	return append([]cron.Spec{
		{Name: scheduleLatest, Expr: c.Latest, Zone: c.Zone, Misfire: cron.Once, Fire: in.fireLatest},
		{Name: scheduleRank, Expr: c.Rank, Zone: c.Zone, Misfire: cron.Once, Fire: in.fireRanks},
		{Name: "report.weekly", Expr: c.Weekly, Zone: c.Zone, Misfire: cron.Once, Fire: in.fireWeekly},
	}, upkeep...)
}

// storeCare is what a schedule does for the store, and says in words.
type storeCare struct {
	kind engine.Kind
	expr string
	do   func(context.Context) (done string, err error)
}

// storeCares are those that somebody does: old ended jobs are deleted, of which the store knows what still needs them
// (P-33), and closed months archived.
func (in *Ingest) storeCares() []storeCare {
	all := []storeCare{{KindPrune, cronPrune, in.opt.Prune}, {KindCompact, cronCompact, in.opt.Compact}}
	return slices.DeleteFunc(all, func(c storeCare) bool { return c.do == nil })
}
