package block

import (
	"cmp"
	"slices"

	"github.com/farsight-console/farsight/engine"
	"github.com/farsight-console/farsight/themes"
	"github.com/farsight-console/farsight/ui/charts"
	"github.com/farsight-console/farsight/ui/page"
	"github.com/farsight-console/farsight/ui/part"
)

// RunRows are the scheduled runs to come, the next one first, in h rows at most. They tell what
// comes next on a screen where no job waits.
func RunRows(v *page.View, runs []charts.Run, w, h int) (rows []string) {
	sign := v.Theme.State("SCHEDULED")
	for _, r := range runs[:min(len(runs), max(h, 0))] {
		l := part.NewLine(v.Theme, w).Gap(1).Glyph(sign.Token, sign.Glyph, 1).Gap(1)
		l.Field(part.Plain(r.Name), max(w-22, 8), part.Words)
		rows = append(rows, l.Gap(1).Right(part.As(themes.Dim, engine.When(r.At, v.Now)+" ")).String())
	}
	return rows
}

// TrackedBlock lists the accounts that schedules keep up to date, with their state, number of matches and last sync.
func TrackedBlock(v *page.View, w, h int) part.Section {
	all := slices.DeleteFunc(slices.Clone(v.Accounts), func(a engine.AccountRow) bool { return !a.Tracked })
	s := part.Section{Title: "TRACKED", Note: page.Count(len(all)), Tail: "last sync", Height: h,
		Empty: cmp.Or(v.Waiting(), "no account is tracked")}
	for i := range all[:min(len(all), max(h, 0))] {
		a := &all[i]
		l := part.NewLine(v.Theme, w).Gap(1).Field(v.State(v.SyncWord(*a)), 12, part.Words).Gap(1)
		l.Field(part.Plain(a.RiotID), max(l.Room()-25, 10), part.Words).Gap(1)
		l.Field(part.As(themes.Dim, charts.MatchesOf(a)), 12, part.Number).Gap(1)
		l.Field(part.As(themes.Dim, v.Ago(a.LastSync)), 10, part.Number)
		s.Rows = append(s.Rows, l.String())
	}
	return s
}
