package classes

import (
	"cmp"
	"math"
	"slices"
	"time"

	"github.com/farsight-console/farsight/engine"
	"github.com/farsight-console/farsight/engine/columns"
	"github.com/farsight-console/farsight/engine/human"
	"github.com/farsight-console/farsight/themes"
	"github.com/farsight-console/farsight/ui/block"
	"github.com/farsight-console/farsight/ui/charts"
	"github.com/farsight-console/farsight/ui/page"
	"github.com/farsight-console/farsight/ui/part"
)

// classJobs are jobs of the selected class: those that are tried again by when that is, then
// those that gave up.
// cur is never moved: the rows have no cursor, and the table wants one.
type classJobs struct {
	page.Answer
	id   string // of the class
	rows []engine.JobRow
	cur  part.Cursor
}

// mostOfClass is how many of them are asked for. No screen has room for more ladders.
const mostOfClass = 50

// wants reports whether it is time to ask for those of a class.
// A change of class drops the question that is on its way: its answer is of another class.
func (c *classJobs) wants(v *page.View, id string) bool {
	if id != c.id {
		c.id, c.rows, c.Pending = id, nil, false
		c.Forget()
	}
	return c.Due(v, v.Seq)
}

// got takes the answer, if it is about the class that is selected by now.
func (c *classJobs) got(v *page.View, q engine.JobsQuery, a engine.Answer, err error) {
	if string(q.Class) == c.id && c.Take(v, err) {
		came, _ := a.(engine.JobsPage)
		c.rows = slices.Clone(came.Jobs)
		page.SortJobs(c.rows)
	}
}

// list are the jobs as they are now.
// What Watch has told since the answer is newer, and known by its revision.
func (c *classJobs) list(v *page.View) []*engine.JobRow {
	out := make([]*engine.JobRow, len(c.rows))
	for i := range c.rows {
		out[i] = &c.rows[i]
		if now, ok := v.Job(c.rows[i].ID); ok && now.Rev > c.rows[i].Rev {
			out[i] = &now
		}
	}
	return out
}

// Draw implements Page: the classes with their last hour, and of the selected one its jobs as
// ladders, whether they are tried again, and what Riot answered.
// The selected class has the rest of the screen: what an operator decides about (try again, leave,
// open again) is decided for a class and not for a job.
func (p *screen) Draw(v *page.View) []string {
	p.Refresh(v)
	// Three rows at least, so that the first classes do not move what is below.
	rows := max(p.All, len(p.Shown), 3)
	classes := page.Band{Least: 2 + min(rows, max(v.H/4, 3)), Most: 2 + rows, Draw: func(y, h int) []string {
		s := part.Section{Title: "ERROR CLASSES", Note: p.Note(v, string(p.queue), p.counted()), Tail: p.tail(v)}
		return v.Sections(0, y, v.W, h, p.classes(v, v.Inner(v.W), h-1, s))
	}}
	r, ok := p.Selected()
	if !ok {
		return v.Bands(classes)
	}
	jobs := p.jobs.list(v)
	why := p.why(v, &r, jobs)
	all := []page.Band{
		classes,
		{Least: 2 + min(p.most(), 4), Most: 2 + min(p.most(), max(v.H/3, 4)), Keep: 1, Draw: func(y, h int) []string {
			return v.Sections(0, y, v.W, h, p.ladders(v, &r, jobs, v.Inner(v.W), h-1))
		}},
		{Least: 1 + len(why), Most: 1 + len(why), Draw: func(y, h int) []string {
			return v.Sections(0, y, v.W, h, part.Section{Title: "WHY", Note: "what becomes of them", Rows: why})
		}},
		{Least: 5, Most: 10, Keep: 2, Draw: func(y, h int) []string { return v.Abreast(y, h, p.blocks(v, &r, jobs)) }},
	}
	if v.Size == page.L {
		all = append(all, page.Band{Least: 4, Most: tallestHour + 2, Keep: 5, Draw: func(y, h int) []string {
			return v.Sections(0, y, v.W, h, p.lastHour(v, &r, v.Inner(v.W), h-1))
		}})
	}
	if log := block.LogRows(v, v.Inner(v.W), 8, r.Latest); len(log) > 0 && r.Latest != "" {
		all = append(all, page.Band{Least: 2, Most: 1 + len(log), Keep: 4, Draw: func(y, h int) []string {
			return v.Sections(0, y, v.W, h,
				part.Section{Title: "LOG", Note: "of the job that failed last", Rows: log[:min(len(log), h-1)]})
		}})
	}
	// Failures of late take what is left of the screen.
	failed := math.MaxInt
	if v.Size == page.L { // which has the foot below it
		failed = 4
	}
	return v.Stacked(append(all,
		page.Band{Least: 4, Most: failed, Keep: 3,
			Draw: func(y, h int) []string { return v.Sections(0, y, v.W, h, block.Failures(v, h-1)) }})...)
}

