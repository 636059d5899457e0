package page

import (
	"strconv"
	"time"

	"github.com/farsight-console/farsight/engine"
	"github.com/farsight-console/farsight/themes"
	"github.com/farsight-console/farsight/ui/part"
)

// Retries shows what will be tried again, and when.
type Retries struct {
	list   pane
	filter string
}

// NewRetries makes the screen.
func NewRetries() *Retries { return &Retries{} }

// Screen implements Page.
func (p *Retries) Screen() Screen { return ScreenRetries }

// Crumb implements Page.
func (p *Retries) Crumb(*View) string { return "" }

// Want implements Page: the next retries come with Watch.
func (p *Retries) Want(*View) engine.Query { return nil }

// Got implements Page.
func (p *Retries) Got(*View, engine.Query, engine.Answer, error) {}

// Filter implements Filterer.
func (p *Retries) Filter() string { return p.filter }

// SetFilter implements Filterer.
func (p *Retries) SetFilter(text string) { p.filter, p.list.asked = text, true }

func (p *Retries) source(v *View) part.Slice[engine.JobRow] {
	rows := v.Retries()
	if p.filter != "" {
		rows = filterJobs(rows, p.filter)
	}
	return part.Slice[engine.JobRow]{Items: rows, Key: jobID, Cells: func(j engine.JobRow, cells []part.Cell) []part.Cell {
		return append(cells,
			part.As(themes.Wait, v.until(j.Due)),
			part.Plain(keyOf(j.Job)),
			v.state(StateWord(j.Job)),
			part.Plain(nextOf(j)),
			part.As(themes.Err, string(j.Class)),
			part.As(themes.Dim, lastResult(v, j)),
			part.As(themes.Dim, string(j.Queue)),
			part.As(themes.Dim, v.clock(j.Due)),
		)
	}}
}

func filterJobs(rows []engine.JobRow, filter string) []engine.JobRow {
	var fit []engine.JobRow
	for _, j := range rows {
		if fits(filter, keyOf(j.Job), StateWord(j.Job), string(j.Queue), string(j.Kind), string(j.Class), j.LastError, j.Why, string(j.ID)) {
			fit = append(fit, j)
		}
	}
	return fit
}

var retryListColumns = []part.Column{
	{Title: "IN", Kind: part.Words, Min: 6, Width: 8},
	{Title: "JOB", Kind: part.ID, Min: 14, Width: 26, Flex: 1},
	{Title: "STATE", Kind: part.State, Min: 11, Width: 11},
	{Title: "NEXT TRY", Kind: part.Number, Min: 8, Width: 8},
	{Title: "CLASS", Kind: part.Words, Min: 7, Width: 8, Priority: 2},
	{Title: "LAST RESULT", Kind: part.Words, Min: 14, Width: 30, Flex: 2, Priority: 1},
	{Title: "QUEUE", Kind: part.Words, Min: 22, Width: 22, Priority: 4},
	{Title: "DUE", Kind: part.Words, Min: 8, Width: 8, Priority: 3},
}

// Cannot implements Page.
func (p *Retries) Cannot(v *View, a Action) string {
	switch a {
	case Pause:
		return "p pauses a queue: go to the overview or to the jobs"
	case Open, Retry, Cancel:
		return missing(&p.list, p.source(v), "retry")
	}
	return ""
}

// Act implements Page.
func (p *Retries) Act(v *View, a Action) Effect {
	src := p.source(v)
	if p.list.act(src, a) {
		return Effect{}
	}
	if a == Trigger {
		return Effect{Ask: AskSync}
	}
	if j, ok := selected(&p.list, src); ok {
		return actJob(v, j, a)
	}
	return Effect{}
}

// due are the columns of the histogram.
var due = []struct {
	name string
	to   time.Duration
}{
	{"now", 0}, {"30 s", 30 * time.Second}, {"1 min", time.Minute}, {"2 min", 2 * time.Minute}, {"5 min", 5 * time.Minute}, {"later", 1<<63 - 1},
}

// Draw implements Page.
func (p *Retries) Draw(v *View) []string {
	src := p.source(v)
	w := v.W - 2
	hist := p.histogram(v, src.Items, w)
	t := part.Table{Columns: retryListColumns, Empty: p.empty(v)}
	h := max(v.H-len(hist)-3, 0)
	return part.Box(v.Theme, v.W, v.H,
		part.Panel{Title: p.title(v, src.Items), Rows: hist, Height: len(hist)},
		part.Panel{Title: "Due next", Focus: true, Rows: p.list.table(v, t, w, h, src), Height: h},
	)
}

func (p *Retries) title(v *View, rows []engine.JobRow) string {
	name := "Retry schedule"
	if all := len(v.Retries()); p.filter != "" {
		return name + " " + count(len(rows)) + " of " + count(all) + " " + v.Theme.Glyphs.Sep + " /" + p.filter
	}
	if len(rows) == 0 {
		return name
	}
	return name + " " + v.Theme.Glyphs.Sep + " " + count(len(rows)) + " waiting " + v.Theme.Glyphs.Sep + " next " + v.until(rows[0].Due)
}

func (p *Retries) empty(v *View) string {
	if all := len(v.Retries()); p.filter != "" && all > 0 {
		return "0 of " + count(all) + " " + v.Theme.Glyphs.Sep + " esc clears /" + p.filter
	}
	return or(v.waiting(), "nothing waits for a retry")
}

// histogram counts the retries of each try number by when they are due.
func (p *Retries) histogram(v *View, rows []engine.JobRow, w int) []string {
	const name = 14
	cell := clamp((w-name-4)/len(due), 7, 16)
	head := part.NewLine(v.Theme, w).Gap(1 + name)
	for _, d := range due {
		head.Field(part.As(themes.Dim, d.name), cell, part.Number)
	}
	out := []string{head.String()}
	counts, highest := bins(v.Now, rows)
	for try := 2; try <= highest; try++ {
		l := part.NewLine(v.Theme, w).Gap(1).Field(part.Plain("next try "+strconv.Itoa(try)), name, part.Words)
		for i := range due {
			n := counts[try][i]
			token := themes.Wait
			if n == 0 {
				token = themes.Off
			}
			text := count(n)
			if n == 0 {
				text = v.Theme.Glyphs.BarNone
			}
			l.Field(part.As(token, text), cell, part.Number)
		}
		out = append(out, l.String())
	}
	return out
}

// lastTry is the highest try number that has a row of its own.
const lastTry = 5

func bins(now time.Time, rows []engine.JobRow) (counts [lastTry + 1][6]int, highest int) {
	highest = 2
	for _, j := range rows {
		try := clamp(j.Tries+1, 2, lastTry)
		highest = max(highest, try)
		left := j.Due.Sub(now)
		for i, d := range due {
			if left <= d.to {
				counts[try][i]++
				break
			}
		}
	}
	return counts, highest
}
