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

// heights are how many rows a screen's blocks have: the sawteeth, the board at least, and the radar
// beside what a person has to settle.
type heights struct{ saw, board, radar int }

var heightsOf = map[page.Size]heights{page.S: {3, 6, 2}, page.M: {5, 10, 3}, page.L: {8, 14, 6}}

// draw lays the blocks out from top to bottom. Each is given the row at which it begins, for the
// mouse: what is clicked is found by the rectangles that sections record.
func (o *Screen) draw(v *page.View) []string {
	h, inner := heightsOf[v.Size], v.Inner(v.W)
	_, rests := charts.ChartNow(v)
	b, paced := charts.Pacing(v.Data, o.plan.Busiest(v))
	a := charts.AxisOf(v, inner)
	if !o.timetable && paced {
		a = charts.SawAxis(v, b.Window, o.plan.Ends().Sub(v.Now), inner-2, o.axis)
		o.axis = a
	}
	t := charts.NewTimetable(v, a, &o.plan, o.runs.plans.Schedules)
	v.Ticks = v.Ticks || !rests && t.Moves()
	whole := func(s func(h int) part.Section) func(y, h int) []string {
		return func(y, h int) []string { return v.Sections(0, y, v.W, h, s(h-1)) }
	}
	hero := page.Band{Least: h.saw + 2 - page.Btoi(v.Size == page.M), Most: h.saw + 2, Keep: 1,
		Draw: whole(func(n int) part.Section {
			if v.Theme.Mood != themes.Run && v.Engine.State != engine.EngineBrowse {
				return o.cause(v, &t, inner, n)
			}
			if s, ok := o.report(v, inner, n); ok {
				return s
			}
			return o.tightest(v, &t, inner, n)
		})}
	board := page.Band{Least: h.board, Most: v.H, Draw: func(y, h int) []string { return o.departing(v, &t, y, h) }}
	if o.timetable {
		hero = page.Band{Least: charts.TimetableRows(v, 1) + 1, Most: v.H,
			Draw: whole(func(n int) part.Section { return o.lanes(v, &t, inner, n) })}
		if len(v.Syncing()) > 0 {
			board = page.Band{}
		} else { // nothing has a lane to fill
			hero.Most = charts.TimetableRows(v, page.Clamp(len(v.Accounts), 1, restLanes)) + 1
		}
	}
	totals := page.Band{Least: 1, Most: 1, Keep: 3, Draw: func(_, h int) []string {
		rows := totalRows(v, &t, o.dead.List(), inner)
		if h < len(rows) { // the figures alone
			rows = rows[1:]
		}
		return v.Padded(rows)
	}}
	radar := page.Band{Least: h.radar + 1, Most: h.radar + 1, Keep: 2, Draw: func(y, h int) []string {
		return o.beside(v, y, h, o.radar, o.needsBlock)
	}}
	if v.Size == page.S {
		who := page.Band{Least: 3, Most: 3, Keep: 5, Draw: func(y, h int) []string {
			return o.beside(v, y, h, o.arrivalsBlock, stackBlock)
		}}
		if o.timetable {
			who = page.Band{}
		}
		return v.Bands(totals, hero, board, who, radar)
	}
	// At 100x30 the sawteeth, and the title and the notes of the figures, give way before the figures.
	if v.Size != page.M || v.H >= h.saw+h.board+h.radar+9 {
		totals.Least, totals.Most = 3, 3
	}
	if v.Size == page.M {
		return v.Bands(hero, board, totals, radar)
	}
	more := page.Band{Least: charts.DayRows + 1, Most: charts.DayRows + 1, Keep: 5, Draw: func(y, h int) []string {
		return v.Abreast(y, h, []func(w, h int) part.Section{
			func(w, h int) part.Section { return charts.Day(v, w, h) },
			func(w, h int) part.Section { return block.LogPanel(v, w, h) },
		})
	}}
	return v.Bands(hero, board, totals, more, radar)
}

