package page

import (
	"cmp"
	"slices"
	"strings"

	"github.com/farsight-console/farsight/engine"
	"github.com/farsight-console/farsight/engine/filter"
	"github.com/farsight-console/farsight/themes"
	"github.com/farsight-console/farsight/ui/part"
)

// Reasons groups the jobs that do not run by the one reason that each has (I-1):
// what holds how many, and when it ends.
type Reasons struct {
	list[reason]
	answer
	queue  engine.Queue // "" = all
	jobs   []engine.JobRow
	coming []engine.JobRow // pages of the answer that is under way
	next   string
	cut    bool
}

// reason is why some jobs do not run.
type reason struct {
	shape string // without the numbers that differ from job to job
	text  string // of the one that comes first
	jobs  int
	state engine.JobRow // the one that comes first
	first instant       // when it ends for the first of them; zero = not known
	last  instant
}

// mostReasoned bounds how many jobs are grouped.
const mostReasoned = 5_000

var reasonSchema = filter.New(filter.Options{Free: []string{"why", "queue"}, Fuzzy: []string{"why"}, When: "ends"},
	textField("why", filter.Prose, "", func(r *reason) string { return r.text }),
	textField("queue", filter.Name, "", func(r *reason) string { return string(r.state.Queue) }),
	filter.Field[reason]{Name: "jobs", Kind: filter.Number, Value: func(r *reason, _ instant) filter.Value { return filter.Count(r.jobs) }},
	filter.Field[reason]{Name: "ends", Kind: filter.Ahead, Value: func(r *reason, _ instant) filter.Value { return filter.At(r.first) }},
)

// NewReasons makes the list of a queue; "" means all.
func NewReasons(queue engine.Queue) *Reasons {
	return &Reasons{queue: queue, list: newList(reasonSchema, func(r reason) string { return r.shape }, reasonCells, reasonFields)}
}

// Screen implements Page.
func (p *Reasons) Screen() Screen { return ScreenReasons }

// Crumb implements Page.
func (p *Reasons) Crumb(*View) string { return "Reasons" }

// Want implements Page: all live jobs, page by page.
func (p *Reasons) Want(v *View) engine.Query {
	q := engine.JobsQuery{Page: engine.Page{Limit: listMost}, Queue: p.queue}
	if p.next != "" && !p.pending && !v.Frozen {
		p.pending = true
		q.After, p.next = p.next, ""
		return q
	}
	if !p.due(v, v.Seq) {
		return nil
	}
	return q
}

// Got implements Page.
func (p *Reasons) Got(v *View, q engine.Query, a engine.Answer, err error) {
	asked, ok := q.(engine.JobsQuery)
	if !ok || asked.Queue != p.queue || !p.take(v, err) {
		return
	}
	page, _ := a.(engine.JobsPage)
	if asked.After == "" {
		p.coming = nil
	}
	p.coming = append(p.coming, page.Jobs...)
	p.cut = page.Next != "" && len(p.coming) >= mostReasoned
	if p.next = page.Next; p.cut {
		p.next = ""
	}
	if p.next == "" {
		p.jobs, p.coming = p.coming, nil
	}
}

func (p *Reasons) refresh(v *View) {
	p.put(v, madeOf{version: v.Version, got: p.got}, func() []reason { return reasonsOf(p.latest(v)) })
}

// latest are the jobs as Watch has told them since.
func (p *Reasons) latest(v *View) []engine.JobRow {
	rows := make([]engine.JobRow, len(p.jobs))
	for i, j := range p.jobs {
		if now, ok := v.Job(j.ID); ok && now.Rev >= j.Rev {
			j = now
		}
		rows[i] = j
	}
	return rows
}

// whyOf is why a job does not run; "" = it runs or has ended.
func whyOf(j *engine.JobRow) string {
	switch {
	case j.State == engine.Running || j.State.Terminal():
		return ""
	case j.Why != "":
		return j.Why
	case j.State == engine.Retryable:
		return "backs off after " + or(string(j.Class), "a failure")
	case j.Hold != engine.HoldNone:
		return "held: " + j.Hold.String()
	case j.State == engine.Available:
		return "may run now"
	}
	return "is " + strings.ToLower(StateWord(j.Job))
}

// endOf is when a job's reason ends; zero = not known.
func endOf(j *engine.JobRow) instant {
	if j.Until.IsZero() && (j.State == engine.Retryable || j.State == engine.Scheduled) {
		return j.Due
	}
	return j.Until
}

