package jobs

import (
	"cmp"
	"strings"

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

// rail lists the queues beside the jobs: the jobs are those of the queue under
// its cursor. On a screen of one pane it takes the place of the jobs.
// Its figures move with every job; calm takes them at a pace that can be read.
type rail struct {
	lists.Pane
	on   bool // it has the keys
	calm page.Calm
}

// allQueues is what the rail's first row is called: it stands for every queue.
const allQueues = "all queues"

// railColumns go with railCells.
var railColumns = []part.Column{
	{Title: "", Kind: part.ID, Min: 12, Width: 22, Flex: 1},
	{Title: "live", Kind: part.Number, Min: 5, Width: 6},
}

// source are the queues, all of them first.
func (r *rail) source(v *page.View) part.Slice[engine.QueueRow] {
	rows := append([]engine.QueueRow{page.EveryQueue(v)}, v.Queues...)
	return part.Slice[engine.QueueRow]{
		Items: rows,
		Key:   func(q engine.QueueRow) string { return cmp.Or(string(q.Name), allQueues) },
		Cells: func(q engine.QueueRow, cells []part.Cell) []part.Cell { return railCells(v, q, cells) },
	}
}

// railCells are a queue's name and how many jobs of it live.
func railCells(v *page.View, q engine.QueueRow, cells []part.Cell) []part.Cell {
	live := 0
	for s, n := range q.Counts {
		if s.Live() {
			live += n
		}
	}
	name := part.Plain(cmp.Or(string(q.Name), allQueues))
	if q.Paused {
		sign := v.Theme.State("PAUSED")
		name = part.As(sign.Token, name.Text+" "+sign.Glyph) // behind: names stay below one another
	}
	return append(cells, name, part.As(themes.Text, block.TallCount(int64(live))))
}

// queue is the one under the cursor; "" = all.
func (r *rail) queue(v *page.View) engine.Queue {
	return r.row(v).Name
}

// aim puts the cursor on a queue that was chosen elsewhere.
func (r *rail) aim(v *page.View, name engine.Queue) {
	src := r.source(v)
	if at, ok := src.Find(cmp.Or(string(name), allQueues)); ok && r.queue(v) != name {
		r.Cur.Go(src, at, max(r.Height, 1))
	}
}

// Widths of the rail in cells: wide with the names of queues in full, where the screen has at least
// railFits and the list beside it keeps what matters of it.
const (
	railWide   = 35
	railNarrow = 24
	railFits   = 118
)

// railWidth is what the rail takes of w cells beside a list; full means that the list
// has columns which were asked for, and needs the room.
func railWidth(w int, full bool) int { return human.Either(w < railFits || full, railNarrow, railWide) }

// draw is the rail with what is known of its queue below.
func (r *rail) draw(v *page.View, w, h int) []string {
	calm := r.calm.Take(v)
	rows := r.boxes(calm, w, h)
	v.Ticks = v.Ticks || calm.Ticks
	return rows
}

// boxes are the queues, and below them the facts of the one under the cursor where at least four
// rows are left for the queues.
func (r *rail) boxes(v *page.View, w, h int) []string {
	facts := queueFacts(v, r.row(v), v.Inner(w))
	list := h - len(facts) - 3
	if list < 4 {
		return v.Sections(0, 0, w, h, r.panel(v, v.Inner(w), h-1))
	}
	return v.Sections(0, 0, w, h, r.panel(v, v.Inner(w), list),
		part.Section{Title: cmp.Or(string(r.queue(v)), allQueues), Rows: facts, Height: len(facts)})
}

// row is the queue under the cursor; the sum of all queues on the first row.
func (r *rail) row(v *page.View) engine.QueueRow {
	q, _ := lists.Selected(&r.Pane, r.source(v))
	return q
}

// panel is the list of the queues. Its cursor is pale while the keys go to the jobs.
func (r *rail) panel(v *page.View, w, h int) part.Section {
	t := part.Table{Columns: railColumns, Blur: !r.on, Empty: cmp.Or(v.Waiting(), "no queue yet")}
	return r.Pane.Section(v, t, w, h, r.source(v), part.Section{Title: "QUEUES", Tail: "Q", Focus: r.on})
}

// queueFacts are a queue's counts and why its head does not start.
// Two of them stand in a row: "wait 732 | run 4".
func queueFacts(v *page.View, q engine.QueueRow, w int) []string {
	pair := func(a, b part.Cell) string {
		return part.NewLine(v.Theme, w).Gap(1).Field(a, (w-2)/2, part.Words).Cells(b).String()
	}
	n := func(t themes.Token, name string, of int) part.Cell { return page.Figure(t, name, int64(of)) }
	pace := part.Plain(page.Count(int(q.PerMin+0.5)) + " /min")
	rows := []string{
		pair(n(themes.Text, "wait", charts.InLines([]engine.QueueRow{q})), n(themes.Run, "run", q.Counts[engine.Running])),
		pair(n(themes.Retry, "retry", q.Retrying()), n(themes.Held, "held", q.Held)),
		pair(n(themes.Err, "discarded", q.Counts[engine.Discarded]), pace),
	}
	if !q.OldestDue.IsZero() {
		rows = append(rows, v.Row(w, part.As(themes.Dim, " oldest waits "+v.Age(q.OldestDue))))
	}
	if why := queueWhy(v, q); why != "" {
		token := themes.Dim
		if q.Paused {
			token, why = themes.Held, "paused, "+why
		}
		rows = append(rows, v.Row(w, part.As(token, " "+why)))
	}
	return rows
}

// queueWhy says who paused a queue, or why its head does not start.
// Who paused it is told by name unless a reason was given; "" = nothing keeps it.
func queueWhy(v *page.View, q engine.QueueRow) string {
	switch {
	case q.Paused && q.Reason != "":
		return q.Reason + ", " + v.Ago(q.Since)
	case q.Paused:
		return strings.TrimSpace(columns.ByUser(q.By) + " " + v.Ago(q.Since))
	case q.Why != "" && !q.Until.IsZero():
		return page.BriefWhy(v, q.Why) + ", in " + v.In(q.Until)
	}
	return page.BriefWhy(v, q.Why)
}