// tightest is the window that sets the pace as sawteeth on h rows: what was counted in each, and what is
// planned; below it their sums, and in its title what it is and when all is done.
func (o *Screen) tightest(v *page.View, t *charts.Timetable, w, h int) part.Section {
	b, paced := charts.Pacing(v.Data, t.Plan)
	s := part.Section{Title: "WINDOW", Height: h}
	if !paced {
		why := human.Either(len(v.Limits.Buckets) > 0, "no window holds anything back", "no limit is known yet: the first answer tells them")
		s.Rows = []string{v.Row(w, part.As(themes.Dim, " "+cmp.Or(v.Waiting(), why)))}
		return s
	}
	c := part.NewChart(v.Theme, t.Axis, h+1)
	name := human.Window(b.Window) + " WINDOW" + human.If(!page.OneHost(v), " "+b.Host)
	tooth := human.Counted(b.Most(), "call", "calls") + " a tooth"
	tail := human.Either(v.Size == page.S, "", page.Joined(v, v.NextCalls(), t.Tail(v)))
	if len(name)+len(tooth)+4 > t.Back { // no room for both before now
		tail, tooth = human.If(v.Size != page.S, page.Joined(v, tooth, tail)), ""
	}
	c.Ends(0, themes.Dim, tail)
	c.Words(0)
	t.DrawSaw(v, c, 1, h-1, t.SawOf(v, b, v.Calls))
	c.Seam(1, h-1)
	t.DrawSums(c, h)
	if end := t.At(t.HostEnds) + 2; t.Plan != nil && !t.Plan.Stuck && t.Left > 0 && t.HostEnds.After(v.Now) && !t.HostListing {
		c.Try(1+(h-1)/2, max(end, t.Back+2), themes.Dim, "then free")
	}
	for y := range h + 1 {
		s.Rows = append(s.Rows, c.Row(part.NewLine(v.Theme, w).Gap(1), y).String())
	}
	s.Head, s.Rows = charts.Overlay(v, name, tooth, s.Rows[0], w), s.Rows[1:]
	return s
}

// leftOf is how wide the left column is: as wide as the departures need.
func leftOf(v *page.View) int {
	switch v.Size {
	case page.S:
		return v.W / 2
	case page.L:
		return v.W * 3 / 5
	}
	return max(v.W*13/20, min(v.W-42, 78))
}

// departing are the departures on h rows, and where there is room for it who holds and who arrives.
func (o *Screen) departing(v *page.View, t *charts.Timetable, y, h int) []string {
	left := human.Either(v.Size == page.S, v.W, leftOf(v))
	rows := v.Sections(0, y, left, h, o.departuresBlock(v, t, v.Inner(left), h-1))
	if left == v.W {
		return rows
	}
	right := v.W - left
	tiers := len(tiersOf(v.TryingAgain()))
	stack := page.Clamp(tiers+3, 4, 7)
	if tiers > 0 { // tries come and go, and what is below stands still
		stack = max(stack, o.tall)
	}
	stack = o.stack.Keeps(block.GroupKey{}, stack, v.Now)
	o.tall = stack
	who, w := max(h-stack-3, 1), v.Inner(right)
	beside := []part.Section{stackBlock(v, w, stack), o.arrivalsBlock(v, w, who)}
	// Few accounts leave room for the windows; each block has a title and an empty row above it.
	if few := max(len(v.Accounts)+len(o.collections.Open(v)), 3); who-few-2 >= leastLimits {
		beside[1] = o.arrivalsBlock(v, w, few)
		beside = append(beside, block.LimitsBlock(v, t.Host, w, who-few-2))
	}
	return part.Beside(rows, v.Sections(left, y, right, h, beside...))
}

// leastLimits is from how many free rows on the windows stand below the arrivals.
const leastLimits = 4

// beside are two blocks side by side in the columns of the board.
func (o *Screen) beside(v *page.View, y, h int, left, right func(v *page.View, w, h int) part.Section) []string {
	w := leftOf(v)
	return part.Beside(v.Sections(0, y, w, h, left(v, v.Inner(w), h-1)), v.Sections(w, y, v.W-w, h, right(v, v.Inner(v.W-w), h-1)))
}

// totalRows are the six figures side by side: with their course of the last minute and a note below,
// on a small screen the figures alone.
func totalRows(v *page.View, t *charts.Timetable, dead []*engine.JobRow, w int) []string {
	all := block.Totals(v, t, dead)
	rule, top, low := part.NewLine(v.Theme, w), part.NewLine(v.Theme, w), part.NewLine(v.Theme, w)
	rule.Gap(1).Put(v.Theme.Title(), "SO FAR").Gap(1)
	if note := part.Clause(v.Keyed(whatItIs), w-9); note != "" {
		rule.Put(themes.Dim, note).Gap(1)
	}
	rule.Glyph(themes.Hairline, v.Theme.Glyphs.Horizontal, max(w-1-rule.At(), 0))
	wide, end := (w-1)/len(all), -1
	var at [6]int
	for i, f := range all {
		at[i] = 1 + i*wide
		if v.Size == page.S { // which just holds the words: a longer one moves those behind it
			at[i] = 1 + [...]int{0, 15, 29, 44, 58, 70}[i]*(w-1)/79
		}
		at[i] = max(at[i], end+2)
		end = at[i] + safe.Width(f.Value+f.Short) + 1
	}
	for i, f := range all {
		unit := " " + f.Short
		if end > w {
			at[i], unit = top.At()+1+page.Btoi(i > 0), strings.TrimPrefix(unit, " calls")
		}
		x := at[i]
		top.To(x).Put(themes.Figure, f.Value).Put(themes.Dim, unit)
		note := human.Either(v.Size == page.L, page.Joined(v, f.Beat, f.Note), cmp.Or(f.Beat, f.Note))
		room := w - x
		if i+1 < len(all) { // a longer figure has moved the next
			room = max(at[i+1]-x-2, 0)
		}
		low.To(x).Field(part.As(f.Token, note), room, part.Words)
	}
	if v.Size == page.S {
		return []string{top.String()}
	}
	return []string{rule.String(), top.String(), low.String()}
}

