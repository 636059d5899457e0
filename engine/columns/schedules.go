package columns

import (
	"cmp"
	"fmt"
	"strings"
	"time"

	"github.com/farsight-console/farsight/engine"
	"github.com/farsight-console/farsight/engine/filter"
	"github.com/farsight-console/farsight/engine/human"
	"github.com/farsight-console/farsight/engine/table"
	"github.com/farsight-console/farsight/themes"
)

type schedule = engine.ScheduleRow

// Schedules is what is told of what runs by the calendar.
//
//	SCHEDULE  WHEN         ZONE  NEXT                  UTC    MISSED  LAST
//	latest    0 */1 * * *  UTC   Fri 2026-11-20 13:00  13:00  once    Nov 20 12:00 ran: 12 jobs
var Schedules = catalogue(filter.Options{Free: []string{"name", "cron", "zone"}, Fuzzy: []string{"name"}},
	name("name", "", func(r *schedule) string { return r.Name }).head("SCHEDULE", table.Words, 22, 22).rising(),
	prose("cron", "", func(r *schedule) string { return r.Expr }).head("WHEN", table.Words, 23, 32).drop(3).
		line("", table.Words, 0).prints(plan).
		cell(func(_ Pen, r *schedule) table.Cell {
			if r.Edit.Expr != "" {
				return table.As(themes.Accent, When(r.Expr)+" (edited)")
			}
			return table.Plain(When(r.Expr))
		}),
	name("zone", "", func(r *schedule) string { return r.Zone }).head("ZONE", table.Words, 12, 18).drop(5).
		colour(themes.Dim).rising().says(ZoneOf).prints(zoneName),
	yesNo("paused", "", func(r *schedule) bool { return r.Paused }).head("STATE", table.State, 11, 11).
		cell(func(p Pen, r *schedule) table.Cell {
			if r.Paused {
				return p.State("PAUSED")
			}
			return p.State("SCHEDULED")
		}),
	yesNo("edited", "", func(r *schedule) bool { return r.Edit.Expr != "" }),
	ahead("next", "", nextRun).head("NEXT IN", table.Number, 7, 7).rising().unasked().line("NEXT", table.Words, 0).
		prints(nextLocal).
		cell(func(p Pen, r *schedule) table.Cell {
			if r.Paused {
				return table.As(themes.Off, p.In(nextRun(r)))
			}
			return table.Plain(p.In(nextRun(r)))
		}),
	past("next_at", "", nextRun).head("AT", table.Words, 12, 12).drop(4).colour(themes.Dim).unasked().
		line("UTC", table.Words, 0).
		prints(func(r *schedule) string {
			if len(r.Next) == 0 || r.Paused {
				return "-"
			}
			return r.Next[0].UTC().Format("15:04")
		}),
	past("last", "", func(r *schedule) time.Time { return r.Last.At }).head("LAST RUN", table.Words, 12, 12).drop(4).
		colour(themes.Dim).greatestFirst().unasked(),
	shown[schedule]("result").head("WHAT BECAME OF IT", table.Sentence, 18, 40).drop(1).cell(LastRun).
		line("LAST", table.Words, 1).prints(lastTick),
	shown[schedule]("misfire").head("IF MISSED", table.Words, 9, 18).drop(6).colour(themes.Dim).
		says(func(r *schedule) string { return r.Misfire }).
		line("MISSED", table.Words, 0).prints(func(r *schedule) string { return r.Misfire }),
)

// Where schedules are shown, with the columns in their order.
var (
	ScheduleList  = Schedules.Pick("name paused cron zone next next_at last result misfire")
	ScheduleLines = Schedules.Pick("name cron zone next next_at misfire result")
)

// HostZone is the zone of the engine's host, whichever that is.
const HostZone = "Local"

// nextRun is when a schedule runs next; zero = never. A paused one has a next run, too, which will pass.
func nextRun(r *schedule) (at time.Time) {
	if len(r.Next) > 0 {
		at = r.Next[0]
	}
	return at
}

// nextLocal is the next run in the schedule's own zone. A paused one has a next tick, which will pass
// without a run.
func nextLocal(r *schedule) string {
	switch {
	case r.Paused:
		return "paused" + ByUser(r.By)
	case len(r.Next) == 0:
		return "-"
	}
	return r.Next[0].In(clockOf(r)).Format("Mon 2006-01-02 15:04")
}

// plan is when a schedule runs, and whose idea that is if it is not the configuration's.
func plan(r *schedule) string {
	if r.Edit.Expr == "" {
		return r.Expr
	}
	said := r.ConfigExpr
	if r.ConfigZone != r.Zone {
		said += " " + r.ConfigZone
	}
	return r.Expr + " (edited" + ByUser(r.Edit.By) + ", config says " + said + ")"
}

// ZoneOf names the zone of a schedule; one that goes by the clock of the engine's
// host says how far that is from UTC.
func ZoneOf(r *schedule) string {
	if r.Zone != HostZone || len(r.Next) == 0 {
		return r.Zone
	}
	return "local " + r.Next[0].In(time.FixedZone("", r.UTCOffset)).Format("-07:00")
}

// zoneName names a schedule's zone; that of the engine's host says where it is.
func zoneName(r *schedule) string {
	if r.Zone != HostZone {
		return r.Zone
	}
	return HostZone + ", UTC" + time.Unix(0, 0).In(clockOf(r)).Format("-07:00")
}

// clockOf is the zone of a schedule. That of the engine's host, and one that this
// machine does not know, is known by its offset alone.
func clockOf(r *schedule) *time.Location {
	if loc, err := time.LoadLocation(r.Zone); err == nil && r.Zone != HostZone {
		return loc
	}
	return time.FixedZone("", r.UTCOffset)
}

// LastRun is what became of a schedule's last run.
func LastRun(p Pen, r *schedule) table.Cell {
	t := r.Last
	switch t.Result {
	case "":
		return table.As(themes.Dim, "never ran")
	case engine.TickRan:
		return p.Sign(cmp.Or(strings.ToUpper(r.Outcome), "OK"),
			cmp.Or(r.Outcome, "ran")+", "+human.Counted(t.Jobs, "job", "jobs"))
	}
	return table.As(themes.Warn, string(t.Result)+": "+t.Reason)
}

// lastTick says what became of the latest tick, whether it ran or not. A tick that was skipped or
// missed after the last run is what a person wants to know of.
func lastTick(r *schedule) string {
	if len(r.Skipped) > 0 && r.Skipped[0].Last.After(r.Last.Planned) {
		t := r.Skipped[0]
		return fmt.Sprintf("%s %s: %s", t.Last.In(clockOf(r)).Format("Jan 2 15:04"), t.Result, t.Reason)
	}
	if r.Last.Planned.IsZero() {
		return "never ran"
	}
	text := r.Last.Planned.In(clockOf(r)).Format("Jan 2 15:04") + " ran: " + human.Counted(r.Last.Jobs, "job", "jobs")
	if r.Outcome != "" {
		text += human.Either(r.Last.Jobs == 1, ", which is ", ", the first is ") + r.Outcome
	}
	if r.Last.Reason != "" {
		text += "; " + r.Last.Reason
	}
	return text
}
