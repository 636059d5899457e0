// Package schedules is the screen of what the engine does by the calendar, and the editing of a plan.
package schedules

import (
	"cmp"
	"slices"
	"strings"
	"time"

	"github.com/farsight-console/farsight/engine"
	"github.com/farsight-console/farsight/engine/columns"
	"github.com/farsight-console/farsight/engine/human"
	"github.com/farsight-console/farsight/themes"
	"github.com/farsight-console/farsight/ui/block"
	"github.com/farsight-console/farsight/ui/charts"
	"github.com/farsight-console/farsight/ui/lists"
	"github.com/farsight-console/farsight/ui/page"
	"github.com/farsight-console/farsight/ui/part"
)

// screen lists what runs by the calendar: when next, what became of the last run, and which runs
// were left out and why. A run is skipped while its schedule is paused, and missed while no engine
// runs.
type screen struct {
	lists.Page[engine.ScheduleRow]
	page.Answer
	page engine.SchedulesPage
	// What is typed in the prompt, which stands over this screen.
	plan planned
}

// New makes the screen.
// The columns are cloned, for the width of one of them is changed with each frame.
func New() page.Page {
	p := &screen{}
	p.List = lists.New(columns.Schedules, slices.Clone(columns.ScheduleList),
		func(r *engine.ScheduleRow) string { return r.Name })
	switched := func(op engine.Op, r engine.ScheduleRow) page.Effect {
		return page.Do(engine.Command{Op: op, Schedule: r.Name})
	}
	p.Is = lists.Declaration[engine.ScheduleRow]{
		Screen: page.ScreenSchedules, Crumb: "Schedules", File: "schedules", Row: "schedule",
		Fill: func(v *page.View) {
			p.Put(v, page.MadeOf{Came: p.Came}, func() []engine.ScheduleRow { return p.page.Schedules })
		},
		Does: map[page.Action]func(*page.View, engine.ScheduleRow) page.Effect{
			page.Retry: func(_ *page.View, r engine.ScheduleRow) page.Effect {
				return switched(engine.OpRunSchedule, r)
			},
			page.Pause: func(_ *page.View, r engine.ScheduleRow) page.Effect {
				if r.Paused {
					return switched(engine.OpResumeSchedule, r)
				}
				return switched(engine.OpPauseSchedule, r)
			},
			page.Edit: func(_ *page.View, r engine.ScheduleRow) page.Effect { return page.Effect{Text: p.plan.ask(r)} },
			page.Open: func(_ *page.View, r engine.ScheduleRow) page.Effect {
				if name, ok := engine.CollectionOf(r.Name); ok {
					return page.Effect{Open: page.ToCollection(name)}
				}
				return page.Effect{Open: page.ToJob(r.Last.Job)}
			},
		},
		Cannot: func(v *page.View, a page.Action, r engine.ScheduleRow) string {
			_, collection := engine.CollectionOf(r.Name)
			switch {
			case a == page.Open && r.Last.Job == "" && !collection:
				return human.Either(r.Last.Planned.IsZero(), "it never ran", "its last run made no job")
			case a == page.Edit && collection:
				return "a collection goes by its --every: collect the same again with another"
			case a == page.Cancel && collection:
				return v.Keyed("{pause} pauses the collection; {open} opens it")
			case a == page.Cancel:
				return v.Keyed("{pause} pauses a schedule; {open} opens the job of its last run")
			}
			return ""
		},
	}
	return p
}

// Want implements Page: schedules move with the database.
func (p *screen) Want(v *page.View) engine.Query {
	return p.Ask(v, v.Seq, engine.SchedulesQuery{})
}

// Got implements Page.
func (p *screen) Got(v *page.View, q engine.Query, a engine.Answer, err error) {
	page.Receive[engine.SchedulesQuery](&p.Answer, v, q, a, err, &p.page)
}