// whatItIs says to whom it does not know what the program does, and what it has brought.
const whatItIs = "League of Legends matches, from Riot to your disk: {matches} lists them, {reports} shows when they were played, {help} explains"

// restLanes is how many accounts have a lane at most while none is at work.
const restLanes = 8

// lanes is the timetable in the place of the board: the calls by cell, the sums of the windows, and on a
// lane each whose they are.
func (o *Screen) lanes(v *page.View, t *charts.Timetable, w, h int) part.Section {
	lanes := max(h-charts.TimetableRows(v, 0), 1)
	src, p, tall := o.syncing(v), &o.panes[paneAccounts], t.Tall(lanes)
	p.Height = lanes / tall
	p.Follow(src)
	syncing := len(v.Syncing()) > 0 // else the lanes are of accounts, and the list of what arrives on the board below
	picked, focus := -1, syncing && o.focus == paneAccounts
	if focus {
		picked = min(p.Cur.At(), p.Height-1)
	}
	s := part.Section{Title: "TIMETABLE", Note: t.Note(v), Tail: t.Tail(v), Focus: focus, Height: h}
	s.Rows = t.Rows(v, w, lanes, picked)
	// Above the lanes are the chart and its sums, below them the row of the retries.
	first := len(s.Rows) - 1 - lanes
	if v.Size == page.S { // the words of the axis stand in the row of the title
		s.Head, s.Rows = charts.Overlay(v, s.Title, "", s.Rows[0], w), s.Rows[1:]
		first--
	}
	s.Click = func(_, y int) string {
		if lane := (y - first) / tall; syncing && y >= first && lane < min(p.Height, src.Len()) {
			o.focus = paneAccounts
			p.Cur.Go(src, lane, p.Height)
		}
		return ""
	}
	return s
}

// listed draws a short list with the cursor where the keys go, tall rows for each item.
// Each of the Overview's lists has a cursor of its own; which of them the keys go to is o.focus.
// What draws an item gets the line after the cursor's cell.
func (o *Screen) listed(v *page.View, n, w, h, tall int, src part.Source, s part.Section,
	draw func(l *part.Line, item, row int)) part.Section {
	p := &o.panes[n]
	p.Height = max((h-len(s.Rows))/tall, 1)
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
		if at := top + y/tall; y >= 0 && at < src.Len() {
			o.focus = n
			p.Cur.Go(src, at, p.Height)
		}
		return ""
	}
	return s
}

// sinceFrom is from how many cells on a single row of NEEDS YOU has room for when something began.
const sinceFrom = 50

// needsBlock is what only a person can settle, each with what is to be done where there
// is room.
// With the key that settles it at the right end. An empty list is good news, and says so.
func (o *Screen) needsBlock(v *page.View, w, h int) part.Section {
	src := o.needs(v)
	tall := human.Either(2*len(src.Items) <= h, 2, 1)
	s := part.Section{Title: "NEEDS YOU", Empty: cmp.Or(v.Waiting(), "nothing needs you")}
	if n, alone := len(src.Items), 0; n > 0 {
		for i := range src.Items {
			alone += page.Btoi(src.Items[i].Alone)
		}
		s.Note = page.Joined(v, page.Count(n-alone), human.If(alone > 0, human.Counted(alone, "goes on by itself", "go on by themselves")))
	}
	return o.listed(v, paneNeeds, w, h, tall, src, s, func(l *part.Line, i, row int) {
		n := src.Items[i]
		since := human.If(!n.Since.IsZero(), n.Since.In(v.Now.Location()).Format("since 15:04"))
		if row > 0 {
			l.Gap(2).Put(themes.Dim, part.Clause(page.Joined(v, since, n.More), w-4))
			return
		}
		if tall > 1 || w < sinceFrom { // the row below tells, or there is no room
			since = ""
		} else if since != "" {
			since += " "
		}
		sign, key := v.Theme.State(n.Word), v.Keyed(n.Key)
		text, room := n.Text, max(w-5-len(key)-len(since), 8)
		if by := page.Joined(v, text, n.By); tall == 1 && safe.Width(by) <= room {
			text = by
		}
		l.Glyph(sign.Token, sign.Glyph, 1).Gap(1).Field(part.As(themes.Text, text), room, part.Words).Gap(1)
		l.Cells(part.As(themes.Dim, since), part.As(themes.Accent, key))
	})
}

// radar is the last answers, a cell each.
func (o *Screen) radar(v *page.View, w, h int) part.Section {
	s := block.CallsSection(v, o.swept.Take(v), w, h, 0)
	s.Title, s.Tail, s.Height = "RADAR", page.Joined(v, s.Tail, uptime(v)), h
	return s
}
