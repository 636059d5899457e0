package overview

import (
	"cmp"
	"strings"

	"github.com/farsight-console/farsight/engine"
	"github.com/farsight-console/farsight/engine/human"
	"github.com/farsight-console/farsight/engine/safe"
	"github.com/farsight-console/farsight/themes"
	"github.com/farsight-console/farsight/ui/block"
	"github.com/farsight-console/farsight/ui/charts"
	"github.com/farsight-console/farsight/ui/page"
	"github.com/farsight-console/farsight/ui/part"
)

// Draw implements Page.
func (o *Screen) Draw(v *page.View) []string {
	o.past.See(v)
	// What changes with each call (counts, rates, places in line) is taken a few times a second: see
	// calm. The rest of the screen follows at once.
	calm := *o.calm.Take(v)
	// A copy, as the pulse puts other totals into it.
	d := *calm.Data
	d.Engine, calm.Data = o.pulse.Take(&calm), &d
	rows := o.draw(&calm)
	v.Ticks = v.Ticks || calm.Ticks
	return rows
}

// places are how many rows each block of the overview takes, top to bottom.
type places struct {
	figures, lanes, ribbon, calls int
	// of the blocks side by side: reasons, limits and needs; what only a wide screen has
	columns, more int
}

// places deals the rows of the screen out. What does not change with what is going on has a
// fixed height, so that nothing moves.
// What is given up where there is no room: lanes down to one, then the calls in words. The six
// figures and the timetable always stand.
func (o *Screen) places(v *page.View) places {
	p := places{figures: 5, lanes: 3, ribbon: 2, calls: 3}
	switch v.Size {
	case page.S:
		p = places{figures: 2, lanes: 2, ribbon: 1, calls: 2}
	case page.L:
		p = places{figures: 5, lanes: charts.MostLanes, ribbon: 3, calls: 4}
	}
	// what the blocks side by side have
	rest := func() int {
		gaps := 3
		if v.Size == page.S {
			gaps = 2 // the ribbon stands directly below the columns
		}
		return v.H - p.figures - 1 - charts.TimetableRows(v, p.lanes) - p.ribbon - p.calls - 1 - gaps
	}
	for rest() < 4 && p.lanes > 1 {
		p.lanes--
	}
	for rest() < 4 && p.calls > 0 {
		p.calls--
	}
	if p.columns = max(rest(), 0); v.Size == page.L && p.columns > 2*leastColumns {
		p.calls += p.columns - 2*leastColumns - 1
		p.more, p.columns = leastColumns, leastColumns
	}
	return p
}

// leastColumns is how high the reasons, limits and needs are where there is room for more.
const leastColumns = 8

// draw lays the blocks out from top to bottom. Each is given the row at which it begins, for the
// mouse: what is clicked is found by the rectangles that sections record.
func (o *Screen) draw(v *page.View) []string {
	p, inner := o.places(v), v.Inner(v.W)
	t := charts.NewTimetable(v, charts.AxisOf(v, inner), &o.plan, &o.past, o.runs.plans.Schedules)
	_, rests := charts.ChartNow(v)
	v.Ticks = v.Ticks || !rests && t.Moves()
	out := o.figures(v, &t, v.W)
	y := len(out)
	add := func(gap int, rows []string) {
		for range gap {
			out = append(out, v.Row(v.W))
		}
		out = append(out, rows...)
		y = len(out)
	}
	table := charts.TimetableRows(v, p.lanes)
	add(1, v.Sections(0, y+1, v.W, 1+table, o.timetable(v, &t, inner, p.lanes)))
	if p.columns > 0 {
		add(1, o.columns(v, &t, y+1, p.columns))
	}
	if p.more > 0 {
		add(1, o.more(v, y+1, p.more))
	}
	gap := 1
	if v.Size == page.S {
		gap = 0
	}
	add(gap, v.Sections(0, y+gap, v.W, v.H-y-gap, o.calls(v, inner, p)))
	return out
}

