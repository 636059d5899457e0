package page

import (
	"cmp"
	"strconv"
	"strings"
	"time"

	"github.com/farsight-console/farsight/engine"
	"github.com/farsight-console/farsight/engine/filter"
	"github.com/farsight-console/farsight/themes"
	"github.com/farsight-console/farsight/ui/part"
)

// Retries shows what will be tried again, and when.
type Retries struct{ list[engine.JobRow] }

// NewRetries makes the screen.
func NewRetries() *Retries {
	return &Retries{newList(filter.Jobs, jobID, retryCells, retryFields)}
}

// Screen implements Page.
func (p *Retries) Screen() Screen { return ScreenRetries }

// Crumb implements Page.
func (p *Retries) Crumb(*View) string { return "" }

// Want implements Page: the next retries come with Watch.
func (p *Retries) Want(*View) engine.Query { return nil }

// Got implements Page.
func (p *Retries) Got(*View, engine.Query, engine.Answer, error) {}

func (p *Retries) refresh(v *View) {
	p.put(v, madeOf{v.Version, time.Time{}}, v.Retries)
}

func retryCells(v *View, j engine.JobRow, cells []part.Cell) []part.Cell {
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
}

var retryFields = []field[engine.JobRow]{
	{part.Column{Title: "IN", Kind: part.Words, Min: 6, Width: 8}, func(a, b *engine.JobRow) int { return zeroLast(a.Due, b.Due) }},
	{part.Column{Title: "JOB", Kind: part.ID, Min: 14, Width: 26, Flex: 1}, func(a, b *engine.JobRow) int { return strings.Compare(keyText(&a.Job), keyText(&b.Job)) }},
	{part.Column{Title: "STATE", Kind: part.State, Min: 11, Width: 11}, nil},
	{part.Column{Title: "NEXT TRY", Kind: part.Number, Min: 8, Width: 8}, func(a, b *engine.JobRow) int { return cmp.Compare(a.Tries, b.Tries) }},
	{part.Column{Title: "CLASS", Kind: part.Words, Min: 7, Width: 8, Priority: 2}, func(a, b *engine.JobRow) int { return cmp.Compare(a.Class, b.Class) }},
	{part.Column{Title: "LAST RESULT", Kind: part.Words, Min: 14, Width: 30, Flex: 2, Priority: 1}, func(a, b *engine.JobRow) int { return strings.Compare(a.LastError, b.LastError) }},
	{part.Column{Title: "QUEUE", Kind: part.Words, Min: 22, Width: 22, Priority: 4}, func(a, b *engine.JobRow) int { return cmp.Compare(a.Queue, b.Queue) }},
	{part.Column{Title: "DUE", Kind: part.Words, Min: 8, Width: 8, Priority: 3}, func(a, b *engine.JobRow) int { return zeroLast(a.Due, b.Due) }},
}

// Cannot implements Page.
func (p *Retries) Cannot(v *View, a Action) string {
	p.refresh(v)
	switch {
	case p.cur.MarkCount() > 0 && (a == Retry || a == Cancel):
		return ""
	case a == Pause:
		return "p pauses a queue: go to the overview or to the jobs"
	case a == Open:
		return p.cannotOpen("retry")
	case a == Retry, a == Cancel, a == Due, a == Force:
		return p.missing("retry")
	}
	return ""
}

// Act implements Page.
func (p *Retries) Act(v *View, a Action) Effect {
	p.refresh(v)
	switch {
	case p.list.act(v, a):
		return Effect{}
	case a == Trigger:
		return Effect{Ask: AskSync}
	case a == ByClass:
		return Effect{Open: NewClasses("")}
	case a == ByReason:
		return Effect{Open: NewReasons("")}
	case p.cur.MarkCount() > 0 && (a == Retry || a == Cancel):
		rows, hidden := p.marked(v.Retries())
		return bulk(v, a, rows, hidden)
	}
	if j, ok := p.selected(); ok {
		return actJob(v, j, a)
	}
	if id, ok := p.toOpen(); ok && a == Open {
		return Effect{Open: NewJob(engine.JobID(id))}
	}
	return Effect{}
}

// Export implements Exporter.
func (p *Retries) Export(v *View, only bool) (string, [][]string) {
	p.refresh(v)
	return "retries", p.export(v, only)
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
	p.refresh(v)
	w := v.W - 2
	hist := p.histogram(v, p.shown, w)
	h := max(v.H-len(hist)-3, 0)
	return part.Box(v.Theme, v.W, v.H,
		part.Panel{Title: p.scheduleTitle(v), Rows: hist, Height: len(hist)},
		part.Panel{Title: p.title(v, "Due next"), Focus: true, Rows: p.draw(v, w, h, p.empty(v)), Height: h},
	)
}

func (p *Retries) scheduleTitle(v *View) string {
	all := v.Retries()
	if len(all) == 0 {
		return "Retry schedule"
	}
	dot := " " + v.Theme.Glyphs.Sep + " "
	return "Retry schedule" + dot + count(len(all)) + " waiting" + dot + "next " + v.until(all[0].Due)
}

func (p *Retries) empty(v *View) string {
	return or(p.list.empty(v), or(v.waiting(), "nothing waits for a retry"))
}

// histogram counts the retries of each try number by when they are due.
func (p *Retries) histogram(v *View, rows []*engine.JobRow, w int) []string {
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

func bins(now time.Time, rows []*engine.JobRow) (counts [lastTry + 1][6]int, highest int) {
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
