package page

import (
	"time"

	"github.com/farsight-console/farsight/engine"
	"github.com/farsight-console/farsight/themes"
	"github.com/farsight-console/farsight/ui/part"
)

// Shown says which jobs a list holds.
type Shown uint8

// Choices of jobs.
const (
	shownLive Shown = iota
	shownFailed
	shownAll
)

var shownNames = [...]string{"live", "failed", "live and ended"}

// reloadEvery is how long a list that is read from disk stays as it is while
// the database moves on.
const reloadEvery = 2 * time.Second

// listMost is how many jobs a list asks for.
const listMost = 500

// Jobs lists jobs of one queue or of all.
type Jobs struct {
	list   pane
	queue  engine.Queue
	shown  Shown
	filter string
	answer
	page   engine.JobsPage
	turned bool // other jobs were asked for than those shown

	sorted []engine.JobRow // what is shown, kept until what it is made of changes
	made   madeOf
}

// madeOf names the versions of what a list was made of.
type madeOf struct {
	frozen  bool
	at, got time.Time
	filter  string
}

// NewJobs makes the list; queue "" means all.
func NewJobs(queue engine.Queue, shown Shown) *Jobs { return &Jobs{queue: queue, shown: shown} }

// AllJobs makes the numbered screen.
func AllJobs() *Jobs { return NewJobs("", shownLive) }

// Screen implements Page.
func (p *Jobs) Screen() Screen { return ScreenJobs }

// Crumb implements Page.
func (p *Jobs) Crumb(*View) string { return string(p.queue) }

// Filter implements Filterer.
func (p *Jobs) Filter() string { return p.filter }

// SetFilter implements Filterer.
func (p *Jobs) SetFilter(text string) { p.filter, p.list.asked = text, true }

// Want implements Page.
func (p *Jobs) Want(v *View) engine.Query {
	if !p.due(v, v.Seq) {
		return nil
	}
	q := engine.JobsQuery{Page: engine.Page{Limit: listMost}, Queue: p.queue}
	switch p.shown {
	case shownFailed:
		q.States, q.Ended = []engine.State{engine.Discarded}, true
	case shownAll:
		q.States, q.Ended = engine.States(), true
	}
	return q
}

// Got implements Page.
func (p *Jobs) Got(v *View, q engine.Query, a engine.Answer, err error) {
	asked, ok := q.(engine.JobsQuery)
	if ok && asked.Queue == p.queue && p.take(v, err) {
		p.page, _ = a.(engine.JobsPage)
		p.list.asked, p.turned = p.turned, false
	}
}

// source is the answer from disk with what Watch has told since.
func (p *Jobs) source(v *View) part.Slice[engine.JobRow] {
	if now := (madeOf{v.Frozen, v.At, p.got, p.filter}); now != p.made {
		p.sorted, p.made = p.sort(v), now
	}
	return part.Slice[engine.JobRow]{Items: p.sorted, Key: jobID, Cells: func(j engine.JobRow, cells []part.Cell) []part.Cell {
		return jobCells(v, j, cells)
	}}
}

func (p *Jobs) sort(v *View) []engine.JobRow {
	rows := make([]engine.JobRow, 0, len(p.page.Jobs))
	seen := make(map[engine.JobID]bool, len(p.page.Jobs))
	for _, j := range p.page.Jobs {
		if now, ok := v.Job(j.ID); ok && now.Rev > j.Rev {
			j = now
		}
		seen[j.ID] = true
		rows = append(rows, j)
	}
	// The list from disk ends somewhere; what runs or is due next is always shown.
	for _, j := range v.Jobs {
		if p.shown != shownFailed && !seen[j.ID] && (p.queue == "" || p.queue == j.Queue) {
			rows = append(rows, j)
		}
	}
	SortJobs(rows)
	if p.filter != "" {
		rows = filterJobs(rows, p.filter)
	}
	return rows
}

