package block

import (
	"cmp"
	"slices"

	"github.com/farsight-console/farsight/engine"
	"github.com/farsight-console/farsight/engine/human"
	"github.com/farsight-console/farsight/themes"
	"github.com/farsight-console/farsight/ui/page"
	"github.com/farsight-console/farsight/ui/part"
)

// stage is one part of a run.
// A run goes through all of them, in this order but for the timelines, which are fetched beside the
// matches and end after the report.
type stage struct {
	phase engine.Phase
	name  string
	of    func(a engine.AccountRow) engine.Progress // what it counts; nil = nothing
	text  func(v *page.View, a engine.AccountRow, at int) string
}

// Where a run stands to a stage: it is still to come, under way, or done.
const (
	before = iota
	within
	after
)

// phases are in the order in which a run goes through them. That is not the order of stages on the
// screen: the timelines come after the report here, see stage.
var phases = []engine.Phase{
	engine.PhaseResolve, engine.PhaseList, engine.PhaseMatches,
	engine.PhaseReport, engine.PhaseTimelines, engine.PhaseDone,
}

// StageName is what a run is at by the name of its stage; "" = it is at none.
func StageName(p engine.Phase) string {
	i := slices.IndexFunc(stages, func(s stage) bool { return s.phase == p })
	return human.If(i >= 0, stages[max(i, 0)].name)
}

var stages = []stage{
	{engine.PhaseResolve, "account", nil, func(_ *page.View, a engine.AccountRow, at int) string {
		return human.Either(at == before, "one call", cmp.Or(a.Platform, "no platform")+", one call")
	}},
	{engine.PhaseList, "ids", nil, func(v *page.View, a engine.AccountRow, at int) string {
		switch {
		case at == before && a.Pages == 0:
			return "then their pages"
		case a.Pages == 0:
			return ""
		}
		if v.Size == page.S {
			return page.Count(a.Listed) + " listed"
		}
		return page.Count(a.Listed) + " in " + human.Counted(a.Pages, "page", "pages")
	}},
	{engine.PhaseMatches, "matches", func(a engine.AccountRow) engine.Progress { return a.Matches }, func(v *page.View, a engine.AccountRow, at int) string {
		return human.Either(at == before && a.Matches.Total <= 0, "after the ids", leftOf(v, a.Matches))
	}},
	{engine.PhaseTimelines, "timelines", timelinesOf, func(v *page.View, a engine.AccountRow, at int) string {
		switch {
		case a.Timelines.Total > 0:
			return leftOf(v, timelinesOf(a))
		case !a.WantsTimelines && at != before:
			return "not asked for"
		}
		return "after matches"
	}},
	{engine.PhaseReport, "report", nil, func(_ *page.View, a engine.AccountRow, at int) string {
		switch at {
		case before:
			return "after matches"
		case within:
			return "adding up the hours"
		}
		return "saved"
	}},
}

// timelinesOf counts those that are asked for, and one for each match that is still to come.
func timelinesOf(a engine.AccountRow) engine.Progress {
	p := a.Timelines
	if a.WantsTimelines && p.Total > 0 {
		p.Open, p.Total = p.Open+a.Matches.Open, p.Total+a.Matches.Open
	}
	return p
}

// leftOf is how many of a stage are left, or once none is, what it could not get: "745 left of
// 879", "3 failed", "879 done".
func leftOf(v *page.View, p engine.Progress) string {
	switch gaps := p.Gaps(); {
	case p.Open > 0 && p.Open < p.Total && v.Size == page.S:
		return page.Count(p.Open) + " left"
	case p.Open > 0 && p.Open < p.Total:
		return page.Count(p.Open) + " left of " + page.Count(p.Total)
	case p.Open > 0:
		return page.Count(p.Open) + " to come"
	case gaps != "":
		return gaps
	}
	return page.Count(p.Total) + " done"
}

// position is where a run stands to a stage, and the state word for its sign, one that themes know.
func (s *stage) position(a engine.AccountRow) (at int, word string) {
	order := func(phase engine.Phase) int {
		for i, ph := range phases {
			if ph == phase {
				return i
			}
		}
		return 0
	}
	now, own := order(cmp.Or(a.Phase, engine.PhaseResolve)), order(s.phase)
	switch {
	case a.Status == engine.SyncNever:
		return before, "QUEUED"
	case now > own || a.Status == engine.SyncCompleted:
		if s.of != nil && s.of(a).Cancelled > 0 {
			return after, "CANCELLED"
		}
		return after, "DONE"
	case s.of != nil && s.of(a).Done() > 0 && now < own && a.Status.Open():
		return before, "RUNNING" // timelines follow their matches while others come
	case now < own || a.Status == engine.SyncPending:
		return before, "QUEUED"
	case a.Status == engine.SyncFailed:
		return within, "FAILED"
	case a.Status == engine.SyncCancelled:
		return within, "CANCELLED"
	}
	return within, "RUNNING"
}

// bar draws how much of a stage is done, w cells wide. A stage that counts nothing is empty until
// it is done. What is done is drawn calmly, so that the stage under way stands out.
func (s *stage) bar(l *part.Line, a engine.AccountRow, word string, w int) {
	ratio := 0.0
	token := themes.Run
	if word == "DONE" {
		ratio, token = 1, themes.Planned(themes.OK)
	}
	if s.of != nil {
		if p := s.of(a); p.Total > 0 {
			ratio = float64(p.Done()) / float64(p.Total)
		}
	}
	l.Bar(token, w, ratio)
}

// Throttled is how many 429s a run met; an empty cell = none.
func Throttled(a engine.AccountRow) part.Cell {
	return part.If(a.Throttled != 0, part.As(themes.Warn, "429s "+page.Count(a.Throttled)))
}

// StageRows are the stages of a run side by side in three rows: sign and name, bar, words.
func StageRows(v *page.View, a engine.AccountRow, w int) []string {
	apart := min(w/25, 5)
	// The gap behind the last stage would be lost, so it is added to what they share.
	stride := w - 2 + apart // of all stages together
	names, bars, texts := part.NewLine(v.Theme, w), part.NewLine(v.Theme, w), part.NewLine(v.Theme, w)
	for i := range stages {
		s := &stages[i]
		at, word := s.position(a)
		sign, x := v.Theme.State(word), 1+i*stride/len(stages)
		name := themes.Text
		switch word {
		case "RUNNING":
			name = themes.Figure
		case "QUEUED":
			name = themes.Dim
		}
		names.To(x).Glyph(sign.Token, sign.Glyph, 1).Gap(1).Put(name, s.name)
		s.bar(bars.To(x), a, word, stride/len(stages)-apart)
		texts.To(x).Field(part.As(themes.Dim, s.text(v, a, at)), stride/len(stages)-1, part.Words)
	}
	return []string{names.String(), bars.String(), texts.String()}
}

// StageList are the stages of a run one below the other: sign, name, bar and words.
func StageList(v *page.View, a engine.AccountRow, w int) []string {
	rows := make([]string, 0, len(stages))
	for i := range stages {
		s := &stages[i]
		at, word := s.position(a)
		sign := v.Theme.State(word)
		l := part.NewLine(v.Theme, w).Gap(1).Glyph(sign.Token, sign.Glyph, 1).Gap(1)
		l.Field(part.Plain(s.name), 10, part.Words)
		s.bar(l, a, word, page.Clamp(w-42, 4, 24))
		rows = append(rows, l.Gap(2).Put(themes.Dim, s.text(v, a, at)).String())
	}
	return rows
}
