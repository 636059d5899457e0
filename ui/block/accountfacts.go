package block

import (
	"cmp"

	"github.com/farsight-console/farsight/engine"
	"github.com/farsight-console/farsight/engine/human"
	"github.com/farsight-console/farsight/themes"
	"github.com/farsight-console/farsight/ui/page"
	"github.com/farsight-console/farsight/ui/part"
)

// AccountFacts are the three rows below the list of accounts: what has no column there.
//
//	puuid 8Qf…x2c · kr · tracked · full run
//	879 ids in 9 pages · 1,012 calls · 429s 3 · 41 were stored already · resumed once, at 134
//	last complete sync 2 d ago
//
// The last row is the run's error instead, if it has one.
func AccountFacts(v *page.View, a engine.AccountRow, w int) []string {
	puuid := human.Either(a.PUUID != "", "puuid "+page.ShortID(a.PUUID), "not resolved yet")
	first := []part.Cell{
		part.Plain(puuid), part.Plain(cmp.Or(a.Platform, "no platform")),
		part.Plain(Tracked(a)), part.Plain(runName(a)),
	}
	second := []part.Cell{
		part.Plain(listed(a)), part.Plain(human.Counted(a.Calls, "call", "calls")), Throttled(a),
		part.Plain(saved(a)), part.Plain(resumed(a)),
	}
	third := []part.Cell{part.As(themes.Dim, "last complete sync "+v.Ago(a.LastSync))}
	if a.LastError != "" {
		third = []part.Cell{part.As(themes.Err, a.LastError)}
	}
	rows := make([]string, 0, 3)
	for _, facts := range [][]part.Cell{first, second, third} {
		rows = append(rows, v.Row(w, append([]part.Cell{part.Plain(" ")}, v.Join(facts...)...)...))
	}
	return rows
}

// Tracked says whether schedules look after the account.
func Tracked(a engine.AccountRow) string { return human.Either(a.Tracked, "tracked", "not tracked") }

// runName is the kind of the account's last run, such as "full run"; "" = it never had one.
func runName(a engine.AccountRow) string { return human.If(a.Kind != "", a.Kind+" run") }

// listed is how far the run has read the list of matches: "879 ids in 9 pages"; "" before the first
// page has come.
func listed(a engine.AccountRow) string {
	return human.If(a.Pages != 0, human.Counted(a.Listed, "id", "ids")+" in "+human.Counted(a.Pages, "page", "pages"))
}

// saved is how many calls were not made, because another account's sync had the match already.
func saved(a engine.AccountRow) string {
	return human.If(a.Matches.Had != 0, human.Counted(a.Matches.Had, "was stored already", "were stored already"))
}

// resumed says how often an engine that was stopped or killed went on with the run, and at which
// match of it.
func resumed(a engine.AccountRow) string {
	switch {
	case a.Resumed == 0:
		return ""
	case a.Resumed == 1:
		return "resumed once, at " + page.Count(a.ResumedAt)
	}
	return "resumed " + page.Count(a.Resumed) + " times, last at " + page.Count(a.ResumedAt)
}