// figures are the six totals: tall digits with their course, on a small screen a number
// above it.
// Each has a sixth of the width: calls, what is stored, and what went wrong.
func (o *Screen) figures(v *page.View, t *charts.Timetable, w int) []string {
	if v.Size == page.S {
		return smallFigures(v, block.Totals(v, &o.past, t, o.dead.List(), 8), w)
	}
	wide := w / 6
	rows := make([]string, 5)
	all := block.Totals(v, &o.past, t, o.dead.List(), wide)
	l := part.NewLine(v.Theme, w)
	for y := range rows {
		l.Reset(w, false)
		for i := range all {
			l.To(2 + i*wide)
			figureRow(v, l, &all[i], y, min(wide-2, w-2-l.At()), i)
		}
		rows[y] = l.String()
	}
	return rows
}

// usualDigits is for how many digits a figure has room before its course gives way: three
// where hundreds are usual, two where they are not.
var usualDigits = [...]int{3, 3, 3, 2, 2, 2}

// figureRow writes row y of 0 to 4 of a figure.
// A name, three rows of digits with the course beside their lower half, and a note:
//
//	CALLS A MINUTE
//	█ █ ▀▀█
//	█▀█ ▀▀█  ▂▃▅▅▆
//	▀ ▀ ▀▀▀  now 2.1/s
//	of 3000 allowed
func figureRow(v *page.View, l *part.Line, f *block.Total, y, w, n int) {
	from, at := l.At(), part.DigitsWidth(v.Theme, "000000"[:usualDigits[n]])
	at = max(at, part.DigitsWidth(v.Theme, f.Value)) + 1
	switch {
	case y == 0:
		l.Put(themes.Dim, f.Name)
	case y == 4:
		l.Field(part.As(themes.Dim, f.Note), w+1, part.Words) // up to a gap to the next one
	default:
		l.Digits(y-1, f.Value)
		if y == 2 && w-at > 2 {
			spark(v, l.To(from+at), f, w-at)
		}
		if y == 3 && len(f.Beat) <= w-at+1 {
			l.To(from+at).Put(themes.Dim, f.Beat)
		}
	}
}

// spark draws the course of a figure on w cells.
func spark(v *page.View, l *part.Line, f *block.Total, w int) { l.Spark(f.Token, w, f.Spark, f.High) }

// smallFigures are the totals in two rows.
// The first row has the numbers with short names, the second their courses.
func smallFigures(v *page.View, all []block.Total, w int) []string {
	wide := (w - 2) / 6
	top, low := part.NewLine(v.Theme, w), part.NewLine(v.Theme, w)
	for i := range all {
		f := &all[i]
		top.To(1+i*wide).Put(themes.Figure, f.Value).Gap(1).
			Field(part.As(themes.Dim, f.Short), max(1+(i+1)*wide-top.At()-1, 0), part.Words)
		spark(v, low.To(1+i*wide), f, min(8, wide-2))
	}
	return []string{top.String(), low.String()}
}

// timetable is the block of the chart, the lanes and the retries.
// A cursor on an account that has no lane is shown on the last one.
func (o *Screen) timetable(v *page.View, t *charts.Timetable, w, lanes int) part.Section {
	src, p := o.syncing(v), &o.panes[paneAccounts]
	// Accounts have one row each, so that lanes are the height of their list.
	p.Height = max(lanes, 1)
	p.Follow(src)
	picked := -1
	if o.focus == paneAccounts && src.Len() > 0 {
		picked = min(p.Cur.At(), lanes-1)
	}
	s := part.Section{Title: "TIMETABLE", Note: t.Note(v), Tail: t.Tail(v), Focus: o.focus == paneAccounts,
		Height: charts.TimetableRows(v, lanes)}
	s.Rows = t.Rows(v, w, lanes, picked)
	// Above the lanes are the chart and its sums, below them the row of the retries.
	first := s.Height - 1 - lanes
	if v.Size == page.S { // the words of the axis stand in the row of the title
		s.Head, s.Rows = charts.Overlay(v, s.Title, s.Rows[0], w), s.Rows[1:]
	}
	s.Click = func(_, y int) string {
		if y >= first && y < first+lanes && y-first < src.Len() {
			o.focus = paneAccounts
			p.Cur.Go(src, y-first, lanes)
		}
		return ""
	}
	return s
}

