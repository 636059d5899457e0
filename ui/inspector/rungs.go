package inspector

import (
	"cmp"
	"slices"
	"strconv"
	"time"

	"github.com/farsight-console/farsight/engine"
	"github.com/farsight-console/farsight/engine/columns"
	"github.com/farsight-console/farsight/engine/human"
	"github.com/farsight-console/farsight/themes"
	"github.com/farsight-console/farsight/ui/charts"
	"github.com/farsight-console/farsight/ui/page"
	"github.com/farsight-console/farsight/ui/part"
)

// rung is one try of a job: one that was, the one that is due, or one that follows only if all
// before it fail.
type rung struct {
	*engine.Attempt           // nil = it has not begun
	number          int       // over all rounds; 0 of a hold
	at              time.Time // it stood in line from then on, or is due; zero = nobody knows
	until           time.Time // the wait after it ended or ends; zero = there is none
	// The wait of the policy before a planned try.
	after   time.Duration
	planned bool // it may never be
}

// rungs are the tries in order of time.
//
//	#1  12:30:41  503          a try that was, and the wait of 3 s after it
//	#2  12:30:46  retryable    the next one, which is due
//	#3  +8 s                   planned: it is made only if #2 fails
//
// A wait ended when the next run stood in line, whatever was planned: a retry by hand cuts it
// short.
func (p *Job) rungs(v *page.View) (out []rung) {
	j, runs := p.row(v), p.runs()
	for i := range runs {
		a := &runs[i]
		r := rung{Attempt: a, number: a.Number, at: inLineFrom(*a)}
		if !a.End.IsZero() && a.Next.After(a.End) {
			if r.until = cmp.Or(waitEnd(j), a.Next); i+1 < len(runs) {
				r.until = inLineFrom(runs[i+1])
			}
		}
		out = append(out, r)
	}
	switch {
	// A job that has never been tried and waits in line has no rung: its place in line is told above.
	case j.State == engine.Retryable, j.State == engine.Scheduled, j.State == engine.Available && len(runs) > 0:
		v.Ticks = true
		next := rung{at: j.Due}
		if j.State != engine.Scheduled || j.Hold == engine.HoldNone {
			// Only what is not held is a try, which has a number.
			next.number = j.Attempts + 1
		}
		out = append(out, next)
	}
	if j.Retrying() {
		for i, at := range charts.AgainAt(&j) {
			if j.Starts.IsZero() && j.Due.Before(v.Now) {
				at = time.Time{} // nobody knows when the try before it goes
			}
			out = append(out, rung{number: j.Attempts + 2 + i, at: at, after: j.Then[i], planned: true})
		}
	}
	return out
}

// tried are the rungs as a list, whose cursor at rest stands on the newest try.
type tried struct{ part.Slice[rung] }

// First is the place of the newest try: a job is opened to see why that failed.
func (t tried) First() int {
	for i, r := range slices.Backward(t.Items) {
		if r.Attempt != nil {
			return i
		}
	}
	return 0
}

// source lists the tries. A try is known by its number and its start, as numbers begin anew when a
// job is retried by hand; one to come has no start.
func (p *Job) source(v *page.View) tried {
	return tried{part.Slice[rung]{
		Items: p.rungs(v),
		Key: func(r rung) string {
			if r.Attempt == nil {
				return "next " + strconv.Itoa(r.number)
			}
			return strconv.Itoa(r.number) + "@" + strconv.FormatInt(r.Start.UnixNano(), 10)
		},
		Cells: func(r rung, cells []part.Cell) []part.Cell { return p.rungCells(v, r, cells) },
	}}
}

// rungColumns go with rungCells. On narrow screens the three spans go first.
var rungColumns = []part.Column{
	{Title: "TRY", Kind: part.Words, Min: 3, Width: 3},
	{Title: "AT", Kind: part.Words, Min: 12, Width: 12},
	{Title: "IN LINE", Kind: part.Number, Min: 7, Width: 7, Priority: 3},
	{Title: "LIMITER", Kind: part.Number, Min: 7, Width: 7, Priority: 2},
	{Title: "RIOT", Kind: part.Number, Min: 7, Width: 7, Priority: 2},
	{Title: "ANSWER", Kind: part.State, Min: 19, Width: 24, Flex: 1},
}