// Draw implements Page.
// The selected schedule stands in full below the list; where there is room the runs of all of them
// on one axis, else those that come next; below that these and what was left out.
// A wide screen has the tracked accounts beside that: they are what the schedules are for.
func (p *screen) Draw(v *page.View) []string {
	p.Refresh(v)
	// On a small screen the result has the width of the catalogue.
	result := &p.Fields[resultAt].Head
	if result.Min = columns.ScheduleList[resultAt].Head.Min; v.Size != page.S {
		result.Min = wholeResult
	}
	below := p.detail(v, v.Inner(v.W))
	h, room := p.Parts(v, len(below))
	title := "SELECTED"
	list := p.Section(v, v.Inner(v.W), h, p.empty(v),
		part.Section{Title: "SCHEDULES", Note: p.Note(v), Tail: p.Told(v)})
	if r, ok := p.Selected(); ok {
		title = r.Name
	}
	sections := []part.Section{list, {Title: title, Rows: below, Height: room}}
	if left := room - len(below) - 2; left > len(p.Shown) {
		rows := charts.TimeRows(v, v.Inner(v.W), left, p.runsBack(v), axisAhead, p.runs(v))
		sections[1].Height = len(below)
		sections = append(sections, part.Section{Title: "RUNS", Note: "the last of each, and the next three",
			Rows: rows, Height: len(rows)})
	} else if left > 2 { // an axis without some of them would promise less
		sections[1].Height = len(below)
		sections = append(sections, p.coming(v, v.Inner(v.W), left))
	}
	blocks := []func(w, h int) part.Section{
		func(w, h int) part.Section { return p.coming(v, w, h) },
		func(w, h int) part.Section { return p.leftOut(v, w, h) },
	}
	if v.Size == page.L {
		blocks = append(blocks, func(w, h int) part.Section { return block.TrackedBlock(v, w, h) })
	}
	return block.Above(v, sections, blocks)
}

// resultAt is the column of what became of a run, which is told whole where there is room.
// The first counts columns from 0; the second is in cells.
const resultAt, wholeResult = 7, 36

// coming are the next runs of all schedules, in order.
func (p *screen) coming(v *page.View, w, h int) part.Section {
	return part.Section{Title: "NEXT RUNS", Note: "of all schedules", Empty: "none is planned",
		Rows: block.RunRows(v, charts.RunsOf(v, p.page.Schedules), w, h), Height: h}
}

// leftOut are the runs that did not happen, the newest first.
// Each takes two rows: what was left out, and why.
func (p *screen) leftOut(v *page.View, w, h int) part.Section {
	s := part.Section{Title: "LEFT OUT", Note: "runs that did not happen", Height: h, Empty: "none"}
	// Several runs of one schedule that were left out in a row are one tick with a count.
	type skip struct {
		name string
		engine.ScheduleTick
	}
	var all []skip
	for _, r := range p.page.Schedules {
		for _, tick := range r.Skipped {
			all = append(all, skip{r.Name, tick})
		}
	}
	slices.SortStableFunc(all, func(a, b skip) int { return b.Planned.Compare(a.Planned) })
	for _, t := range all {
		text := v.Clock(t.Planned) + " " + t.name + human.If(t.Count > 1, ", "+page.Count(t.Count)+" times")
		s.Rows = append(s.Rows, v.Row(w, part.As(themes.Warn, " "+string(t.Result)), part.Plain(" "+text)),
			v.Row(w, part.As(themes.Dim, "   "+t.Reason)))
	}
	return s
}

// How far the axis of the runs reaches: an hourly one and a daily one are both on it. It goes
// back in steps, so that now seldom moves.
const (
	axisBack  = 4 * time.Hour
	axisStep  = 6 * time.Hour
	axisAhead = 26 * time.Hour
)

// runsBack is how far the axis goes back: to the last run of each schedule, but no further
// than it goes ahead.
// A last run that is older than that is left off the axis.
func (p *screen) runsBack(v *page.View) time.Duration {
	back := axisBack
	for _, r := range p.Shown {
		if age := v.Now.Sub(r.Last.At); r.Last.Result != "" && age <= axisAhead {
			back = max(back, (age/axisStep+1)*axisStep)
		}
	}
	return min(back, axisAhead)
}

// runs are the last run of each schedule and those that are planned.
// The first of those that are planned, and the last one, are told with their instants.
func (p *screen) runs(v *page.View) []charts.TimeRow {
	rows := make([]charts.TimeRow, len(p.Shown))
	for i, r := range p.Shown {
		rows[i].Name = r.Name
		sign := human.Either(r.Paused, v.Theme.State("PAUSED"), v.Theme.State("SCHEDULED"))
		for _, at := range r.Next {
			rows[i].Signs = append(rows[i].Signs, charts.TimeSign{At: at, Sign: sign})
		}
		if len(r.Next) > 0 {
			rows[i].Signs[0].Told = v.Clock(r.Next[0])
		}
		if r.Last.Result != "" {
			cell := columns.LastRun(page.Pen{View: v}, r)
			sign := themes.State{Glyph: v.Theme.State("RUNNING").Glyph, Token: cell.Token}
			rows[i].Signs = append(rows[i].Signs, charts.TimeSign{At: r.Last.At, Sign: sign, Told: v.Clock(r.Last.At)})
		}
	}
	return rows
}

