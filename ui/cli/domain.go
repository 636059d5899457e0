package cli

import (
	"context"
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
	l := answered(engine.WeeklyQuery{Week: week}, weekly)
	if week != "" {
		return l
	}
	return document(func(ctx context.Context, c engine.Console, o Out) error {
		err := l.show(ctx, c, o)
		if errors.Is(err, engine.ErrNotFound) {
			return engine.Problemf(engine.ErrNotFound, "one is built on Mondays, or now by `farsight schedules --run report.weekly`", "there is no report of any week yet")
		}
		return err
	})
}

func weekly(o Out, r *engine.WeeklyReport) error {
	zone := zoneOf(r.Zone)
	_, _ = fmt.Fprintf(o.W, "%s to %s (%s): %s games of %s accounts, %s of them complete; built %s\n\n",
		r.From.In(zone).Format("Mon 2006-01-02"), r.To.In(zone).AddDate(0, 0, -1).Format("Mon 2006-01-02"), o.clean(r.Zone),
		count(r.Played), count(len(r.Accounts)), count(r.Complete), human.Stamp(r.Built))
	if err := o.table([]column{{Title: "DAY"}, {Title: "GAMES", Kind: number}, {Title: "PLAYED", Kind: number}, {Title: "BUSIEST HOUR"}}, weekdays(r)); err != nil {
		return err
	}
	_, _ = fmt.Fprintln(o.W)
	cols := []column{{Title: "ACCOUNT", Flex: 1}, {Title: "GAMES", Kind: number}, {Title: "PLAYED", Kind: number}, {Title: "WON", Kind: number}, {Title: "MISSING", Flex: 1}}
	return tableOf(o, cols, r.Accounts, func(a engine.WeeklyAccount) []string {
		return []string{a.RiotID, count(a.Games), minutes(a.Minutes), columns.WinRate(a.Wins, a.Games-a.Wins), a.Missing}
	})
}

// minutes prints played time; "-" for none.
func minutes(n float64) string {
	if n <= 0 {
		return "-"
	}
	return human.Span(time.Duration(n * float64(time.Minute)))
}

// weekdays sums each day of the report.
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
		hour := "-"
		if played > 0 {
			hour = fmt.Sprintf("%02d:00, %s", busiest, minutes(r.Minutes[d][busiest]))
		}
		rows = append(rows, []string{time.Weekday((d + 1) % 7).String(), count(games), minutes(played), hour})
	}
	return rows
}

// Freshness prints what keeping the tracked accounts fresh needs, beside what the
// key allows.
func Freshness() List { return answered(engine.FreshnessQuery{}, freshness) }

func freshness(o Out, f engine.Freshness) error {
	_, _ = fmt.Fprintf(o.W, "%s tracked accounts: %s\n", count(f.Accounts), o.clean(f.Text))
	if f.Outlook != "" {
		_, _ = fmt.Fprintln(o.W, o.clean(f.Outlook))
	}
	cols := []column{{Title: "REGION"}, {Title: "NEEDS/H", Kind: number}, {Title: "ALLOWED/H", Kind: number}, {Title: "SHARE", Kind: number}, {Title: "TIGHTEST", Flex: 1}}
	err := further(o, cols, f.Regions, func(r engine.FreshnessHost) []string {
		return []string{r.Region, perHour(r.Needs), perHour(r.Allowed), share(r.Needs, r.Allowed), r.Bucket}
	})
	if err != nil {
		return err
	}
	now := time.Now()
	err = further(o, []column{{Title: "LATE ACCOUNT", Flex: 1}, {Title: "LAST SYNC"}, {Title: "EVERY", Kind: number}}, f.Late, func(a engine.LateAccount) []string {
		return []string{a.RiotID, human.SpanAgo(a.Last, now), human.Span(a.Cadence)}
	})
	if err != nil || f.Lates <= len(f.Late) {
		return err
	}
	_, err = fmt.Fprintf(o.W, "and %s more\n", count(f.Lates-len(f.Late)))
	return err
}

// perHour prints calls per hour; "?" when nobody knows yet.
func perHour(n float64) string {
	if n <= 0 {
		return "?"
	}
	return count(int(n + 0.5))
}

// share says how much of what is allowed is needed.
func share(needs, allowed float64) string {
	if allowed <= 0 {
		return "-"
	}
	return fmt.Sprintf("%.0f %%", 100*needs/allowed)
}

// zoneOf is UTC for a zone that this machine does not know.
func zoneOf(name string) *time.Location {
	loc, err := time.LoadLocation(name)
	if err != nil {
		return time.UTC
	}
	return loc
}