// columns are the reasons, the limits and the needs side by side.
// Three blocks, two on a small screen, four on a wide one.
func (o *Screen) columns(v *page.View, t *charts.Timetable, y, h int) []string {
	blocks := []func(w, h int) part.Section{
		func(w, h int) part.Section { return o.whyBlock(v, t, w, h) },
		func(w, h int) part.Section { return block.LimitsBlock(v, t.Host, w, h) },
		func(w, h int) part.Section { return o.needsBlock(v, w, h) },
	}
	switch v.Size {
	case page.S:
		blocks = append(blocks[:1], blocks[2])
	case page.L:
		blocks = append(blocks, func(w, h int) part.Section { return block.AnswersBlock(v, o.tape.Take(v), w, h) })
	}
	return v.Abreast(y, h, blocks)
}

// more is what a wide screen shows besides.
// Accounts that are at rest, if there are any, the day's course, and the log.
// The section of the accounts would be empty when all of them sync.
func (o *Screen) more(v *page.View, y, h int) []string {
	blocks := []func(w, h int) part.Section{
		func(w, h int) part.Section { return settledBlock(v, w, h) },
		func(w, h int) part.Section { return o.day.Panel(v, w) },
		func(w, h int) part.Section { return block.LogPanel(v, w, h) },
	}
	if len(v.Syncing()) == len(v.Accounts) {
		blocks = blocks[1:]
	}
	return v.Abreast(y, h, blocks)
}

// listed draws a short list: tall rows for each item, with the cursor where the keys go.
// Each of the Overview's lists has a cursor of its own; which of them the keys go to is o.focus.
// What draws an item gets the line after the cursor's cell.
func (o *Screen) listed(v *page.View, n, w, h, tall int, src part.Source, s part.Section,
	draw func(l *part.Line, item, row int)) part.Section {
	p := &o.panes[n]
	p.Height = max(h/tall, 1)
	focus := o.focus == n
	if !focus && p.Cur.At() == 0 { // as long as nobody has moved in it, it begins with its first row
		p.Cur.Rest(src, p.Height)
	}
	p.Asked = true // a row that left is not drawn
	p.Follow(src)
	top := p.Cur.Top()
	l := part.NewLine(v.Theme, w)
	for i := top; i < src.Len() && len(s.Rows)+tall <= h; i++ {
		for row := range tall {
			on := focus && i == p.Cur.At()
			l.Reset(w, on && row == 0)
			if on && row == 0 {
				l.Glyph(themes.Focus, v.Theme.Glyphs.Cursor, 1)
			}
			draw(l.To(1), i, row)
			s.Rows = append(s.Rows, l.String())
		}
	}
	s.Focus, s.Height = focus, h
	s.Click = func(_, y int) string {
		if at := top + y/tall; at < src.Len() {
			o.focus = n
			p.Cur.Go(src, at, p.Height)
		}
		return ""
	}
	return s
}