// rungCells are the row of a try. The three spans add up to how long it took: in line for a worker,
// at the limiter, and at Riot.
func (p *Job) rungCells(v *page.View, r rung, cells []part.Cell) []part.Cell {
	number := part.As(themes.Dim, strconv.Itoa(r.number))
	if r.number == 0 {
		number.Text = v.Theme.Glyphs.Snoozed
	}
	if r.Attempt == nil {
		return append(cells, number, part.As(themes.Dim, v.Clock(r.at)), part.Cell{}, part.Cell{}, part.Cell{},
			p.nextCell(v, r))
	}
	layout := human.Either(v.Size == page.S, "15:04:05", "15:04:05.000")
	span := func(token themes.Token, d time.Duration) part.Cell { // told when it has ended
		return part.As(token, human.Either(r.End.IsZero(), part.None, human.Secs(d)))
	}
	return append(cells, number, part.Plain(r.Start.In(v.Now.Location()).Format(layout)),
		span(themes.Dim, charts.InLine(*r.Attempt)), span(themes.Text, charts.Limited(*r.Attempt)), span(themes.Run, r.HTTP), resultCell(v, *r.Attempt))
}

// nextCell says when a try to come goes, or whether it does.
// Late is told from a second on; less is the engine's own pace.
func (p *Job) nextCell(v *page.View, r rung) part.Cell {
	j := p.row(v)
	sign := v.Theme.State(columns.StateWord(&j.Job))
	text := "next " + v.Until(j.Due)
	switch late := charts.LateBy(v, &j); {
	case r.planned:
		again := human.Either(v.Size == page.S, " then +", " if it fails, +")
		return part.As(themes.Planned(themes.Retry), v.Theme.Glyphs.Planned+again+human.Window(r.after))
	case j.State == engine.Available:
		text = "in line " + v.Age(j.Due)
	case late >= time.Second:
		return part.As(themes.Warn, sign.Glyph+" "+text+", "+human.Age(late)+" late")
	}
	return part.As(sign.Token, sign.Glyph+" "+text)
}

// mostBefore is by how many times the wait before the first try may be longer than all that came
// after it, to be on the axis whole.
const mostBefore = 3

// rungAxis is an axis of w cells that holds the tries, and of those to come two. A job that has
// ended has its end where others have now.
// A job that waited an hour in line for its first try would have all its tries in one cell: of such
// a wait only the end is on the axis.
func (p *Job) rungAxis(v *page.View, rungs []rung, w int) part.Axis {
	j, now := p.row(v), v.Beat()
	if j.State.Terminal() && !j.Finished.IsZero() {
		now = j.Finished
	}
	begin, end := j.Created, now
	if len(rungs) > 0 {
		first := rungs[0].at
		if r := rungs[0]; r.Attempt != nil && now.Sub(begin) > mostBefore*now.Sub(r.Start) {
			// A fifth of the past is left for the wait.
			first = r.Start.Add(-now.Sub(r.Start) / 4)
		}
		begin = engine.Latest(begin, first)
		next := 0
		for _, r := range rungs {
			if r.Attempt == nil && next < 2 {
				end, next = engine.Latest(end, r.at), next+1
			}
		}
		if j.Retrying() {
			end = engine.Latest(end, j.Starts)
		}
	}
	return charts.FitAxis(now, now.Sub(begin), end.Sub(now), w)
}

// tries is the list of the tries with its ladder, and below it the try under the cursor in full.
// The list and the ladder have the same rows; what the list has no room for scrolls in both.
// 75 cells hold the list with all its columns; on a small screen 44 hold those that stay.
func (p *Job) tries(v *page.View, w, h int, facts []string) part.Section {
	src := p.source(v)
	life := human.Either(v.Size == page.S, w-44, max(w-75, 24))
	j := p.row(v)
	s := part.Section{Title: "TRIES", Note: "where they stand in time"}
	rows := max(h-len(facts), 2)
	if len(facts) > 0 && len(src.Items)+1 < rows {
		// Facts follow the last try after an empty row, and not at the end of the block.
		rows = max(len(src.Items), 1) + 2
	}
	t := part.Table{Columns: rungColumns, Empty: p.untried()}
	s.Rows = p.list.Table(v, t, w-life-2, rows, src)
	c := part.NewChart(v.Theme, p.rungAxis(v, src.Items, life), rows)
	if j.State.Terminal() {
		c.WordsAt(0, "ended")
	} else {
		c.Words(0)
	}
	for y := 1; y < rows; y++ {
		if i, ok := p.list.Cur.Row(src, y-1); ok {
			p.drawRung(v, c, y, src.Items, i)
		}
	}
	c.Seam(1, min(len(src.Items), rows-1))
	page.Beside(v, s.Rows, c, life+2, p.list.OnRow(len(src.Items)))
	s.Rows = append(s.Rows, facts...)
	s.Click = func(_, y int) string { return p.list.Clicked(src, y-1) }
	return s
}

