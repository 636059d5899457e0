package page

import (
	"slices"
	"strconv"
	"time"

	"github.com/farsight-console/farsight/engine"
	"github.com/farsight-console/farsight/engine/columns"
	"github.com/farsight-console/farsight/engine/human"
	"github.com/farsight-console/farsight/engine/safe"
	"github.com/farsight-console/farsight/themes"
	"github.com/farsight-console/farsight/ui/part"
)

// queueColumns go with queueCells.
var queueColumns = []part.Column{
	{Title: "Queue", Kind: part.Words, Min: 22, Width: 24, Flex: 1},
	{Title: "state", Kind: part.State, Min: 9, Width: 9},
	{Title: "wait", Kind: part.Number, Min: 5, Width: 6},
	{Title: "run", Kind: part.Number, Min: 4, Width: 4},
	{Title: "retry", Kind: part.Number, Min: 5, Width: 5, Priority: 1},
	{Title: "disc.", Kind: part.Number, Min: 5, Width: 5, Priority: 3},
	{Title: "held", Kind: part.Number, Min: 4, Width: 4, Priority: 4},
	{Title: "/min", Kind: part.Number, Min: 4, Width: 4, Priority: 2},
	{Title: "why it waits", Kind: part.Words, Min: 22, Width: 26, Flex: 2, Priority: 5},
}

var needColumns = []part.Column{
	{Kind: part.State, Min: 8, Width: 8},
	{Kind: part.Words, Min: 12, Width: 12, Flex: 1},
	{Kind: part.Number, Min: 5, Width: 5, Priority: 1},
}

// needColumnsOf leaves the keys no more room than they take: the texts are long.
func needColumnsOf(v *View, needs []Need) []part.Column {
	columns := slices.Clone(needColumns)
	last := &columns[len(columns)-1]
	for _, n := range needs {
		last.Min = max(last.Min, safe.Width(v.keyed(n.Key)))
	}
	last.Width = last.Min
	return columns
}

var retryColumns = []part.Column{
	{Kind: part.Words, Min: 6, Width: 6},
	{Kind: part.ID, Min: 10, Width: 19},
	{Kind: part.Words, Min: 7, Width: 7},
	{Kind: part.Words, Min: 6, Width: 12, Flex: 1, Priority: 1},
}

// Draw implements Page.
func (o *Overview) Draw(v *View) []string {
	calm := o.calm.take(v)
	rows := o.draw(calm)
	v.Ticks = v.Ticks || calm.Ticks
	return rows
}

func (o *Overview) draw(v *View) []string {
	switch v.Size {
	case L:
		return o.drawL(v)
	case M:
		return o.drawM(v)
	}
	return o.drawS(v)
}

// drawS is one box: the same order, fewer rows.
func (o *Overview) drawS(v *View) []string {
	inner := v.inner(v.W)
	syncs, needs := len(v.Syncing()), len(v.Needs())
	rest := v.H - 7 // five rules, two borders' worth of rows that are fixed
	now := o.nowRows(v, inner)[:2]
	now[1] = limitLine(v, inner)
	rows := fill(rest-1, []want{{max(len(v.Queues), 1), 1}, {max(syncs, 1), 1}, {max(needs, 1), 1}, {max(len(v.Retries()), 1), 1}})
	panels := []part.Section{
		{Title: "NOW", Tail: uptime(v), Rows: now, Height: 2},
		o.queuePanel(v, inner, rows[0]),
		o.syncPanel(v, inner, rows[1]),
		o.needPanel(v, inner, rows[2]),
		o.retryPanel(v, inner, max(rows[3], 0)),
	}
	if left := rest - 1 - rows[0] - rows[1] - rows[2] - rows[3]; left > 2 {
		panels = append(panels, callPanel(v, o.tape.take(v), inner, left-1))
	}
	return v.whole(panels...)
}

// leastTraffic is the height below which the charts of calls say too little.
const leastTraffic = 6

// spare splits rows between a list of n entries and what is below it: the list
// gets what it needs, the rest gets what is left if that is enough to be of use.
func spare(rows, n, least int) (list, rest int) {
	list = clamp(n, 1, max(rows, 1))
	if rest = rows - list - 1; rest < least {
		return rows, 0
	}
	return list, rest
}