// whyBlock says why jobs wait, and how many each.
// The groups and their words are the engine's: jobs that wait for the same thing are one line,
// whatever queue they are in.
func (o *Screen) whyBlock(v *page.View, t *charts.Timetable, w, h int) part.Section {
	src := o.why(v)
	all := 0
	for _, g := range src.Items {
		all += g.Jobs
	}
	note := human.Counted(all, "job waits", "jobs wait")
	if v.Size == page.S {
		note = page.Joined(v, page.Count(all)+" wait", charts.SyncsText(v))
	}
	// Reasons are never cut for their bars: the bars have what the longest one leaves, 10 cells at
	// most.
	longest := 0
	for _, g := range src.Items {
		longest = max(longest, safe.Width(safe.Text(g.text)))
	}
	const number = 5
	bar := page.Clamp(w-number-4-longest, 0, 10)
	s := o.listed(v, paneWhy, w, h, 1, src, part.Section{Title: "WHY", Note: note}, func(l *part.Line, i, _ int) {
		g := src.Items[i]
		l.Field(part.As(themes.Figure, page.Count(g.Jobs)), number, part.Number).Gap(1).
			Field(part.Plain(g.text), w-number-4-bar, part.Words).Gap(1)
		l.Bar(themes.Run, bar, float64(g.Jobs)/float64(max(all, 1)))
	})
	// a sentence below the reasons, where there is a row left
	say := func(text string) {
		if len(s.Rows) < h && text != "" {
			text = cmp.Or(part.Clause(text, w-2), text)
			s.Rows = append(s.Rows, v.Row(w,
				part.As(themes.Dim, strings.Repeat(" ", page.Clamp(w-1-len(text), 1, number+2))+text)))
		}
	}
	if len(src.Items) == 0 {
		if v.Size != page.S {
			s.Note = ""
		}
		s.Rows = append(s.Rows, v.Row(w, part.As(themes.Dim, " "+cmp.Or(v.Waiting(), o.nothingWaits(v)))))
		s.Rows = append(s.Rows, block.RunRows(v, t.Runs, w, h-1)...)
		return s
	}
	if len(src.Items) < h && v.Size != page.S {
		say(block.Holds(v))
	}
	return s
}

// nothingWaits says in place of reasons why there are none.
// Where no engine runs the question is not asked, so that nothing is loading.
func (o *Screen) nothingWaits(v *page.View) string {
	if o.reasons.Loading() && v.Engine.State != engine.EngineBrowse {
		return "loading…"
	}
	return v.Start("no job waits", "{sync} starts a sync")
}

// needsBlock is what only a person can settle, each with what is to be done where there
// is room.
// With the key that settles it at the right end. An empty list is good news, and says so.
func (o *Screen) needsBlock(v *page.View, w, h int) part.Section {
	src := o.needs(v)
	tall := 1
	if 2*len(src.Items) <= h {
		tall = 2
	}
	s := part.Section{Title: "NEEDS YOU"}
	if n := len(src.Items); n > 0 {
		s.Note = page.Count(n)
	}
	s = o.listed(v, paneNeeds, w, h, tall, src, s, func(l *part.Line, i, row int) {
		n := src.Items[i]
		if row > 0 {
			l.Gap(2).Put(themes.Dim, part.Clause(n.More, w-4))
			return
		}
		sign, key := v.Theme.State(n.Word), v.Keyed(n.Key)
		l.Glyph(sign.Token, sign.Glyph, 1).Gap(1).
			Field(part.As(themes.Text, n.Text), max(w-5-len(key), 8), part.Words).Gap(1)
		l.Cells(part.As(themes.Accent, key))
	})
	if len(src.Items) == 0 {
		s.Rows = []string{v.Row(w, part.As(themes.Dim, " "+cmp.Or(v.Waiting(), "nothing needs you")))}
	}
	return s
}

// calls are the last ones as a ribbon, and the newest of them in words.
// Where no call is known the day's course stands there, as after a night without work.
func (o *Screen) calls(v *page.View, w int, p places) part.Section {
	calls := o.tape.Take(v)
	if rows := charts.DayRows + 1; len(calls) == 0 && v.Size != page.S && len(o.day.Spans) > 0 &&
		p.ribbon+p.calls+1 >= rows {
		return o.day.Panel(v, w)
	}
	s := block.CallsSection(v, calls, w, p.ribbon, p.calls)
	s.Tail, s.Height = page.Joined(v, s.Tail, uptime(v)), v.H
	return s
}

// settledBlock lists the accounts that are not at work.
// Watch has the accounts at work before the others.
func settledBlock(v *page.View, w, h int) part.Section {
	rest := v.Accounts[len(v.Syncing()):]
	return part.Section{Title: "OTHER ACCOUNTS", Note: page.Count(len(rest)), Tail: "last sync",
		Rows: block.AccountRows(v, rest, w, h, "no other account"), Height: h}
}
