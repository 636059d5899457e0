package cli

import (
	"context"
	"slices"
	"time"

	"github.com/farsight-console/farsight/engine"
	"github.com/farsight-console/farsight/engine/columns"
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
	return list(o, columns.ScheduleLines, rows)
}

// zoneOf is UTC for a zone that this machine does not know.
func zoneOf(name string) *time.Location {
	loc, err := time.LoadLocation(name)
	if err != nil {
		return time.UTC
	}
	return loc
}