func (o *Overview) drawM(v *View) []string {
	bottom := o.bottom(v)
	h := v.H - len(bottom) - 1
	left := v.W * 11 / 20
	right := v.W - left
	queues := clamp(len(v.Queues), 1, max(h/3, 1))
	now := o.nowRows(v, v.inner(left))
	a := v.sections(0, 0, left, h,
		part.Section{Title: "NOW", Rows: now, Height: len(now)},
		o.queuePanel(v, v.inner(left), queues),
		callPanel(v, o.tape.take(v), v.inner(left), max(h-len(now)-queues-5, 0)),
	)
	limits := limitRows(v, v.inner(right), max(h/3, 3))
	needs := clamp(len(v.Needs()), 1, max(h/4, 1))
	retries, charts := spare(max(h-len(limits)-needs-5, 0), len(v.Retries()), leastTraffic)
	panels := []part.Section{
		{Title: "LIMITS", Note: limitHost(v), Tail: "reset in", Rows: limits, Height: len(limits)},
		o.needPanel(v, v.inner(right), needs),
		o.retryPanel(v, v.inner(right), retries),
	}
	if charts > 0 {
		panels = append(panels, trafficPanel(v, o.tape.take(v), v.inner(right), charts))
	}
	return part.Stack(part.Beside(a, v.sections(left, 0, right, h, panels...)), blank(v, bottom))
}

func (o *Overview) drawL(v *View) []string {
	bottom := o.bottom(v)
	h := v.H - len(bottom) - 1
	left, mid := v.W*7/20, v.W*6/20
	right := v.W - left - mid
	queues := clamp(len(v.Queues), 1, max(h/3, 1))
	needs := clamp(len(v.Needs()), 1, max(h/4, 1))
	now := o.nowRows(v, v.inner(left))
	panels := []part.Section{{Title: "NOW", Rows: now, Height: len(now)}}
	rest := h - len(now) - queues - needs - 7
	if rest > dayRows+leastTraffic {
		panels = append(panels, o.day.panel(v, v.inner(left)))
		rest -= dayRows + 2
	}
	accounts, charts := spare(max(rest, 0), len(v.Accounts)-len(v.Syncing()), leastTraffic)
	panels = append(panels,
		o.queuePanel(v, v.inner(left), queues),
		o.needPanel(v, v.inner(left), needs),
		settledPanel(v, v.inner(left), accounts),
	)
	if charts > 0 {
		panels = append(panels, trafficPanel(v, o.tape.take(v), v.inner(left), charts))
	}
	a := v.sections(0, 0, left, h, panels...)
	limits := limitRows(v, v.inner(mid), max(h/2, 3))
	retries, answers := spare(max(h-len(limits)-3, 0), len(v.Retries()), leastTraffic)
	panels = []part.Section{
		{Title: "LIMITS", Note: limitHost(v), Tail: "reset in", Rows: limits, Height: len(limits)},
		o.retryPanel(v, v.inner(mid), retries),
	}
	if answers > 0 {
		panels = append(panels, answersPanel(v, o.tape.take(v), v.inner(mid), answers))
	}
	b := v.sections(left, 0, mid, h, panels...)
	workers := clamp(len(v.Running()), 1, max(h/3, 1))
	tail := max(h-workers-5, 0) / 2
	c := v.sections(left+mid, 0, right, h,
		workerPanel(v, v.inner(right), workers),
		callPanel(v, o.tape.take(v), v.inner(right), max(h-workers-5-tail, 0)),
		logPanel(v, v.inner(right), tail),
	)
	return part.Stack(part.Beside(a, b, c), blank(v, bottom))
}

// blank puts an empty row above a block.
func blank(v *View, block []string) []string { return append([]string{v.row(v.W)}, block...) }

// bottom is the block of the syncs under way.
func (o *Overview) bottom(v *View) []string {
	n := clamp(len(v.Syncing()), 1, max(v.H/4, 1))
	return v.sections(0, v.H-n-1, v.W, n+1, o.syncPanel(v, v.inner(v.W), n))
}

// want is how many rows a panel could use and how many it must have.
type want struct{ rows, least int }

// fill deals so many rows out: what each must have first, then in order.
func fill(rows int, wants []want) []int {
	got := make([]int, len(wants))
	for i, w := range wants {
		got[i] = min(w.least, max(rows, 0))
		rows -= got[i]
	}
	for i, w := range wants {
		more := clamp(w.rows-got[i], 0, max(rows, 0))
		got[i] += more
		rows -= more
	}
	return got
}

