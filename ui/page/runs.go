package page

import (
	"slices"

	"github.com/farsight-console/farsight/engine"
	"github.com/farsight-console/farsight/themes"
	"github.com/farsight-console/farsight/ui/part"
)

// runRows are the scheduled runs to come, which are next where no job waits.
func runRows(v *View, runs []run, w, h int) (rows []string) {
	sign := v.Theme.State("SCHEDULED")
	for _, r := range runs[:min(len(runs), max(h, 0))] {
		l := part.NewLine(v.Theme, w).Gap(1).Glyph(sign.Token, sign.Glyph, 1).Gap(1).Field(part.Plain(r.name), max(w-22, 8), part.Words)
		rows = append(rows, l.Gap(1).Right(part.As(themes.Dim, engine.When(r.at, v.Now)+" ")).String())
	}
	return rows
}

// trackedBlock lists the accounts that are looked after by the calendar.
func trackedBlock(v *View, w, h int) part.Section {
	rest := slices.DeleteFunc(slices.Clone(v.Accounts), func(a engine.AccountRow) bool { return !a.Tracked })
	return part.Section{Title: "TRACKED", Note: count(len(rest)), Tail: "last sync", Rows: accountRows(v, rest, w, h, "no account is tracked"), Height: h}
}