// tallestHour is how high the chart of a class's failures grows.
const tallestHour = 6

// lastHour draws the failures of a class by the step, on the axis of the class's row.
// Lately holds a count for each of [engine.ClassSteps] steps, the oldest first; nil where none failed
// in the past hour.
func (p *screen) lastHour(v *page.View, r *engine.ClassRow, w, h int) part.Section {
	// Cells of the scale at the left: numbers up to 9,999 and a gap.
	const label = 6
	each := (w - label - 2) / engine.ClassSteps
	s := part.Section{Title: "LAST HOUR", Note: "failures of " + columns.InShort(r.Error),
		Tail: "per " + human.Window(time.Hour/engine.ClassSteps), Height: h}
	if each < 1 || h < 2 {
		return s
	}
	cells := each * engine.ClassSteps
	c := part.NewChart(v.Theme, part.NewAxis(v.Now, time.Hour/time.Duration(cells), cells, cells+1), h)
	// All classes have the scale of the worst one: the chart of another class is compared at a
	// glance.
	high, step, apart := charts.EvenScale(float64(p.top()), h-1)
	values := make([]float64, cells)
	for x := range values {
		if i := x/each + len(r.Lately) - engine.ClassSteps; i >= 0 && x%each < max(each-1, 1) { // columns stand apart
			values[x] = float64(r.Lately[i])
		}
	}
	c.Area(0, h-1, part.Series{Values: values, Top: high, Token: themes.Err})
	c.Seam(0, h-1)
	c.Words(h - 1)
	l := part.NewLine(v.Theme, w)
	for y := range h {
		l.Reset(w, false)
		mark := ""
		if from := h - 2 - y; from >= 0 && from%apart == 0 {
			mark = page.Count(from / apart * int(step))
		}
		s.Rows = append(s.Rows, c.Row(l.Gap(1).Field(part.As(themes.Dim, mark), label-2, part.Number).Gap(1),
			y).String())
	}
	return s
}

// most is how many jobs the largest class has: what stands below its jobs has its place for all
// classes.
func (p *screen) most() (n int) {
	for _, r := range p.Shown {
		n = max(n, r.Jobs)
	}
	return n
}

// counted is how many failed jobs there are.
// "" = there is none, or that is not known yet.
func (p *screen) counted() string {
	return human.If(p.found.Jobs != 0, human.Counted(p.found.Jobs, "job", "jobs")+" whose last try failed")
}

// tail says what the columns of the hour stand for.
func (p *screen) tail(v *page.View) string {
	if told := p.Told(v); told != "" || v.Size == page.S {
		return told
	}
	return "failed per " + human.Window(time.Hour/engine.ClassSteps) + ", up to " + page.Count(p.top())
}

// top is the most failures of a class in one step of the hour.
// At least 3, so that a single failure is no tower.
func (p *screen) top() int {
	top := 3
	for _, r := range p.Shown {
		top = max(top, slices.Max(append(r.Lately, 0)))
	}
	return top
}

// hourWidth is what the last hour takes of w cells beside the classes: some for each step.
// 87 cells hold the list with its messages; below that there is no chart, and no more than 3 cells
// a step.
func hourWidth(w int) int {
	const list = 87
	return min((w-list)/engine.ClassSteps, 3) * engine.ClassSteps
}