// reasonsOf groups jobs by the shape of their reasons, the largest group first.
func reasonsOf(jobs []engine.JobRow) []reason {
	at := map[string]int{}
	var out []reason
	for i := range jobs {
		j := &jobs[i]
		why := whyOf(j)
		if why == "" {
			continue
		}
		shape := engine.Shape(why)
		n, ok := at[shape]
		if !ok {
			n = len(out)
			at[shape] = n
			out = append(out, reason{shape: shape, text: why, state: *j, first: endOf(j), last: endOf(j)})
		}
		out[n].add(j, why)
	}
	slices.SortFunc(out, func(a, b reason) int { return cmp.Or(b.jobs-a.jobs, strings.Compare(a.shape, b.shape)) })
	return out
}

// add counts a job in its group. The text that is shown is of the one that comes
// first in its line.
func (r *reason) add(j *engine.JobRow, why string) {
	r.jobs++
	end := endOf(j)
	if zeroLast(end, r.first) < 0 {
		r.first = end
	}
	if end.After(r.last) {
		r.last = end
	}
	if j.Place > 0 && (r.state.Place == 0 || j.Place < r.state.Place) {
		r.text, r.state = why, *j
	}
}

func reasonCells(v *View, r reason, cells []part.Cell) []part.Cell {
	return append(cells, part.Plain(r.text), v.state(StateWord(r.state.Job)), part.Plain(count(r.jobs)), part.Plain(endsIn(v, r.first)), part.As(themes.Dim, endsIn(v, r.last)),
		part.As(themes.Dim, keyOf(r.state.Job)), part.As(themes.Dim, string(r.state.Queue)))
}

// endsIn is the time until a reason ends; one whose time has come ends now.
func endsIn(v *View, at instant) string {
	if !at.IsZero() && !at.After(v.Now) {
		return "now"
	}
	return v.in(at)
}

var reasonFields = []field[reason]{
	{part.Column{Title: "WHY", Kind: part.Words, Min: 40, Width: 40, Flex: 2}, func(a, b *reason) int { return strings.Compare(a.text, b.text) }},
	{part.Column{Title: "STATE", Kind: part.State, Min: 11, Width: 11}, nil},
	{part.Column{Title: "JOBS", Kind: part.Number, Min: 6, Width: 6}, func(a, b *reason) int { return a.jobs - b.jobs }},
	{part.Column{Title: "ENDS IN", Kind: part.Number, Min: 8, Width: 8}, func(a, b *reason) int { return zeroLast(a.first, b.first) }},
	{part.Column{Title: "LAST IN", Kind: part.Number, Min: 8, Width: 8, Priority: 2}, func(a, b *reason) int { return zeroLast(a.last, b.last) }},
	{part.Column{Title: "FIRST JOB", Kind: part.ID, Min: 14, Width: 24, Flex: 1, Priority: 1}, nil},
	{part.Column{Title: "ITS QUEUE", Kind: part.Words, Min: 22, Width: 22, Priority: 3}, nil},
}

// SelectedJob implements Jobber: the first one of the group.
func (p *Reasons) SelectedJob(v *View) (engine.JobID, string) {
	p.refresh(v)
	r, ok := p.selected()
	return named(r.state, ok)
}

// Cannot implements Page.
func (p *Reasons) Cannot(v *View, a Action) string {
	p.refresh(v)
	if a == Open {
		return p.missing("reason")
	}
	return ""
}

// Act implements Page.
func (p *Reasons) Act(v *View, a Action) Effect {
	p.refresh(v)
	if p.list.act(v, a) {
		return Effect{}
	}
	r, ok := p.selected()
	switch {
	case a == Trigger:
		return Effect{Ask: AskSync}
	case a == Open && ok:
		return Effect{Open: NewJobsOfReason(p.queue, r.shape, r.text)}
	}
	return Effect{}
}

// Export implements Exporter.
func (p *Reasons) Export(v *View, only bool) (string, [][]string) {
	p.refresh(v)
	return "reasons", p.export(v, only)
}

// Draw implements Page.
func (p *Reasons) Draw(v *View) []string {
	p.refresh(v)
	waiting := 0
	for _, r := range p.shown {
		waiting += r.jobs
	}
	told := plural(waiting, "job waits", "jobs wait")
	if p.cut {
		told = "of the first " + count(mostReasoned) + " jobs"
	}
	return part.Box(v.Theme, v.W, v.H, part.Panel{
		Title: p.title(v, "Why jobs do not run", told, string(p.queue)), Focus: true, Tail: or(p.answer.told(v), p.about(v.keyed("{open} lists them"))),
		Rows: p.draw(v, v.W-2, v.H-2, p.empty(v)), Height: v.H - 2,
	})
}

func (p *Reasons) empty(v *View) string {
	switch {
	case !p.have && p.answer.err != nil:
		return v.failed("the jobs")
	case p.loading():
		return "loading jobs…"
	}
	return or(p.list.empty(v), "no job waits")
}
