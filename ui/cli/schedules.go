package cli

import (
	"context"
	"fmt"
	"slices"
	"time"

	"github.com/farsight-console/farsight/engine"
)

// Schedules lists what recurs, with the next runs in the schedule's own zone and
// in UTC.
func Schedules(ctx context.Context, c engine.Console, text string, o Out) error {
	page, err := ask[engine.SchedulesPage](ctx, c, engine.SchedulesQuery{})
	if err != nil {
		return err
	}
	rows := slices.DeleteFunc(page.Schedules, func(s engine.ScheduleRow) bool { return !part(text, s.Name) })
	switch {
	case o.JSON:
		return lines(o, rows)
	case len(rows) == 0 && text != "":
		return o.nothing(text, "")
	}
	cols := []column{{title: "SCHEDULE"}, {title: "WHEN"}, {title: "ZONE"}, {title: "NEXT"}, {title: "UTC"}, {title: "MISSED"}, {title: "LAST", flex: true}}
	var out [][]string
	for _, s := range rows {
		out = append(out, scheduleRow(s))
	}
	return o.table(cols, out)
}

func scheduleRow(s engine.ScheduleRow) []string {
	next, utc := "-", "-"
	if len(s.Next) > 0 {
		next, utc = s.Next[0].In(clockOf(s)).Format("Mon 2006-01-02 15:04"), s.Next[0].UTC().Format("15:04")
	}
	if s.Paused {
		next, utc = "paused", "-"
		if s.By.User != "" {
			next += " by " + s.By.User
		}
	}
	return []string{s.Name, plan(s), zoneName(s), next, utc, s.Misfire, lastTick(s)}
}

// plan is when a schedule runs, and whose idea that is if it is not the configuration's.
func plan(s engine.ScheduleRow) string {
	if s.Edit.Expr == "" {
		return s.Expr
	}
	who := "edited"
	if s.Edit.By.User != "" {
		who += " by " + s.Edit.By.User
	}
	said := s.ConfigExpr
	if s.ConfigZone != s.Zone {
		said += " " + s.ConfigZone
	}
	return s.Expr + " (" + who + ", config says " + said + ")"
}

// clockOf is the zone of a schedule. That of the engine's host, and one that this
// machine does not know, is known by its offset alone.
func clockOf(s engine.ScheduleRow) *time.Location {
	if loc, err := time.LoadLocation(s.Zone); err == nil && s.Zone != hostZone {
		return loc
	}
	return time.FixedZone("", s.UTCOffset)
}

// zoneName names a schedule's zone; that of the engine's host says where it is.
func zoneName(s engine.ScheduleRow) string {
	if s.Zone != hostZone {
		return s.Zone
	}
	return hostZone + ", UTC" + time.Unix(0, 0).In(clockOf(s)).Format("-07:00")
}

// hostZone is the zone of the engine's host, whichever that is.
const hostZone = "Local"

// zoneOf is UTC for a zone that this machine does not know.
func zoneOf(name string) *time.Location {
	loc, err := time.LoadLocation(name)
	if err != nil {
		return time.UTC
	}
	return loc
}

// lastTick says what became of the latest tick, whether it ran or not.
func lastTick(s engine.ScheduleRow) string {
	if len(s.Skipped) > 0 && s.Skipped[0].Last.After(s.Last.Planned) {
		t := s.Skipped[0]
		return fmt.Sprintf("%s %s: %s", t.Last.In(clockOf(s)).Format("Jan 2 15:04"), t.Result, t.Reason)
	}
	if s.Last.Planned.IsZero() {
		return "never ran"
	}
	text := fmt.Sprintf("%s ran: %d jobs", s.Last.Planned.In(clockOf(s)).Format("Jan 2 15:04"), s.Last.Jobs)
	if s.Outcome != "" {
		text += ", the first is " + s.Outcome
	}
	if s.Last.Reason != "" {
		text += "; " + s.Last.Reason
	}
	return text
}
