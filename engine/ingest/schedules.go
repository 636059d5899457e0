package ingest

import (
	"github.com/farsight-console/farsight/engine"
	"github.com/farsight-console/farsight/engine/cron"
)

// fireUpkeep inserts one job of a kind without arguments.
func fireUpkeep(kind engine.Kind) cron.Fire {
	return cron.Insert(func(cron.Tick) []engine.Spec {
		return []engine.Spec{{Kind: kind, Queue: QueueUpkeep, Key: string(kind), Args: encode(noArgs{})}}
	})
}

// SchedulesConfig says when what recurs.
type SchedulesConfig struct {
	Off                  bool   // SCHEDULE_ENABLE=false: only the upkeep of the store goes on
	Latest, Rank, Weekly string // cron expressions
	Zone                 string // IANA name; "" = UTC, "Local" = the host's
}

// Defaults of SchedulesConfig (S4-13).
const (
	CronLatest = "0 */1 * * *"
	CronRank   = "0 3 * * *"
	CronWeekly = "0 4 * * 1"
	cronSweep  = "17 * * * *" // off the full hour, when `latest` starts
	cronPrune  = "40 4 * * *"
)

// Schedules that make calls.
const (
	scheduleLatest = "latest"
	scheduleRank   = "rank.daily"
)

// Schedules are what recurs: the hourly latest, the daily ranks, the weekly
// report, and the upkeep of the store. Whatever was missed while nobody ran is
// made up for once; a sweep has nothing to make up for.
func (in *Ingest) Schedules(c SchedulesConfig) []cron.Spec {
	upkeep := []cron.Spec{
		{Name: "sweep", Expr: cronSweep, Zone: c.Zone, Misfire: cron.Skip, Fire: fireUpkeep(KindSweep)},
	}
	if in.opt.Prune != nil {
		upkeep = append(upkeep, cron.Spec{Name: "prune", Expr: cronPrune, Zone: c.Zone, Misfire: cron.Once, Fire: fireUpkeep(KindPrune)})
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
