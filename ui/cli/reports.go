package cli

import (
	"context"
	"fmt"
	"strings"
	"time"

	"github.com/farsight-console/farsight/engine"
	"github.com/farsight-console/farsight/engine/human"
	"github.com/farsight-console/farsight/themes"
)

// Reports prints the play-time reports that are stored; of an account that is named
// whole, by "Name#TAG", the report itself.
func Reports(ctx context.Context, c engine.Console, filter string, o Out) error {
	if strings.Contains(filter, "#") {
		return playReport(ctx, c, filter, o)
	}
	var rows []engine.ReportRow
	for q := (engine.ReportsQuery{Text: filter, Page: engine.Page{Limit: pageSize}}); ; {
		page, err := ask[engine.ReportsPage](ctx, c, q)
		if err != nil {
			return err
		}
		rows = append(rows, page.Reports...)
		if page.Next == "" {
			break
		}
		q.After = page.Next
	}
	if o.JSON {
		return lines(o, rows)
	}
	if len(rows) == 0 && filter != "" {
		_, err := fmt.Fprintln(o.W, "no report of such an account is stored: `farsight reports` lists all")
		return err
	}
	if len(rows) == 0 {
		_, err := fmt.Fprintln(o.W, "no report is stored: one is made of each account that is synced, when its matches are settled")
		return err
	}
	out := make([][]string, len(rows))
	for i, r := range rows {
		out[i] = []string{r.RiotID, r.Platform, played(r.Minutes), count(r.Matches), missing(r), busiest(r), r.Zone, human.Stamp(r.Built)}
	}
	return o.table([]column{{Title: "ACCOUNT", Flex: 1}, {Title: "PLATFORM"}, {Title: "PLAYED", Kind: number}, {Title: "MATCHES", Kind: number}, {Title: "MISSING", Kind: number}, {Title: "BUSIEST"}, {Title: "ZONE", Flex: 1}, {Title: "BUILT"}}, out)
}

// missing is how many matches a report lacks, and how many of them were cancelled.
func missing(r engine.ReportRow) string {
	if r.Cancelled == 0 {
		return count(r.Missing)
	}
	return count(r.Missing) + " (" + count(r.Cancelled) + " cancelled)"
}

// busiest is the hour of the week with the most minutes.
func busiest(r engine.ReportRow) string {
	if r.Minutes <= 0 {
		return "-"
	}
	return fmt.Sprintf("%s %02d:00", dayName(r.Day), r.Hour)
}

// dayName is a row of a report as people call it; row 0 is Monday.
func dayName(row int) string { return time.Weekday((row + 1) % 7).String()[:3] }

// playReport prints when an account plays: minutes by weekday and hour.
func playReport(ctx context.Context, c engine.Console, account string, o Out) error {
	d, err := ask[engine.AccountDetail](ctx, c, engine.AccountQuery{ID: account})
	if err != nil {
		return err
	}
	r := d.Report
	if r == nil {
		return engine.Problemf(engine.ErrNotFound, "it is made when the matches of a sync are settled: `farsight trigger` starts one", "there is no report of %s yet", d.Row.RiotID)
	}
	if o.JSON {
		return o.json(r)
	}
	row := r.Row()
	_, _ = fmt.Fprintf(o.W, "%s: %s in %s; hours of %s; built %s\n",
		o.clean(d.Row.RiotID), played(row.Minutes), made(r), o.clean(r.Zone), human.Stamp(r.Built))
	if at := d.Row.Closed; !at.IsZero() {
		_, _ = fmt.Fprintf(o.W, "its last sync ended with matches missing; it is complete since %s\n", human.Stamp(at))
	}
	if !r.First.IsZero() {
		zone := zoneOf(r.Zone)
		_, _ = fmt.Fprintf(o.W, "from %s to %s\n", r.First.In(zone).Format("Mon 2006-01-02"), r.Last.In(zone).Format("Mon 2006-01-02"))
	}
	return o.heat(r, row)
}

// made says of how many matches a report is made, and why not of the others.
func made(r *engine.PlayReport) string {
	text := count(r.Matches) + " of " + human.Counted(r.Matches+r.Missing, "match", "matches")
	if r.Missing > 0 {
		text += ", " + engine.Gaps(r.Missing-r.Cancelled, r.Cancelled)
	}
	if r.LeftOut > 0 {
		text += "; " + r.Without() + " left out"
	}
	return text
}

// heat prints the table of minutes as shades, two cells an hour: it fits into 80
// columns. JSON has the numbers.
func (o Out) heat(r *engine.PlayReport, sum engine.ReportRow) error {
	shades := themes.Unicode.Shade
	if o.ASCII {
		shades = themes.Plain.Shade
	}
	top := r.Minutes[sum.Day][sum.Hour]
	var b strings.Builder
	b.WriteString("\n     ")
	for h := 0; h < 24; h += 3 {
		fmt.Fprintf(&b, "%-6s", fmt.Sprintf("%02d", h))
	}
	b.WriteString("   PLAYED  GAMES\n")
	for d := range r.Minutes {
		all, games := 0.0, 0
		b.WriteString(dayName(d) + "  ")
		for h, m := range r.Minutes[d] {
			b.WriteString(strings.Repeat(shades[step(m, top, len(shades))], 2))
			all, games = all+m, games+r.Games[d][h]
		}
		fmt.Fprintf(&b, "  %8s  %5s\n", played(all), count(games))
	}
	if top > 0 {
		fmt.Fprintf(&b, "\n%s is up to a quarter of the busiest hour, %s %02d:00 with %s; %s is above three quarters\n",
			shades[1], dayName(sum.Day), sum.Hour, played(top), shades[len(shades)-1])
	}
	_, err := fmt.Fprint(o.W, b.String())
	return err
}

// step is the shade of a share of the greatest value: 0 for nothing, and for a
// little at least 1.
func step(m, top float64, steps int) int {
	if m <= 0 || top <= 0 {
		return 0
	}
	return min(1+int(m/top*float64(steps-1)), steps-1)
}

// played is a time in a narrow column: minutes, then hours.
func played(m float64) string {
	switch {
	case m <= 0:
		return "-"
	case m < 100:
		return fmt.Sprintf("%.0f min", m)
	}
	return fmt.Sprintf("%.1f h", m/60)
}