// shownSkips is how many runs that were left out are told of the selected schedule.
const shownSkips = 5

// detail are the next runs of the selected schedule, who paused it, and which
// runs were left out.
// While a new plan is typed, what it would mean stands in its place.
func (p *screen) detail(v *page.View, w int) []string {
	r, ok := p.Selected()
	if !ok {
		return []string{v.Row(w, part.As(themes.Dim, " no schedule is selected"))}
	}
	if rows, ok := p.plan.draw(v, r.Name, w); ok {
		return rows
	}
	rows := append(p.about(v, &r, w), nextRuns(v, &r, w))
	rows = append(rows, lastRun(v, &r, w)...)
	if r.Edit.Expr != "" {
		rows = append(rows, v.Row(w, part.As(themes.Accent, " "+editedText(v, &r))))
	}
	if r.Paused {
		why := "paused" + columns.ByUser(r.By) + " " + v.Ago(r.Since) + human.If(r.Reason != "", ": "+r.Reason)
		rows = append(rows, v.Row(w, part.As(themes.Held, " "+why)))
	}
	for _, t := range r.Skipped[:min(len(r.Skipped), shownSkips)] {
		text := " " + string(t.Result) + " " + v.Clock(t.Planned)
		if t.Count > 1 {
			text = " " + string(t.Result) + " " + page.Count(t.Count) + " from " + v.Clock(t.Planned) + " to " +
				v.Clock(t.Last)
		}
		rows = append(rows, v.Row(w, part.As(themes.Warn, text), part.As(themes.Dim, "  "+t.Reason)))
	}
	return rows
}

// about says what the schedule does and when, in words.
// What is no simpler in words is told as it is configured, with what happens to a run that is
// missed.
func (p *screen) about(v *page.View, r *engine.ScheduleRow, w int) []string {
	var rows []string
	does := whatItDoes[r.Name]
	if name, ok := engine.CollectionOf(r.Name); ok {
		does = "reads the ladders of collection " + name + " anew, and fetches what is new"
	}
	if does != "" {
		rows = append(rows, v.Row(w, part.As(themes.Dim, " does   "), part.Plain(does)))
	}
	facts := v.Join(part.Plain(columns.When(r.Expr)), part.As(themes.Dim, columns.ZoneOf(r)),
		part.As(themes.Dim, "if missed: "+r.Misfire))
	return append(rows, v.Row(w, append([]part.Cell{part.As(themes.Dim, " when   ")}, facts...)...))
}

// nextRuns are the next runs of a schedule.
// "never" stands for a plan that has no date to come.
func nextRuns(v *page.View, r *engine.ScheduleRow, w int) string {
	next := []part.Cell{part.As(themes.Dim, " next   ")}
	for _, at := range r.Next {
		next = append(next, part.Plain(at.In(v.Now.Location()).Format("Mon 02 Jan 15:04")+"   "))
	}
	if len(r.Next) == 0 {
		next = append(next, part.As(themes.Dim, "never"))
	}
	return v.Row(w, next...)
}

// lastRun tells all of what became of the last run: a list has room for its start.
func lastRun(v *page.View, r *engine.ScheduleRow, w int) []string {
	if r.Last.Result == "" {
		return nil
	}
	cell := columns.LastRun(page.Pen{View: v}, r)
	when := "   " + r.Last.At.In(v.Now.Location()).Format("Mon 02 Jan 15:04") + "   "
	label, room := " last", max(w-len(" last")-len(when)-1, 10)
	var rows []string
	for _, line := range part.Wrap(cell.Text, room) {
		rows = append(rows, v.Row(w, part.As(themes.Dim, label), part.Plain(when), part.As(cell.Token, line)))
		label, when = strings.Repeat(" ", len(label)), strings.Repeat(" ", len(when))
	}
	return rows
}

// empty says why there is no row.
func (p *screen) empty(v *page.View) string {
	return cmp.Or(p.Absent(v, "the schedules", "schedules"), cmp.Or(p.List.Empty(v), "there is no schedule"))
}
