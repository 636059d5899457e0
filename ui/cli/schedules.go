package cli

import (
	"context"
	"fmt"
	"time"

	"github.com/farsight-console/farsight/engine"
)

// Schedules lists what recurs, with the next runs in the schedule's own zone and
// in UTC.
func Schedules(ctx context.Context, c engine.Console, o Out) error {
	a, err := c.Find(ctx, engine.SchedulesQuery{})
	if err != nil {
		return err
	}
	page := a.(engine.SchedulesPage)
	if o.JSON {
		for _, row := range page.Schedules {
			if err := JSON(o, row); err != nil {
				return err
			}
		}
		return nil
	}
	cols := []column{{title: "SCHEDULE"}, {title: "WHEN"}, {title: "ZONE"}, {title: "NEXT"}, {title: "UTC"}, {title: "MISSED"}, {title: "LAST", flex: true}}
	var rows [][]string
	for _, s := range page.Schedules {
		rows = append(rows, scheduleRow(s))
	}
	return o.table(cols, rows)
}

func scheduleRow(s engine.ScheduleRow) []string {
	next, utc := "-", "-"
	if len(s.Next) > 0 {
		next, utc = s.Next[0].In(zoneOf(s.Zone)).Format("Mon 2006-01-02 15:04"), s.Next[0].UTC().Format("15:04")
	}
	if s.Paused {
		next, utc = "paused", "-"
		if s.By.User != "" {
			next += " by " + s.By.User
		}
	}
	return []string{s.Name, s.Expr, s.Zone, next, utc, s.Misfire, lastTick(s)}
}

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
		return fmt.Sprintf("%s %s: %s", t.Last.In(zoneOf(s.Zone)).Format("Jan 2 15:04"), t.Result, t.Reason)
	}
	if s.Last.Planned.IsZero() {
		return "never ran"
	}
	text := fmt.Sprintf("%s ran: %d jobs", s.Last.Planned.In(zoneOf(s.Zone)).Format("Jan 2 15:04"), s.Last.Jobs)
	if s.Outcome != "" {
		text += ", the first is " + s.Outcome
	}
	if s.Last.Reason != "" {
		text += "; " + s.Last.Reason
	}
	return text
}
