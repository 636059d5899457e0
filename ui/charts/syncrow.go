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

// ProgressOf is an account's bar: its matches. The bar never moves back, so the
// timelines that follow are told in words (see StageOf).
func ProgressOf(v *page.View, a engine.AccountRow) part.Cell {
	p := a.Matches
	if p.Total <= 0 {
		found := ""
		if a.Listed > 0 {
			found = page.Count(a.Listed) + "/?"
		}
		return part.Cell{Text: found, Ratio: -1}
	}
	c := part.Cell{Text: part.Of(int64(p.Done()), int64(p.Total)), Ratio: float64(p.Done()) / float64(p.Total), Token: themes.Run}
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
		return "listing page " + page.Count(a.Pages+1) + ", " + page.Count(a.Listed) + " found"
	case engine.PhaseReport:
		return "building the report"
	case engine.PhaseTimelines:
		return "timelines " + part.Of(int64(a.Timelines.Done()), int64(a.Timelines.Total))
	}
	if a.Resumed > 0 && a.ResumedAt > 0 {
		return "resumed at " + page.Count(a.ResumedAt)
	}
	return "matches"
}

// waitsFor says why a queued sync has not begun.
func waitsFor(v *page.View, a engine.AccountRow) string {
	if j, ok := v.Job(a.Job); ok && j.Why != "" {
		return j.Why
	}
	if q, ok := v.Queue(a.Queue); ok && q.Paused {
		return q.Pause()
	}
	return "waits for its turn"
}

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

// EtaOf is when an open run ends; why it is not known where it is not.
func EtaOf(v *page.View, a engine.AccountRow) part.Cell {
	switch {
	case !a.Status.Open():
		return part.As(themes.Dim, "")
	case a.Queue != "" && paused(v, a.Queue):
		return part.As(themes.Held, "paused")
	}
	if text := page.Eta(a.ETA); text != "" {
		return part.Plain(text)
	}
	return part.As(themes.Dim, part.None)
}

// stillOf says why an open run stands still, where nobody can say when it ends.
func stillOf(a engine.AccountRow) string {
	if e := a.ETA; !e.Known {
		return e.Why
	}
	return ""
}

func paused(v *page.View, name engine.Queue) bool {
	q, ok := v.Queue(name)
	return ok && q.Paused
}

func MatchesOf(a *engine.AccountRow) string {
	if a.Matches.Total <= 0 {
		return ""
	}
	return human.Counted(a.Matches.Total, "match", "matches")
}

// PlayerName is a Riot ID without its tag.
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
	return cmp.Or(e.Why, e.Bucket)
}