// classes is the list, and beside it the last hour of each class on one axis.
// Its rows stand beside the list's, the header's with the words of the axis.
func (p *screen) classes(v *page.View, w, h int, s part.Section) part.Section {
	hour := hourWidth(w)
	if hour <= 0 {
		return p.Section(v, w, h, p.empty(v), s)
	}
	list := w - hour - 3 // now, and a cell at either side
	s = p.Section(v, list, h, p.empty(v), s)
	a := charts.TimeAxis{Axis: part.NewAxis(v.Now, time.Hour/time.Duration(hour), hour, hour+1)}
	c := part.NewChart(v.Theme, a.Axis, h)
	c.Words(0)
	src, top := p.Rows(v), float64(p.top())
	for y := 1; y < h; y++ {
		i, ok := p.Cur.Row(src, y-1)
		if !ok || len(p.Shown[i].Lately) != engine.ClassSteps {
			continue
		}
		values := a.Unknown()
		for x := range hour {
			values[x] = float64(p.Shown[i].Lately[x*engine.ClassSteps/hour])
		}
		c.Area(y, 1, part.Series{Values: values, Top: top, Token: themes.Err})
	}
	c.Seam(1, min(len(p.Shown), h-1))
	page.Beside(v, s.Rows, c, hour+3, p.OnRow(len(p.Shown)))
	return s
}

// ladders are the jobs of a class, and beside them how each failed and is tried again.
// When not all jobs have a row, the last row says how many more there are.
func (p *screen) ladders(v *page.View, r *engine.ClassRow, jobs []*engine.JobRow, w, h int) part.Section {
	s := part.Section{Title: columns.ClassAnswer(r),
		Note: columns.ClassWhere(r) + ", " + human.Percent(r.Share) + " of all failures", Tail: p.About(v.Keyed("{open} lists " + human.Counted(r.Jobs, "job", "jobs")))}
	// 0 = the section is too narrow for an axis.
	life := charts.LifeWidth(w)
	shown := jobs[:min(len(jobs), h-1)]
	if more := r.Jobs - len(shown); more > 0 && len(shown) > 0 && len(shown) == h-1 {
		shown = shown[:h-2]
	}
	src := part.Slice[*engine.JobRow]{Items: shown, Key: func(j *engine.JobRow) string { return string(j.ID) },
		Cells: func(j *engine.JobRow, cells []part.Cell) []part.Cell {
			return page.CellsOf(v, jobColumns)(*j, cells)
		}}
	t := part.Table{Columns: jobColumns.Heads(), Still: true,
		Empty: cmp.Or(p.jobs.Absent(v, "its jobs", "its jobs"), "none is among the jobs that were looked at")}
	s.Rows = t.View(v.Theme, w-life, h, src, &p.jobs.cur)
	if more := r.Jobs - len(shown); more > 0 && len(shown) > 0 && len(shown) < h-1 {
		s.Rows[len(shown)+1] = v.Row(w-life,
			part.As(themes.Dim, "   "+v.Theme.Glyphs.Ellipsis+" "+page.Count(more)+" more"))
	}
	if life == 0 {
		return s
	}
	c := part.NewChart(v.Theme, charts.LifeAxis(v.Beat(), shown, failing, life-2), h)
	c.Words(0)
	for i, j := range shown {
		// One that gave up is tried no more: it has a life and no ladder.
		if j.State.Terminal() {
			charts.DrawLife(v, c, i+1, j)
		} else {
			charts.DrawLadder(v, c, i+1, j)
		}
	}
	c.Seam(1, len(shown))
	page.Beside(v, s.Rows, c, life, -1)
	return s
}

// failing is since when a job fails.
// The axis of the ladders begins there: a job may have waited long before its first try.
func failing(j *engine.JobRow) time.Time {
	if first, ok := charts.FirstFailure(j); ok {
		return first
	}
	return j.Created
}

// jobColumns are those of Jobs in groups.
// Without the spare ones: the ladders beside them need the room.
var jobColumns = slices.DeleteFunc(slices.Clone(block.JobGroupColumns),
	func(c columns.Column[engine.JobRow]) bool { return c.Spare })

