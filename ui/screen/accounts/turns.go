package accounts

import (
	"slices"
	"strings"

	"github.com/farsight-console/farsight/engine"
	"github.com/farsight-console/farsight/engine/human"
	"github.com/farsight-console/farsight/themes"
	"github.com/farsight-console/farsight/ui/block"
	"github.com/farsight-console/farsight/ui/charts"
	"github.com/farsight-console/farsight/ui/page"
	"github.com/farsight-console/farsight/ui/part"
)

// turns are the calls that leave next, by the account whose they are.
type turns struct {
	page.Answer
	first map[string]engine.JobRow
}

// want asks for enough of them that each sync has one, as long as syncs take turns.
func (t *turns) want(v *page.View) engine.Query {
	open := len(v.Syncing())
	if open == 0 || v.Engine.State == engine.EngineBrowse || !t.Due(v, v.Seq) {
		return nil
	}
	return engine.JobsQuery{Soonest: true, Page: engine.Page{Limit: page.Clamp(3*open, block.LeavingNext, page.ListMost)}}
}

// got takes the answer; false = it is to another question.
func (t *turns) got(v *page.View, q engine.Query, a engine.Answer, err error) bool {
	if q, ok := q.(engine.JobsQuery); !ok || !q.Soonest {
		return false
	}
	if t.Take(v, err) {
		answer, _ := a.(engine.JobsPage)
		t.first = map[string]engine.JobRow{}
		for _, j := range answer.Jobs {
			if was, seen := t.first[j.Owner]; !seen || sooner(&j, &was) {
				t.first[j.Owner] = j
			}
		}
	}
	return true
}

// sooner reports whether a leaves before b; what nobody knows the instant of leaves last.
func sooner(a, b *engine.JobRow) bool {
	x, y := page.GoesAt(a), page.GoesAt(b)
	return !x.IsZero() && (y.IsZero() || x.Before(y))
}

// next is when the next call of an account leaves; "" = it has none to come. Of one that is far behind the others about
// when, as it is foreseen.
func (p *Screen) next(v *page.View, a *engine.AccountRow) part.Cell {
	if !a.Status.Open() || v.Engine.State == engine.EngineBrowse {
		return part.Cell{}
	}
	if slices.ContainsFunc(v.Running(), func(j engine.JobRow) bool { return j.Owner == a.ID }) {
		return part.As(themes.Run, "now")
	}
	rows := []engine.JobRow{p.turns.first[a.ID]}
	v.Hold(rows)
	j := rows[0]
	switch at := page.GoesAt(&j); {
	case at.IsZero() && a.Stand != "":
		return part.As(themes.Held, strings.ToLower(string(a.Stand)))
	case at.IsZero():
		if at = p.plan.NextOf(a.ID); j.ID == "" && at.After(v.Now) {
			return part.Plain("~" + v.In(at))
		}
		return part.As(themes.Dim, part.None)
	case charts.Within(v, at) != "":
		return part.As(themes.Run, charts.Within(v, at))
	default:
		return part.As(human.Either(j.Retrying(), themes.Retry, themes.Text), charts.Soon(v, at))
	}
}

// stage is what an open run does; of one that has not begun its place, and of one whose matches its bar counts how many
// calls it still makes.
func (p *Screen) stage(v *page.View, a *engine.AccountRow) part.Cell {
	text := charts.StageOf(v, *a)
	switch j := p.turns.first[a.ID]; {
	case a.Status == engine.SyncPending && a.Stand == "" && j.ID == a.Job && j.Place > 0 && j.Stand == "":
		text = human.Ordinal(j.Place) + " in line"
	case a.Status.Open() && a.Phase == engine.PhaseMatches:
		if calls := p.plan.CallsOf(a.ID); calls > 0 {
			text = page.Count(calls) + " calls to go"
		}
	}
	return part.As(themes.Dim, text)
}