// drawRung draws a try where it stands in time, with the wait that led to the next one.
func (p *Job) drawRung(v *page.View, c *part.Chart, y int, rungs []rung, i int) {
	g, r, j := v.Theme.Glyphs, rungs[i], p.row(v)
	switch {
	case r.planned:
		if x := c.At(r.at); x < c.Width && !r.at.IsZero() {
			c.Sign(y, x, themes.Planned(themes.Retry), g.Planned)
		} else {
			c.Sign(y, c.Width-1, themes.Tick, g.More)
		}
		return
	case r.Attempt == nil && j.Retrying():
		charts.DrawDue(v, c, y, &j)
		return
	case r.Attempt == nil:
		sign := v.Theme.State(columns.StateWord(&j.Job))
		// A job that waits for its time, not for a retry.
		c.Run(y, c.Back, c.At(r.at), themes.Planned(themes.Run), g.Ahead)
		c.Sign(y, max(c.At(r.at), c.Back), sign.Token, sign.Glyph)
		return
	}
	// The first row begins with when the job was made, and how long it waited before anything was done.
	if i == 0 && !j.Created.IsZero() {
		made := c.At(j.Created)
		c.Run(y, made+1, c.At(r.Start), themes.Tick, g.Waited)
		c.Sign(y, made, themes.Dim, v.Theme.State("AVAILABLE").Glyph)
	}
	c.Run(y, c.At(r.at), c.At(r.Start), themes.Tick, g.Waited)
	sign := v.Theme.State(charts.ResultWord(*r.Attempt))
	// It still runs: up to now.
	if r.End.IsZero() {
		c.Run(y, c.At(r.Start), c.Back, themes.Run, g.Waited)
		c.Sign(y, c.Back, sign.Token, sign.Glyph)
		return
	}
	end, wait := c.At(r.End), themes.Retry
	if r.number == 0 {
		wait = themes.Held
	}
	if !r.until.IsZero() {
		c.Run(y, end, min(c.At(r.until), c.Back), themes.Planned(wait), g.Waited)
		c.Run(y, c.Back, c.At(r.until), themes.Planned(wait), g.Ahead)
		text := waitText(*r.Attempt, r.End, r.until)
		x := max(c.At(r.until), end) + 2
		if x <= c.Back && x+len(text) >= c.Back { // not across the seam
			x = c.Back + 2
		}
		c.Try(y, x, themes.Dim, text)
	}
	c.Sign(y, end, sign.Token, sign.Glyph)
}

// triedRows are where the time of the try under the cursor went, and all that is known of it.
// They are of a try that was: one to come has no facts yet.
func (p *Job) triedRows(v *page.View, w int) []string {
	src, j := p.source(v), p.row(v)
	p.list.Cur.Sync(src, max(p.list.Height, 1))
	at := min(p.list.Cur.At(), len(src.Items)-1)
	for ; at >= 0 && src.Items[at].Attempt == nil; at-- { // of one to come: the one before it
	}
	if at < 0 {
		return nil
	}
	r := src.Items[at]
	last := at+1 == len(src.Items) || src.Items[at+1].Attempt == nil
	// The job tells of the wait after its last try, as long as that goes on.
	var job *engine.JobRow
	if last && !j.State.Terminal() && j.State != engine.Running {
		job = &j
	}
	spent := charts.SpentOn(v, r.Attempt, r.until, job)
	rows := v.Flow(w, p.attemptFacts(v, r.Attempt)...)
	if v.Size == page.S {
		return rows[:min(len(rows), 2)]
	}
	bar := spent.Bar(v, part.NewLine(v.Theme, w).Gap(1), w-2).String()
	return append([]string{bar, spent.Legend(part.NewLine(v.Theme, w).Gap(1)).String()}, rows...)
}

// foldRows are the tries without an axis, where there is no room for it: #2 12:30:46 with what
// came of it and what was waited then.
// Such as "#2 12:30:46 ✗ 503 service unavailable → wait 60 s".
func (p *Job) foldRows(v *page.View, w int) (rows []string) {
	for _, r := range p.rungs(v) {
		head := human.Either(r.number == 0, v.Theme.Glyphs.Snoozed, "#"+strconv.Itoa(r.number))
		l := part.NewLine(v.Theme, w).Gap(1).Put(themes.Dim, head).Gap(1)
		if r.Attempt == nil {
			rows = append(rows, l.Put(themes.Dim, v.Clock(r.at)).Gap(1).Cells(p.nextCell(v, r)).String())
			continue
		}
		l.Put(themes.Dim, r.Start.In(v.Now.Location()).Format("15:04:05")).Gap(1).Cells(resultCell(v, *r.Attempt))
		if !r.until.IsZero() {
			l.Gap(1).Put(themes.Retry, v.Theme.Glyphs.Next+" "+waitText(*r.Attempt, r.End, r.until))
		}
		rows = append(rows, l.String())
	}
	return rows
}