func jobCells(v *View, j engine.JobRow, cells []part.Cell) []part.Cell {
	result := part.As(themes.Dim, lastResult(v, j))
	if j.State == engine.Discarded {
		result.Token = themes.Err
	}
	return append(cells,
		part.Plain(keyOf(j.Job)),
		part.As(themes.Dim, string(j.Queue)),
		v.state(StateWord(j.Job)),
		part.Plain(tries(j, 0)),
		part.Plain(nextTry(v, j)),
		part.As(themes.Dim, jobAge(v, j)),
		result,
		part.As(themes.Dim, string(j.ID)),
	)
}

var jobColumns = []part.Column{
	{Title: "JOB", Kind: part.ID, Min: 24, Width: 24, Flex: 1},
	{Title: "QUEUE", Kind: part.Words, Min: 22, Width: 22, Priority: 3},
	{Title: "STATE", Kind: part.State, Min: 11, Width: 11},
	{Title: "TRY", Kind: part.Number, Min: 3, Width: 3},
	{Title: "NEXT", Kind: part.Number, Min: 6, Width: 8},
	{Title: "AGE", Kind: part.Number, Min: 5, Width: 5, Priority: 2},
	{Title: "LAST RESULT, OR WHY IT WAITS", Kind: part.Words, Min: 20, Width: 30, Flex: 2, Priority: 1},
	{Title: "ID", Kind: part.Words, Min: 14, Width: 14, Priority: 4},
}

// Cannot implements Page.
func (p *Jobs) Cannot(v *View, a Action) string {
	j, ok := selected(&p.list, p.source(v))
	switch {
	case a == Pause && p.queue != "":
		return ""
	case a == Open || a == Retry || a == Cancel || a == Pause:
		if !ok {
			return none(&p.list, "job")
		}
	}
	switch a {
	case Retry:
		return cannotRetry(j)
	case Cancel:
		return cannotCancel(j)
	}
	return ""
}

// Act implements Page.
func (p *Jobs) Act(v *View, a Action) Effect {
	src := p.source(v)
	switch {
	case p.list.act(src, a):
		return Effect{}
	case a == Trigger:
		return Effect{Ask: AskSync}
	case a == States:
		p.shown = (p.shown + 1) % Shown(len(shownNames))
		p.forget()
		p.turned = true
		return Effect{}
	}
	j, ok := selected(&p.list, src)
	if a == Pause {
		return pauseQueue(v, engine.Queue(or(string(p.queue), string(j.Queue))))
	}
	if !ok {
		return Effect{}
	}
	return actJob(v, j, a)
}

// Draw implements Page.
func (p *Jobs) Draw(v *View) []string {
	src := p.source(v)
	t := part.Table{Columns: jobColumns, Empty: p.empty(v)}
	return part.Box(v.Theme, v.W, v.H, part.Panel{
		Title: p.title(v, len(src.Items)), Focus: true, Tail: p.told(v), Rows: p.list.table(v, t, v.W-2, v.H-2, src), Height: v.H - 2,
	})
}

func (p *Jobs) title(v *View, n int) string {
	dot := " " + v.Theme.Glyphs.Sep + " "
	name := "Jobs " + count(n)
	if p.page.Total > n {
		name += " of " + count(p.page.Total)
	}
	name += dot + shownNames[p.shown]
	if p.queue != "" {
		name += dot + string(p.queue)
	}
	if p.filter != "" {
		name += dot + "/" + p.filter
	}
	return name
}

func (p *Jobs) empty(v *View) string {
	dot := " " + v.Theme.Glyphs.Sep + " "
	switch {
	case p.loading():
		return "loading jobs…"
	case p.filter != "" && len(p.page.Jobs) > 0:
		return "0 of " + count(len(p.page.Jobs)) + dot + "esc clears /" + p.filter
	case p.shown == shownFailed:
		return "no job has failed for good" + dot + "s shows the others"
	}
	return v.start("no jobs yet", "t starts a sync")
}