// nowRows are the figures of the engine.
func (o *Overview) nowRows(v *View, w int) []string {
	e := o.pulse.take(v)
	spark := part.NewLine(v.Theme, w).Gap(1)
	spark.Cells(part.Plain(paceText(e, w >= 60) + " "))
	spark.Spark(themes.Run, clamp(len(e.Spark), 1, clamp(w-50, 8, 24)), floats(e.Spark), 0)
	spark.Gap(3).Cells(part.Plain("in flight " + strconv.Itoa(e.InFlight) + "/" + strconv.Itoa(e.Workers)))
	if e.P50 > 0 {
		spark.Gap(3).Cells(part.Plain("p50 " + human.Millis(e.P50)))
		if age := engine.OldReading(e.Answered.Truncate(time.Minute), v.Now.Truncate(time.Minute)); age > 0 {
			spark.Cells(part.As(themes.Dim, ", "+human.Ago(age)))
		}
	}
	pace := spark.String()
	if e.State == engine.EngineBrowse {
		pace = v.row(w, part.As(themes.Dim, " what is stored; no engine runs here"))
	}
	facts := []part.Cell{
		part.Plain("stored " + human.Count(e.Stored)),
		figure(themes.Retry, "retrying", int64(e.Retrying)),
		figure(themes.Err, "gave up", e.Failed),
		figure(themes.Off, "too old", e.TooOld),
	}
	held := []part.Cell{
		figure(themes.Warn, "429s", e.Throttled), figure(themes.Err, "not foreseen", e.Unforeseen),
	}
	if won := retriesWon(v); won.Text != "" {
		held = append(held, won)
	}
	if up := uptime(v); up != "" {
		held = append(held, part.As(themes.Dim, up))
	}
	rows := []string{pace, spaced(v, w, facts), spaced(v, w, held)}
	if fresh := o.fresh.cells(v); len(fresh) > 0 {
		rows = append(rows, v.row(w, append([]part.Cell{part.Plain(" ")}, fresh...)...))
	}
	return rows
}

// retriesWon is the share of retries that succeed, as the rule about it has it.
func retriesWon(v *View) part.Cell {
	for _, r := range v.Alerts {
		if r.Rule != "retries" || r.Subject != "" || !r.Known {
			continue
		}
		token := themes.Dim
		if r.Holds {
			token = themes.Warn
		}
		return part.As(token, "retry success "+r.Now())
	}
	return part.Cell{}
}

// uptime is how long the engine has been up; "" = none runs. It moves with the clock in
// the title and never between two minutes: an idle screen must stay silent.
func uptime(v *View) string {
	if v.Engine.Started.IsZero() || v.Engine.State == engine.EngineBrowse {
		return ""
	}
	d := v.Now.Truncate(time.Minute).Sub(v.Engine.Started.Truncate(time.Minute))
	if d < time.Minute {
		return "up <1 min"
	}
	return "up " + human.Coarse(d)
}

func floats(n []int) []float64 {
	out := make([]float64, len(n))
	for i := range n {
		out[i] = float64(n[i])
	}
	return out
}

// section is a section that holds a pane.
func (o *Overview) section(v *View, n int, t part.Table, w, h int, src part.Source, s part.Section) part.Section {
	s.Focus, s.Rows, s.Height = o.focus == n, o.list(v, n, t, w, h, src), h
	s.Click = func(_, y int) string {
		o.focus = n
		return o.panes[n].clicked(src, y)
	}
	return s
}

// list draws a pane. One that is not in focus has no cursor to hold on to a row
// that left; and as long as nobody has moved in it, it begins with its first row,
// which is the gravest need and the next retry.
func (o *Overview) list(v *View, n int, t part.Table, w, h int, src part.Source) []string {
	t.Still = o.focus != n
	if t.Still && o.panes[n].cur.At() == 0 {
		o.panes[n].cur.Rest(src, h)
	}
	o.panes[n].asked = o.panes[n].asked || t.Still
	return o.panes[n].body(v, t, w, h, src)
}

func (o *Overview) queuePanel(v *View, w, h int) part.Section {
	t := part.Table{
		Columns: queueColumns, Title: "QUEUES", Still: o.focus != paneQueues,
		Empty: or(v.waiting(), v.start("no queue yet", "{sync} starts a sync")),
	}
	s := o.section(v, paneQueues, t, w, h, o.queues(v), part.Section{})
	s.Head = t.Header(v.Theme, w)
	return s
}