// why says whether the jobs of a class are tried again by themselves, and what an operator can do.
// The numbers of jobs are the class's own; when they go is known of those that were asked for.
// Such as "12 jobs are tried again. The next goes in 0:41, the last in 4:10."
func (p *screen) why(v *page.View, r *engine.ClassRow, jobs []*engine.JobRow) []string {
	// Lead, text and act are drawn in that order; what is "" is left out.
	t := charts.Told{Lead: "None of them is tried again by itself."}
	var next, last time.Time
	late := 0
	for _, j := range jobs {
		if at := page.GoesAt(j); !j.State.Terminal() && !at.IsZero() {
			if last = engine.Latest(last, at); next.IsZero() || at.Before(next) {
				next = at
			}
			late += page.Btoi(j.LateBy != "")
		}
	}
	switch {
	case r.Waiting > 0:
		t.Lead = human.Counted(r.Waiting, "job is", "jobs are") + " tried again."
		if !next.IsZero() {
			t.Text = "The next goes " + charts.InText(v, next) + ", the last " + charts.InText(v, last) + "."
		}
		t.Act = v.Keyed("{retry} tries one of them now, and the others if that works.")
	case len(jobs) > 0:
		t.Text = page.Capital(block.ClassesOf(jobs)+block.GaveUp(jobs)) + "."
	}
	if late > 0 {
		t.Late = human.Counted(late, "goes", "go") + " later than due: there is no room."
	}
	t.Text += human.If(r.Dead > 0, " "+page.Count(r.Dead)+" gave up: "+v.Keyed("{reclass} opens them again, one first."))
	return t.Rows(v, v.Inner(v.W))
}

// blocks are what Riot answered last, what the class is, and how often its jobs have failed.
// Headers stand below the answer: a Retry-After or a Riot trace id is what support asks for.
func (p *screen) blocks(v *page.View, r *engine.ClassRow, jobs []*engine.JobRow) []func(w, h int) part.Section {
	all := []func(w, h int) part.Section{
		func(w, h int) part.Section {
			s := part.Section{Title: "RIOT'S ANSWER", Height: h,
				Rows: block.LabelledRows(v, w, "",
					part.Wrap(cmp.Or(columns.InShort(r.Error), part.None), max(w-2, 10)))}
			if c := p.failure(r); c != nil {
				s.Note, s.Rows = p.latest.AnsweredNote(v), p.latest.AnswerRows(v, w)
				for _, h := range c.Headers {
					s.Rows = append(s.Rows, v.Row(w, part.As(themes.Dim, " "+h)))
				}
			}
			return s
		},
		func(w, h int) part.Section {
			return part.Section{Title: "THE CLASS", Height: h, Rows: block.FactRows(v, w, []block.Fact{
				{Key: "first", Value: v.Ago(r.First)}, {Key: "last", Value: v.Ago(r.Last)},
				{Key: "error", Value: cmp.Or(columns.InShort(r.Error), part.None)},
				{Key: "shape", Value: cmp.Or(r.Shape, part.None)},
			})}
		},
	}
	if v.Size == page.S {
		return all
	}
	return append(all, func(w, h int) part.Section {
		return part.Section{Title: "TRIES", Note: "so far, of these jobs", Height: h, Rows: triesRows(v, r, jobs, w)}
	})
}

// failure is the last call of the job that failed last, if that is the failure: a later call of a job
// with several may have gone well, or failed otherwise. nil = the recorder has it not.
func (p *screen) failure(r *engine.ClassRow) *engine.CallRow {
	if p.latest == nil {
		return nil
	}
	if c := p.latest.Detail.Call; c != nil && c.Class == r.Class {
		return c
	}
	return nil
}

// triesRows are how many jobs have used how many tries.
// Whether they fail at once or only in the end tells a fault of theirs from one of the server.
func triesRows(v *page.View, r *engine.ClassRow, jobs []*engine.JobRow, w int) (rows []string) {
	// Jobs by the tries that they have used, from 0.
	var n []int
	for _, j := range jobs {
		for len(n) <= j.Tries {
			n = append(n, 0)
		}
		n[j.Tries]++
	}
	token, bar := themes.Retry, page.Clamp(w-21, 0, 24)
	if r.Waiting == 0 {
		token = themes.Err
	}
	for tries, n := range n {
		if tries > 0 || n > 0 {
			l := part.NewLine(v.Theme, w).Gap(1).
				Field(part.Plain(human.Counted(tries, "try", "tries")), w-bar-9, part.Words).Gap(1)
			rows = append(rows, l.Bar(token, bar, float64(n)/float64(len(jobs))).
				Field(page.Number(themes.Figure, n), 6, part.Number).String())
		}
	}
	return rows
}
