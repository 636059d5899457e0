package overview

import (
	"github.com/farsight-console/farsight/engine"
	"github.com/farsight-console/farsight/ui/block"
	"github.com/farsight-console/farsight/ui/charts"
	"github.com/farsight-console/farsight/ui/page"
	"github.com/farsight-console/farsight/ui/part"
)

// allDone is the account with the most matches where every sync has ended and no job waits; false = there is work, or
// there was none.
func (o *Screen) allDone(v *page.View) (most engine.AccountRow, done bool) {
	if _, rests := charts.ChartNow(v); !rests || page.LiveJobs(v, "") > 0 {
		return most, false
	}
	have := 0
	for _, a := range v.Accounts {
		if a.Status.Open() {
			return most, false
		}
		if n := a.Matches.Stored + a.Matches.Had; n > have { // a later look finds nothing new
			most, have = a, n
		}
	}
	return most, most.ID != ""
}

// report is, when all is done, what came of it in the place of windows in which nothing moves: when the player with the
// most matches plays.
func (o *Screen) report(v *page.View, w, h int) (s part.Section, ok bool) {
	a, done := o.allDone(v)
	if !done || o.plays.Play.Account != a.ID {
		return s, false
	}
	r, note := o.plays.Report(a, nil)
	if r == nil || r.Matches == 0 {
		return s, false
	}
	return part.Section{Title: "ALL IS DONE", Note: "the hours of " + charts.PlayerName(a.RiotID) + ", " + note,
		Tail: v.Keyed("{reports} report"), Rows: block.HourRows(v, r, w, h), Height: h}, true
}
