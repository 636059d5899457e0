package page

import (
	"cmp"
	"slices"

	"github.com/farsight-console/farsight/engine"
	"github.com/farsight-console/farsight/engine/human"
	"github.com/farsight-console/farsight/themes"
	"github.com/farsight-console/farsight/ui/part"
)

// phases in the order a run goes through them.
var phases = []engine.Phase{engine.PhaseResolve, engine.PhaseList, engine.PhaseMatches, engine.PhaseReport, engine.PhaseTimelines, engine.PhaseDone}

// stage is one numbered line of a run.
type stage struct {
	phase engine.Phase
	name  string
	text  func(v *View, a engine.AccountRow, at int) string // at: before 0, in 1, after 2
	of    func(a engine.AccountRow) engine.Progress         // what it counts; nil = nothing
}

const (
	before = iota
	within
	after
)

var stages = []stage{
	{engine.PhaseResolve, "account", resolveText, nil},
	{engine.PhaseList, "ids", listText, nil},
	{engine.PhaseMatches, "matches", matchesText, func(a engine.AccountRow) engine.Progress { return a.Matches }},
	{engine.PhaseReport, "report", reportText, nil},
	{engine.PhaseTimelines, "timelines", timelinesText, func(a engine.AccountRow) engine.Progress { return a.Timelines }},
}

func resolveText(_ *View, a engine.AccountRow, at int) string {
	if a.PUUID != "" {
		return "puuid " + short(a.PUUID)
	}
	if at == within {
		return "asking Riot for the PUUID"
	}
	return ""
}

func listText(_ *View, a engine.AccountRow, at int) string {
	if at == before {
		return "starts when the account is known"
	}
	return human.Counted(a.Listed, "id", "ids") + " in " + human.Counted(a.Pages, "page", "pages")
}

func matchesText(_ *View, a engine.AccountRow, at int) string {
	if at == before {
		return "starts when all ids are listed"
	}
	return progressText(a.Matches)
}

func reportText(_ *View, a engine.AccountRow, at int) string {
	switch at {
	case before:
		return "starts when the matches are settled"
	case within:
		return "adding up the play time"
	}
	return "saved"
}

func timelinesText(_ *View, a engine.AccountRow, at int) string {
	if at == before && a.Timelines.Done() == 0 {
		return "follow, at low priority"
	}
	return progressText(a.Timelines)
}

// progressText writes a stage's counts; they always add up to its total.
func progressText(p engine.Progress) string {
	text := count(p.Stored) + " stored"
	for _, part := range []struct {
		n    int
		name string
	}{{p.Had, "had"}, {p.Failed, "gave up"}, {p.TooOld, "too old"}, {p.Cancelled, "cancelled"}, {p.Retrying, "retrying"}, {p.Open - p.Retrying, "left"}} {
		if part.n > 0 {
			text += ", " + count(part.n) + " " + part.name
		}
	}
	return text
}

// stageRows are an account's run: how far, how long, and stage by stage.
func stageRows(v *View, a engine.AccountRow, e engine.ETA, w int) []string {
	rows := []string{stateRow(v, a, w), paceRow(v, a, e, w)}
	if a.Job == "" && a.Run == "" {
		return append(rows, v.row(w, part.As(themes.Dim, " "+v.start("never synced", "{sync} starts"))))
	}
	now := slices.Index(phases, a.Phase)
	for i, s := range stages {
		rows = append(rows, stageRow(v, a, s, i, now, w))
	}
	return append(rows, runRow(v, a, w))
}

func stateRow(v *View, a engine.AccountRow, w int) string {
	l := part.NewLine(v.Theme, w).Gap(1).Cells(v.state(v.SyncWord(a))).Gap(2)
	c := progressOf(v, a)
	if c.Text != "" {
		l.Cells(part.Plain(c.Text)).Gap(2)
	}
	if pct := percentOf(a); pct != "" {
		l.Cells(part.As(themes.Dim, pct)).Gap(2)
	}
	if c.Ratio >= 0 && a.Matches.Total > 0 {
		l.Bar(c.Token, clamp(l.Room()-1, 4, 28), c.Ratio)
	}
	return l.String()
}

