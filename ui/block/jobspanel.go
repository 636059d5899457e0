package block

import (
	"github.com/farsight-console/farsight/engine"
	"github.com/farsight-console/farsight/engine/columns"
	"github.com/farsight-console/farsight/themes"
	"github.com/farsight-console/farsight/ui/page"
	"github.com/farsight-console/farsight/ui/part"
)

// JobsOf are the jobs of an account or a collection that run or are tried again, in order of time.
// A sync has hundreds of jobs in line; those tell nothing one by one and are left out.
func JobsOf(v *page.View, owner string) []engine.JobRow {
	var out []engine.JobRow
	for _, from := range [][]engine.JobRow{v.Running(), v.Retries()} {
		for i := range from {
			if from[i].Owner == owner {
				out = append(out, from[i])
			}
		}
	}
	return out
}

// JobsPanel lists them: when, what, how often tried, and what came of it.
func JobsPanel(v *page.View, jobs []engine.JobRow, w, h int) part.Section {
	rows := make([]string, 0, max(h, 0))
	for _, j := range jobs[:min(len(jobs), max(h, 0))] {
		l := part.NewLine(v.Theme, w).Gap(1).Field(v.State(columns.StateWord(&j.Job)), 11, part.State).Gap(2)
		l.Field(part.Plain(columns.JobKey(&j.Job)), 24, part.ID).Gap(2).
			Field(part.Plain(columns.NextTry(page.Pen{View: v}, &j)), 8, part.Number).Gap(2)
		rows = append(rows, l.Field(part.As(themes.Dim, columns.LastResult(page.Pen{View: v}, &j)), l.Room()-1, part.Words).String())
	}
	return part.Section{Title: "RUNNING AND NEXT RETRIES", Note: page.Some(len(jobs)), Rows: rows, Height: h,
		Empty: "none at this moment"}
}
