package ingest

import (
	"cmp"

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
func argsOfPrune(cron.Tick) any   { return noArgs{} }

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
	if in.opt.Prune != nil {
		upkeep = append(upkeep, cron.Spec{Name: "prune", Expr: cronPrune, Zone: c.Zone, Misfire: cron.Once,
			Fire: fireUpkeep(KindPrune, argsOfPrune)})
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