// paceRow is when it ends and what sets the pace, or why it stands.
func paceRow(v *View, a engine.AccountRow, e engine.ETA, w int) string {
	if !a.Status.Open() {
		text := ended(v, a)
		if text == "" {
			text = "last complete sync " + v.ago(a.LastSync)
		}
		return v.row(w, part.As(themes.Dim, " "+text))
	}
	text := eta(e)
	if text == "" {
		return v.row(w, part.As(themes.Dim, " ETA "+part.None+"  "+cmp.Or(e.Why, stageOf(v, a))))
	}
	var more []part.Cell
	if e.Calls > 0 {
		more = append(more, part.As(themes.Dim, human.Counted(e.Calls, "call", "calls")+" left"))
	}
	switch {
	case e.Why != "":
		more = append(more, part.As(themes.Dim, e.Why))
	case e.Bucket != "":
		more = append(more, part.As(themes.Dim, "pace "+v.bucket(e.Bucket)))
	}
	return v.row(w, append([]part.Cell{part.Plain(" ETA " + text + "  ")}, v.join(more...)...)...)
}

func stageRow(v *View, a engine.AccountRow, s stage, i, now, w int) string {
	at := within
	word := "RUNNING"
	switch {
	case now > i || a.Status == engine.SyncCompleted:
		at, word = after, "DONE"
		if s.of != nil && s.of(a).Cancelled > 0 {
			word = "CANCELLED"
		}
	case now < i || a.Status == engine.SyncPending:
		at, word = before, "QUEUED"
	case a.Status == engine.SyncFailed:
		word = "FAILED"
	case a.Status == engine.SyncCancelled:
		word = "CANCELLED"
	}
	// A stage may begin before the one above it is over: timelines follow
	// their matches.
	if at == before && s.phase == engine.PhaseTimelines && a.Timelines.Done() > 0 && a.Status.Open() {
		word = "RUNNING"
	}
	sign := v.Theme.State(word)
	text := part.Plain(s.text(v, a, at))
	if at == before {
		text.Token = themes.Dim
	}
	l := part.NewLine(v.Theme, w).Gap(1).Cells(part.As(themes.Dim, count(i+1))).Gap(1).Field(part.Plain(s.name), 10, part.Words)
	return l.Cells(part.As(sign.Token, sign.Glyph+" "), text).String()
}

func runRow(v *View, a engine.AccountRow, w int) string {
	facts := []part.Cell{}
	switch {
	case a.Status.Open() && !a.Started.IsZero():
		facts = append(facts, part.As(themes.Dim, "started "+v.clock(a.Started)))
	case a.Status.Open():
		facts = append(facts, part.As(themes.Dim, "asked for "+v.ago(a.Triggered)))
	case !a.Finished.IsZero():
		facts = append(facts, part.As(themes.Dim, "ended "+v.clock(a.Finished)))
	}
	if !a.Closed.IsZero() {
		facts = append(facts, part.As(themes.Dim, "complete since "+v.clock(a.Closed)))
	}
	facts = append(facts, part.As(themes.Dim, human.Counted(a.Calls, "call", "calls")), throttled(a), part.As(themes.Dim, resumedAt(a)))
	return v.row(w, append([]part.Cell{part.Plain(" ")}, v.join(facts...)...)...)
}

// resumedAt is resumed in as few words as possible.
func resumedAt(a engine.AccountRow) string {
	if a.Resumed == 0 {
		return ""
	}
	return "resumed at " + count(a.ResumedAt)
}

func throttled(a engine.AccountRow) part.Cell {
	if a.Throttled == 0 {
		return part.Cell{}
	}
	return part.As(themes.Warn, "429s "+count(a.Throttled))
}