func (o *Overview) needPanel(v *View, w, h int) part.Section {
	src := o.needs(v)
	t := part.Table{Columns: needColumnsOf(v, src.Items), Empty: or(v.waiting(), "nothing needs you")}
	return o.section(v, paneNeeds, t, w, h, src, part.Section{Title: "NEEDS YOU", Note: some(len(src.Items))})
}

func (o *Overview) retryPanel(v *View, w, h int) part.Section {
	src := o.retries(v)
	t := part.Table{Columns: retryColumns, Empty: or(v.waiting(), "no retry is due")}
	return o.section(v, paneRetries, t, w, h, src, part.Section{Title: "NEXT RETRIES", Note: some(len(src.Items))})
}

func (o *Overview) syncPanel(v *View, w, h int) part.Section {
	src := o.syncing(v)
	t := part.Table{
		Columns: syncColumns,
		Empty:   or(v.waiting(), v.start("nothing is syncing", "{sync} starts a sync")),
	}
	return o.section(v, paneSyncing, t, w, h, src, part.Section{Title: "SYNCING NOW", Note: some(len(src.Items)), Tail: o.syncTail(v)})
}

// syncTail is how fresh the tracked accounts can be kept, where the panel of
// figures has no room for it.
func (o *Overview) syncTail(v *View) string {
	if v.Size == S {
		return o.fresh.text(v)
	}
	return ""
}

// workerPanel lists what is in hand.
func workerPanel(v *View, w, h int) part.Section {
	running := v.Running()
	rows := make([]string, 0, max(h, 0))
	for _, j := range running[:min(len(running), max(h, 0))] {
		l := part.NewLine(v.Theme, w).Gap(1)
		l.Cells(v.state("RUNNING")).Gap(2).Field(part.Plain(columns.JobName(&j)), max(l.Room()-16, 8), part.ID)
		l.Field(part.As(themes.Dim, columns.Tries(&j, j.Tries)), 6, part.Number).Field(part.Plain(v.age(j.Started)), 7, part.Number)
		rows = append(rows, l.String())
	}
	if len(running) == 0 {
		rows = append(rows, v.row(w, part.As(themes.Dim, "   "+or(v.waiting(), "no job is running"))))
	}
	return part.Section{Title: "WORKERS", Note: strconv.Itoa(v.Engine.InFlight) + "/" + strconv.Itoa(v.Engine.Workers), Rows: rows, Height: h}
}

// settledPanel lists the accounts that are not at work.
func settledPanel(v *View, w, h int) part.Section {
	rest := v.Accounts[len(v.Syncing()):]
	rows := make([]string, 0, max(h, 0))
	for i := range rest[:min(len(rest), max(h, 0))] {
		a := &rest[i]
		l := part.NewLine(v.Theme, w).Gap(1).Field(v.state(v.SyncWord(*a)), 12, part.Words).Gap(2)
		l.Field(part.Plain(a.RiotID), max(l.Room()-26, 10), part.Words).Gap(1)
		l.Field(part.As(themes.Dim, matchesOf(a)), 14, part.Number).Gap(1).Field(part.As(themes.Dim, v.ago(a.LastSync)), 9, part.Number)
		rows = append(rows, l.String())
	}
	if len(rest) == 0 && h > 0 {
		rows = append(rows, v.row(w, part.As(themes.Dim, "   "+or(v.waiting(), "no other account"))))
	}
	return part.Section{Title: "OTHER ACCOUNTS", Note: some(len(rest)), Tail: "last sync", Rows: rows, Height: h}
}

func matchesOf(a *engine.AccountRow) string {
	if a.Matches.Total <= 0 {
		return ""
	}
	return human.Counted(a.Matches.Total, "match", "matches")
}

// callPanel is the newest part of the flight recorder, newest first.
func callPanel(v *View, calls []engine.CallRow, w, h int) part.Section {
	rows := make([]string, 0, max(h, 0))
	for i := len(calls) - 1; i >= 0 && len(rows) < h; i-- {
		rows = append(rows, callLine(v, calls[i], w))
	}
	if len(calls) == 0 && h > 0 {
		rows = append(rows, v.row(w, part.As(themes.Dim, "   "+or(v.waiting(), "no call yet"))))
	}
	return part.Section{Title: "CALLS", Tail: v.keyed("more on {limits}"), Rows: rows, Height: h}
}
