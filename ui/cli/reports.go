package cli

import (
	"context"
	"fmt"
	"strconv"
	"strings"

	"github.com/farsight-console/farsight/engine"
	"github.com/farsight-console/farsight/engine/columns"
	"github.com/farsight-console/farsight/engine/human"
	"github.com/farsight-console/farsight/themes"
)

// Reports lists the play-time reports that are stored; of an account that is named
// whole, by "Name#TAG", it shows the report itself.
func Reports(filter string) List {
	l := listing[engine.ReportRow]{
		of: columns.Reports, shown: columns.ReportLines, filter: filter, asked: true,
		none:  "no report is stored: one is made of each account that is synced, when its matches are settled",
		unfit: "no report of such an account is stored: `farsight reports` lists all",
		read: pages(func(p engine.Page) engine.Query {
			return engine.ReportsQuery{Text: filter, Page: p}
		}, func(p engine.ReportsPage) ([]engine.ReportRow, string) { return p.Reports, p.Next }),
	}.list()
	if !strings.Contains(filter, "#") {
		return l
	}
	// A shell completes --columns before it knows which of the two it will be.
	return List{Columns: l.Columns, show: func(ctx context.Context, c engine.Console, o Out) error { return playReport(ctx, c, filter, o) }}
}

// playReport prints when an account plays: minutes by weekday and hour. As JSON it is the report as it
// is stored. engine.ErrNotFound where none is made yet.
func playReport(ctx context.Context, c engine.Console, account string, o Out) error {
	d, err := engine.Ask[engine.AccountDetail](ctx, c, engine.AccountQuery{ID: account})
	if err != nil {
		return err
	}
	r := d.Report
	if r == nil {
		const made = "it is made when the matches of a sync are settled: `farsight trigger` starts one"
		return engine.Problemf(engine.ErrNotFound, made, "there is no report of %s yet", d.Row.RiotID)
	}
	if o.JSON {
		return o.json(r)
	}
	row := r.Row()
	_, _ = fmt.Fprintf(o.W, "%s: %s in %s; hours of %s; built %s\n",
		o.clean(d.Row.RiotID), columns.PlayedFor(row.Minutes), made(r), o.clean(r.Zone), human.Stamp(r.Built))
	if at := d.Row.Closed; !at.IsZero() {
		_, _ = fmt.Fprintf(o.W, "its last sync ended with matches missing; it is complete since %s\n", human.Stamp(at))
	}
	// From the first match to the last; a report of no match has neither.
	if !r.First.IsZero() {
		first, last := inZone(r.First, r.Zone), inZone(r.Last, r.Zone)
		_, _ = fmt.Fprintf(o.W, "from %s to %s\n", first.Format(dated), last.Format(dated))
	}
	return o.heat(r, row)
}

// made says of how many matches a report is made, and why not of the others.
func made(r *engine.PlayReport) string {
	return count(r.Matches) + " of " + human.Counted(r.Matches+r.Missing, "match", "matches") +
		human.If(r.Missing > 0, ", "+engine.Gaps(r.Missing-r.Cancelled, r.Cancelled)) +
		human.If(r.LeftOut > 0, "; "+r.Without()+" left out")
}

// heat prints the table of minutes as shades, two cells an hour: it fits into 80
// columns. JSON has the numbers.
//
//	     00    03    06    09    12    15    18    21       PLAYED  GAMES
//	Mon                                   ░░▒▒▓▓████░░      6.2 h     14
func (o Out) heat(r *engine.PlayReport, sum engine.ReportRow) error {
	shades := human.Either(o.ASCII, themes.Plain.Shade, themes.Unicode.Shade)
	if o.Spoken {
		var rows [][]string
		for d := range r.Minutes {
			all := 0.0
			for _, m := range r.Minutes[d] {
				all += m
			}
			rows = append(rows, []string{columns.DayName(d), columns.PlayedFor(all)})
		}
		rows = append(rows, []string{"Most", columns.DayName(sum.Day) + " at " + strconv.Itoa(sum.Hour) + " o'clock"})
		return o.sentences([]column{words("DAY"), words("PLAYED")}, rows)
	}
	// Shades are steps of the busiest hour of this account: two reports cannot be compared by them.
	top := r.Minutes[sum.Day][sum.Hour]
	var b strings.Builder
	b.WriteString("\n     ")
	for h := 0; h < 24; h += 3 {
		fmt.Fprintf(&b, "%-6s", fmt.Sprintf("%02d", h))
	}
	b.WriteString("   PLAYED  GAMES\n")
	for d := range r.Minutes {
		all, games := 0.0, 0
		b.WriteString(columns.DayName(d) + "  ")
		for h, m := range r.Minutes[d] {
			b.WriteString(strings.Repeat(shades[step(m, top, len(shades))], 2))
			all, games = all+m, games+r.Games[d][h]
		}
		fmt.Fprintf(&b, "  %8s  %5s\n", columns.PlayedFor(all), count(games))
	}
	if top > 0 {
		fmt.Fprintf(&b, "\n%s is up to a quarter of the busiest hour, %s %02d:00 with %s; %s is above three quarters\n",
			shades[1], columns.DayName(sum.Day), sum.Hour, columns.PlayedFor(top), shades[len(shades)-1])
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
