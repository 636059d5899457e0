package charts

import (
	"cmp"
	"strings"

	"github.com/farsight-console/farsight/engine"
	"github.com/farsight-console/farsight/engine/columns"
	"github.com/farsight-console/farsight/engine/human"
	"github.com/farsight-console/farsight/themes"
	"github.com/farsight-console/farsight/ui/page"
	"github.com/farsight-console/farsight/ui/part"
)

// ProgressOf is the bar of an account, which is of its matches alone. A bar must never move back,
// so the timelines, which only come up later, are told in words (see StageOf). A Ratio of -1 draws
// no bar: the total is not known yet.
func ProgressOf(v *page.View, a engine.AccountRow) part.Cell {
	p := a.Matches
	if p.Total <= 0 {
		// The list of matches is still being read: how many there are so far, of an unknown total.
		found := human.If(a.Listed > 0, page.Count(a.Listed)+"/?")
		return part.Cell{Text: found, Ratio: -1}
	}
	c := part.Cell{
		Text:  part.Of(int64(p.Done()), int64(p.Total)),
		Ratio: float64(p.Done()) / float64(p.Total), Token: themes.Run,
	}
	switch {
	case a.Status == engine.SyncFailed:
		c.Token = themes.Err
	case !a.Status.Open() && p.Cancelled > 0:
		c.Token = v.Theme.State(v.SyncWord(a)).Token
	case !a.Status.Open(), p.Open == 0:
		c.Token = themes.Planned(themes.OK) // calm, as a stage that is done
	}
	return c
}

// StageOf says what an open run does now, in words.
func StageOf(v *page.View, a engine.AccountRow) string {
	switch {
	case a.Status == engine.SyncPending:
		return waitsFor(v, a)
	case !a.Status.Open():
		return Ended(a)
	}
	switch a.Phase {
	case engine.PhaseResolve:
		return "resolving the Riot ID"
	case engine.PhaseList:
		text := "listing page " + page.Count(a.Pages+1)
		if a.Listed > 0 { // how many there are is known once all pages are
			text += ", " + page.Count(a.Listed) + " found"
		}
		return text
	case engine.PhaseReport:
		return "building the report"
	case engine.PhaseTimelines:
		return "timelines " + part.Of(int64(a.Timelines.Done()), int64(a.Timelines.Total))
	}
	// That nothing was lost is what an operator wants to know after a crash.
	if a.Resumed > 0 && a.ResumedAt > 0 {
		return "resumed at " + page.Count(a.ResumedAt)
	}
	return "matches"
}

// waitsFor says why a queued sync has not begun.
func waitsFor(v *page.View, a engine.AccountRow) string {
	if j, ok := v.Job(a.Job); ok && j.Why != "" {
		return page.BriefWhy(v, j.Why)
	}
	if q, ok := v.Queue(a.Queue); ok && q.Paused {
		return q.Pause()
	}
	return "waits for its turn"
}

// Ended says what went wrong with a run that has ended, the worst alone; "" = nothing did.
func Ended(a engine.AccountRow) string {
	switch {
	case a.LastError != "" && a.Status == engine.SyncFailed:
		return columns.InShort(a.LastError)
	case a.Matches.Cancelled > 0:
		return "matches: " + a.Matches.Gaps()
	case a.Matches.Failed > 0:
		return human.Counted(a.Matches.Failed, "match", "matches") + " could not be had"
	case a.Timelines.Cancelled > 0:
		return "timelines: " + a.Timelines.Gaps()
	}
	return ""
}

// EtaOf is when an open run ends: a range, "paused", or part.None where nobody knows.
func EtaOf(v *page.View, a engine.AccountRow) part.Cell {
	switch {
	case !a.Status.Open():
		return part.As(themes.Dim, "")
	case a.Queue != "" && paused(v, a.Queue):
		return part.As(themes.Held, "paused")
	}
	if text := page.ETA(a.ETA); text != "" {
		return part.Plain(text)
	}
	return part.As(themes.Dim, part.None)
}

// stillOf says why nobody can tell when an open run ends; "" = that is known.
func stillOf(a engine.AccountRow) string {
	if e := a.ETA; !e.Known {
		return e.Why
	}
	return ""
}

// paused reports whether a queue is paused; false also for one that the view does not know.
func paused(v *page.View, name engine.Queue) bool {
	q, ok := v.Queue(name)
	return ok && q.Paused
}

// MatchesOf is how many matches an account has: "879 matches"; "" before they are counted.
func MatchesOf(a *engine.AccountRow) string {
	return human.If(a.Matches.Total > 0, human.Counted(a.Matches.Total, "match", "matches"))
}

// PlayerName is a Riot ID without its tag: 카인 of 카인#KR1.
func PlayerName(riotID string) string {
	name, _, _ := strings.Cut(riotID, "#")
	return name
}

// BlockedBy says what sets the pace of an open run: a pause, a full limit, or its
// turn; "" = nothing that is known.
func BlockedBy(v *page.View, a engine.AccountRow, e engine.ETA) string {
	if q, ok := v.Queue(a.Queue); ok && q.Paused {
		return q.Pause()
	}
	if a.Status == engine.SyncPending {
		return waitsFor(v, a)
	}
	return cmp.Or(e.Why, v.WindowCalled(e.Bucket))
}
