package cli

import (
	"errors"
	"fmt"
	"time"

	"github.com/farsight-console/farsight/engine"
	"github.com/farsight-console/farsight/engine/columns"
	"github.com/farsight-console/farsight/engine/human"
)

// Weekly prints the report of the week that holds a day, written as 2026-11-16; ""
// = the latest that is stored.
func Weekly(week string) List {
	return answered(engine.WeeklyQuery{Week: week}, weekly).otherwise(func(_ Out, err error) error {
		if week == "" && errors.Is(err, engine.ErrNotFound) {
			const built = "one is built on Mondays, or now by `farsight schedules --run report.weekly`"
			return engine.Problemf(engine.ErrNotFound, built, "there is no report of any week yet")
		}
		return err
	})
}

// weekly prints a week: its sums in a line, then a row for each day, then one for each account, which
// says why matches of it may be missing.
func weekly(o Out, r *engine.WeeklyReport) error {
	// The week ends as the next one begins: its last day is counted back in its own zone, in which a
	// day may have 23 hours.
	from, last := inZone(r.From, r.Zone).Format(dated), inZone(r.To, r.Zone).AddDate(0, 0, -1).Format(dated)
	_, _ = fmt.Fprintf(o.W, "%s to %s (%s): %s games of %s accounts, %s of them complete; built %s\n\n",
		from, last, o.clean(r.Zone), count(r.Played), count(len(r.Accounts)), count(r.Complete), human.Stamp(r.Built))
	cols := []column{words("DAY"), figures("GAMES"), figures("PLAYED"), words("BUSIEST HOUR")}
	if err := o.table(cols, weekdays(r)); err != nil {
		return err
	}
	_, _ = fmt.Fprintln(o.W)
	cols = []column{wide("ACCOUNT"), figures("GAMES"), figures("PLAYED"), figures("WON"), wide("MISSING")}
	return tableOf(o, cols, r.Accounts, func(a engine.WeeklyAccount) []string {
		return []string{a.RiotID, count(a.Games), minutes(a.Minutes), columns.WinRate(a.Wins, a.Games-a.Remakes-a.Wins), a.Missing}
	})
}

// minutes prints played time, "6 h 12 min"; "-" for none.
func minutes(n float64) string {
	return human.Either(n <= 0, "-", human.Span(time.Duration(n*float64(time.Minute))))
}

// weekdays sums each day of the report, with the hour of the most minutes; of equal ones the first.
func weekdays(r *engine.WeeklyReport) [][]string {
	rows := make([][]string, 0, len(r.Games))
	for d := range r.Games {
		games, played, busiest := 0, 0.0, 0
		for h, n := range r.Games[d] {
			games, played = games+n, played+r.Minutes[d][h]
			if r.Minutes[d][h] > r.Minutes[d][busiest] {
				busiest = h
			}
		}
		hour := human.Either(played > 0, fmt.Sprintf("%02d:00, %s", busiest, minutes(r.Minutes[d][busiest])), "-")
		// A report's week begins on Monday, time.Weekday on Sunday.
		rows = append(rows, []string{time.Weekday((d + 1) % 7).String(), count(games), minutes(played), hour})
	}
	return rows
}

// dated is how reports write a day: Mon 2026-01-12.
const dated = "Mon 2006-01-02"

// inZone is an instant in the zone of a report, or in UTC where this machine does not know it.
func inZone(at time.Time, name string) time.Time {
	zone, err := time.LoadLocation(name)
	if err != nil {
		zone = time.UTC
	}
	return at.In(zone)
}
