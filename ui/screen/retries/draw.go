package retries

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
	"github.com/farsight-console/farsight/ui/lists"
	"github.com/farsight-console/farsight/ui/page"
	"github.com/farsight-console/farsight/ui/part"
)

// farthestStep is that of an axis on which a whole day is seen: half an hour in each cell.
const farthestStep = 30 * time.Minute

// highest is the greatest of a number lately: what depends on it does not move with each job
// that comes and goes.
type highest struct {
	n  int
	at time.Time
}

// keep takes the newest number, and gives the highest of late. A clock that was put back begins
// anew.
// It holds for [block.KeepLines]; then it may fall.
func (h *highest) keep(n int, now time.Time) int {
	if n >= h.n || now.Sub(h.at) > block.KeepLines || now.Before(h.at) {
		h.n, h.at = n, now
	}
	return h.n
}

// totals is what the retries of the list add up to.
type totals struct {
	of lists.Recipe // the list that it is of
	// nil = nothing has been added up yet.
	errors map[string]int // by what their last try failed with, and
	words  []string       // those in their order, the most frequent first
	late   []time.Time    // instants of those that go later
	far    []time.Time    // when each is tried for the second time after its next try
	last   int            // that are given up if they fail again
}

// add adds up the list, once for each change of it.
// The list may hold thousands on a patch day, and a frame comes several times a second.
func (p *Screen) add() {
	if p.sum.errors != nil && p.sum.of == p.Made {
		return
	}
	p.tries.learn(p.Shown)
	s := totals{of: p.Made, errors: map[string]int{}}
	for _, j := range p.Shown {
		word := columns.LastAnswer(&j.Job)
		if s.errors[word]++; s.errors[word] == 1 {
			s.words = append(s.words, word)
		}
		if j.LateBy != "" {
			s.late = append(s.late, j.Due)
		}
		// Starts is when it really goes, where that is later than due.
		at := engine.Latest(j.Due, j.Starts)
		for _, d := range j.Then[:min(2, len(j.Then))] {
			at = at.Add(d)
		}
		s.far = append(s.far, at)
		s.last += page.Btoi(charts.LastTry(j))
	}
	slices.SortFunc(s.far, time.Time.Compare)
	slices.SortFunc(s.words, func(a, b string) int {
		return cmp.Or(cmp.Compare(s.errors[b], s.errors[a]), cmp.Compare(a, b))
	})
	p.sum = s
}

// ladderPlaces are the rows of the charts above the ladders, and of the list's header.
// words is the row of the axis's words, bars the first of the chart and high how many it has, room
// that of the windows' room, and header that of the list's titles.
type ladderPlaces struct{ words, bars, high, room, header int }

// On a small screen the words of the axis stand in the row of the list's titles.
var ladderHeads = map[page.Size]ladderPlaces{
	page.S: {words: 3, bars: 0, high: 2, room: 2, header: 3},
	page.M: {words: 0, bars: 1, high: 2, room: 4, header: 6},
	page.L: {words: 0, bars: 1, high: 5, room: 7, header: 9},
}

// laddersWidth is what the axis takes of w cells beside the list.
// What is left of it has the widths of the list's columns, which are fixed for each size.
func laddersWidth(v *page.View, w int) int {
	switch v.Size {
	case page.S:
		return max(w-51, 0)
	case page.M:
		return w - 63
	}
	return w - 95
}

// Draw implements Page.
// The list grows with its rows in steps of six, so that one retry more or less does not move all
// that is below it.
// Below the list stand the sums, the sentence on the retry under the cursor, its last answer on a
// wide screen, what has failed of late, and the last calls.
func (p *Screen) Draw(v *page.View) []string {
	p.Refresh(v)
	p.add()
	head := ladderHeads[v.Size].header + 2 // with the section's title
	rows := p.rows.keep(len(p.Shown), v.Now)
	list := (max(rows, 1) + 5) / 6 * 6
	most, why := 12, 3
	if v.Size == page.S {
		most, why = 8, 5
	}
	below := []page.Band{
		{Least: 6, Most: 6, Keep: 2, Draw: func(y, h int) []string { return p.columns(v, y, h-1) }},
		{Least: why, Most: 6, Keep: 1,
			Draw: func(y, h int) []string { return v.Sections(0, y, v.W, h, p.why(v, h-1)) }},
		{Least: 4, Most: max(4, 2+len(block.FailedCalls(v))/2), Keep: 3,
			Draw: func(y, h int) []string { return v.Sections(0, y, v.W, h, block.Failures(v, h-1)) }},
		{Least: block.CallRows + 2, Most: math.MaxInt, Keep: 5, Draw: func(y, h int) []string {
			return v.Sections(0, y, v.W, h, block.CallsSection(v, p.tape.Take(v), v.Inner(v.W), block.CallRows, h-1-block.CallRows))
		}},
	}
	if j := p.peek.Job; v.Size == page.L && rows > 0 && j != nil && j.Have {
		below = slices.Insert(below, 2,
			page.Band{Least: 5, Most: 9, Keep: 4,
				Draw: func(y, h int) []string { return v.Abreast(y, h, j.Blocks(v)) }})
	}
	switch {
	case rows == 0:
		// Without a retry there is none to explain.
		below = slices.Delete(below, 1, 2)
	case v.Size != page.S && v.H-head-list < 6+6+4+3: // what is below has its empty rows first
		below = below[:2]
	}
	return v.Bands(append([]page.Band{{Least: head + min(list, most), Most: head + list, Draw: p.ladders(v)}},
		below...)...)
}

// place puts the axis: a quarter of it past, and ahead as far as most of the retries and two
// tries after each of them.
// Nine of ten are on it: one that waits until tomorrow would squeeze all others into a cell. Its
// step changes slowly (see [highest]), else it would jump with each job that leaves.
// The zoom is counted from the step that is needed: it stays relative when that changes.
func (p *Screen) place(v *page.View, w int) {
	need, back := 2*time.Second, w/4
	if n := len(p.sum.far); n > 0 {
		need = p.sum.far[n*9/10].Sub(v.Now) / time.Duration(max(w-back-2, 1))
	}
	step := page.Clamp(p.step.keep(charts.StepAt(need), v.Now)+p.zoom, 0, charts.StepAt(farthestStep))
	now, _ := charts.ChartNow(v)
	p.axis = charts.TimeAxis{Axis: part.NewAxis(now, charts.AxisSteps[step], back, w)}
}

// ladders are the charts and the list.
// It is drawn late, when the bands know how many rows each has.
func (p *Screen) ladders(v *page.View) func(y, h int) []string {
	return func(y, h int) []string {
		w, at := v.Inner(v.W), ladderHeads[v.Size]
		life := laddersWidth(v, w) // the last cell of a row stays empty
		p.place(v, life)
		s := part.Section{Title: "RETRIES", Note: p.note(v), Tail: p.tail(v), Height: h - 1}
		s.Rows = p.rowsOf(v, w, life, h-1)
		s.Click = func(x, y int) string {
			switch y -= at.header; {
			case y < 0:
			case y == 0:
				p.SortAt(v, w-life-1, x)
			default:
				return p.Clicked(p.List.Rows(v), y-1)
			}
			return ""
		}
		return v.Sections(0, y, v.W, h, s)
	}
}

// rowsOf are the charts with their labels, and below them the list with its ladders.
// The list is drawn by its table and the ladders by the chart, row by row beside each other: a row
// under the cursor is lit across both.
func (p *Screen) rowsOf(v *page.View, w, life, h int) []string {
	at := ladderHeads[v.Size]
	c := part.NewChart(v.Theme, p.axis.Axis, h)
	c.Words(at.words)
	b, r := charts.RetryBarsOf(v, p.axis, p.Shown), charts.RoomOf(v, &p.plan.Plan, p.axis)
	b.Draw(c, at.bars, at.high)
	r.Draw(v, c, at.room, p.sum.late)
	rows := make([]string, 0, h)
	l := part.NewLine(v.Theme, w)
	for y := range at.header {
		l.Reset(w-life-1, false)
		rows = append(rows, p.label(v, l.Gap(1), y, &b, &r).String())
	}
	rows = append(rows, p.List.Draw(v, w-life-1, h-at.header, p.empty(v))...)
	src, last := p.List.Rows(v), at.header
	for y := at.header + 1; y < h; y++ {
		// The chart has rows where the list has gaps; only a row that holds a job has a ladder.
		if i, ok := p.Cur.Row(src, y-at.header-1); ok {
			charts.DrawLadder(v, c, y, p.Shown[i])
			last = y + 1
		}
	}
	if at.words != at.header {
		c.Put(at.header, 1, themes.Dim, "LADDER")
	}
	c.Seam(at.bars, max(last-at.bars, at.high))
	// -1 = there is none.
	picked := p.OnRow(len(p.Shown))
	if picked > 0 {
		picked += at.header
	}
	page.Beside(v, rows, c, life+1, picked)
	_, rests := charts.ChartNow(v)
	v.Ticks = v.Ticks || !rests && len(p.Shown) > 0
	return rows
}

// label says what a row of the charts is.
func (p *Screen) label(v *page.View, l *part.Line, y int, b *charts.RetryBars, r *charts.Room) *part.Line {
	g := v.Theme.Glyphs
	at := ladderHeads[v.Size]
	// The scale of the bars: how many retries the highest one stands for.
	top := page.Count(b.High())
	switch y {
	case at.bars:
		l.Put(themes.Text, "failed "+g.Less+" now "+g.More+" due").
			Put(themes.Dim, "  per "+charts.CellText(p.axis.Step))
		l.Right(part.As(themes.Dim, top+" "))
	case at.bars + 1:
		l.Put(themes.Dim, g.Plan[min(1, len(g.Plan)-1)]+" only if it fails again")
	case at.room:
		room := "room "
		if r.Host != nil && !page.OneHost(v) {
			room += "of " + r.Host.Host + " "
		}
		switch {
		case r.Host == nil:
			l.Put(themes.Dim, "no limit of them is known yet")
		case r.Host.Stuck:
			l.Put(themes.Warn, r.Host.Why+": no room until that ends")
		// a step for each window
		case r.Every == r.Host.Window:
			l.Put(themes.Text, room+"in the "+human.Window(r.Every)+" windows").Gap(2).
				Put(themes.Dim, page.Count(r.Calls())+" calls each")
		default:
			l.Put(themes.Text, room+"per "+human.Dur(r.Every)).Gap(2).
				Put(themes.Dim, "of "+page.Count(r.Calls())+" calls")
		}
	}
	return l
}

// note is how many wait, and when the first of them goes.
// The seconds are counted down by the screen (v.Ticks), without asking the engine.
// Such as "24 wait, the next goes in 0:12".
func (p *Screen) note(v *page.View) string {
	text := page.Count(len(p.Shown)) + human.If(p.On(), " of "+page.Count(p.All))
	text += " wait"
	var first time.Time
	for _, j := range p.Shown {
		if at := page.GoesAt(j); !at.IsZero() && (first.IsZero() || at.Before(first)) {
			first = at
		}
	}
	if left := first.Sub(v.Beat()); left > 0 {
		text += ", the next goes " + human.Either(left < time.Second, "now", "in "+human.Stopwatch(left))
		v.Ticks = true
	}
	return p.Noted(v, text)
}

// tail is how far the axis reaches.
// The console knows of failures only since it has been told of calls: an empty past left of that
// instant does not mean that nothing failed.
func (p *Screen) tail(v *page.View) string {
	a := p.axis
	back, ahead := time.Duration(a.Back)*a.Step, time.Duration(a.Width-a.Back)*a.Step
	text := human.Distance(back) + " back, " + human.Distance(ahead) + " ahead"
	if since := charts.RecordedSince(v.Data); since.After(a.Begin()) && !since.IsZero() {
		text = "failures known since " + since.In(v.Now.Location()).Format("15:04:05")
	}
	return text + "   " + v.Keyed("{nearer} {farther} zoom")
}

// empty says why nothing is listed; that nothing waits for a retry is good news.
func (p *Screen) empty(v *page.View) string {
	return cmp.Or(p.List.Empty(v), cmp.Or(v.Waiting(), "nothing waits for a retry"))
}

// columns are how tries ended, what they failed with, and what they cost, side by side.
// A small screen leaves the costs out.
func (p *Screen) columns(v *page.View, y, h int) []string {
	blocks := []func(w, h int) part.Section{
		func(w, h int) part.Section { return p.byTry(v, w, h) },
		func(w, h int) part.Section { return p.byError(v, w, h) },
		func(w, h int) part.Section { return p.costs(v, w, h) },
	}
	if v.Size == page.S {
		blocks = blocks[:2]
	}
	return v.Abreast(y, h+1, blocks)
}

// byTry is how many tries of each number there were in the last hour, and how many of them were
// the last that was needed.
// It tells whether trying again pays: where the third try of a hundred has never worked, the
// policy is too patient.
func (p *Screen) byTry(v *page.View, w, h int) part.Section {
	s := part.Section{Title: "BY TRY", Note: "what worked in the last hour", Height: h, Empty: p.noTries(v)}
	for i := range max(len(p.tries.counted.Tries), len(p.tries.waits)-1) {
		if len(s.Rows) == h {
			break
		}
		// A try that nobody made in the last hour is listed as long as a policy has it.
		var n engine.TryCount
		if i < len(p.tries.counted.Tries) {
			n = p.tries.counted.Tries[i]
		}
		name, share, ratio := part.Plain(p.tries.name(v, i+1)), part.As(themes.Dim, part.None), 0.0
		if n.Made > 0 {
			ratio = float64(n.Won) / float64(n.Made)
			share = part.As(themes.Figure, human.Percent(ratio))
		} else {
			name.Token = themes.Dim
		}
		const number, percent = 6, 5
		bar := page.Clamp(w-17-number-percent-3, 0, 24)
		l := part.NewLine(v.Theme, w).Gap(1).Field(name, w-number-bar-percent-4, part.Words).
			Field(part.As(themes.Dim, page.Count(n.Made)), number, part.Number).Gap(1)
		s.Rows = append(s.Rows, l.Bar(themes.Run, bar, ratio).Gap(1).Field(share, percent, part.Number).String())
	}
	return s
}

// noTries says why there are none to be shown.
func (p *Screen) noTries(v *page.View) string {
	if v.Engine.State == engine.EngineBrowse {
		return "no engine runs that would know"
	}
	return cmp.Or(p.tries.Absent(v, "the tries", "the tries"), "nothing was tried in the last hour")
}

// byError is what the last tries failed with, the most frequent first.
// What has no row of its own is added up in the last one: the sum is that of the list.
func (p *Screen) byError(v *page.View, w, h int) part.Section {
	words := p.sum.words
	s := part.Section{Title: "BY ERROR", Note: "of the last try", Height: h, Empty: "none"}
	if len(words) == 0 {
		return s
	}
	bar := page.Clamp(w-24, 0, 24)
	put := func(word string, jobs int) {
		l := part.NewLine(v.Theme, w).Gap(1).Field(part.Plain(word), w-bar-6, part.Words).Gap(1)
		s.Rows = append(s.Rows, l.Bar(themes.Retry, bar, float64(jobs)/float64(len(p.Shown))).
			Field(part.As(themes.Figure, page.Count(jobs)), 4, part.Number).String())
	}
	shown := len(words)
	if shown >= h { // the last two rows are those of the others and of the key
		shown = max(h-2, 0)
	}
	for _, word := range words[:shown] {
		put(word, p.sum.errors[word])
	}
	if others := words[shown:]; len(others) > 0 && h > 0 {
		jobs := 0
		for _, word := range others {
			jobs += p.sum.errors[word]
		}
		put(human.Counted(len(others), "other", "others"), jobs)
	}
	if len(s.Rows) < h {
		key := v.Keyed("{error classes}")
		s.Rows = append(s.Rows, v.Row(w, part.Plain(" "), part.As(themes.Accent, key),
			part.As(themes.Dim, " retries a class, one job first")))
	}
	return s
}

// costs are the calls that retries take, and how they stand.
// The share is of what the host's tightest limit allows in a minute: retries take it from the calls
// that are still to be made for the first time.
func (p *Screen) costs(v *page.View, w, h int) part.Section {
	soon, late, last := 0, len(p.sum.late), p.sum.last
	for _, j := range p.Shown {
		if at := page.GoesAt(j); !at.IsZero() && at.Before(v.Now.Add(time.Minute)) {
			soon++
		}
	}
	s := part.Section{Title: "WHAT IT COSTS", Note: "calls", Height: h}
	// A figure of 0 is dim: it needs nobody.
	put := func(t themes.Token, text, figure string, n int) {
		if n == 0 {
			t = themes.Dim
		}
		if len(s.Rows) < h {
			s.Rows = append(s.Rows, part.NewLine(v.Theme, w).Gap(1).Put(themes.Text, text).
				Right(part.As(t, figure+" ")).String())
		}
	}
	put(themes.Figure, "retries, next minute", page.Count(soon), soon)
	if b, ok := charts.Pacing(v.Data, charts.RoomOf(v, &p.plan.Plan, p.axis).Host); ok && b.Limit > 0 && b.Window > 0 {
		put(themes.Figure, "of what the key allows",
			human.Percent(float64(soon)*b.Window.Minutes()/float64(b.Most())), soon)
	}
	put(themes.Warn, "later than due", page.Count(late), late)
	put(themes.Err, "last chance, then given up", page.Count(last), last)
	return s
}

// why is the sentence about the retry under the cursor, and where the time of its last try went.
// The sentence is that of the job's own screen: see [charts.WhyOf].
// The bar of where the time went has two rows with its legend, which are left out on a low screen.
func (p *Screen) why(v *page.View, h int) part.Section {
	w := v.Inner(v.W)
	j, ok := p.Selected()
	if !ok {
		return part.Section{Title: "WHY", Empty: cmp.Or(p.Away(v, "retry", len(p.Shown)), p.empty(v)), Height: h}
	}
	s := charts.WhyOf(v, &j, w)
	s.Height = h
	if len(s.Rows)+2 > h {
		s.Rows = s.Rows[:min(len(s.Rows), h)]
		return s
	}
	if len(s.Rows)+2 < h {
		s.Rows = append(s.Rows, "")
	}
	spent := charts.SpentOn(v, p.peek.LastTry(v, &p.List), time.Time{}, &j)
	s.Rows = append(s.Rows, spent.Bar(v, part.NewLine(v.Theme, w).Gap(1), w-2).String(),
		spent.Legend(part.NewLine(v.Theme, w).Gap(1)).String())
	return s
}

// lateCell is how much later than its instant a retry goes.
// "no" = it goes when it is due; "held" = nobody knows when it goes.
func lateCell(v *page.View, j *engine.JobRow) part.Cell {
	switch late := charts.LateBy(v, j); {
	case v.Engine.State == engine.EngineBrowse:
		return part.As(themes.Dim, part.None)
	// Less than a second is the engine's own pace and no delay.
	case j.LateBy == "" || late < time.Second && !j.Starts.IsZero():
		return part.As(themes.Dim, "no")
	case j.Starts.IsZero():
		return part.As(themes.Warn, "held")
	case late >= 10*time.Minute && late < time.Hour: // as much as has room: +17m
		return part.As(themes.Warn, "+"+human.Tight(late.Truncate(time.Minute)))
	case late >= time.Minute && late < time.Hour: // +1:05, as short as the instants beside it
		return part.As(themes.Warn, "+"+human.Stopwatch(late))
	default:
		return part.As(themes.Warn, "+"+human.Age(late))
	}
}

// startsRound is how exactly the start of a late retry is told: it moves with all
// that is ahead of it.
const startsRound = 5 * time.Second

// startsCell says when a retry really starts, and what it waits for then.
// Such as "12:31:50, for" and the limit that it waits for, by its short name.
func startsCell(v *page.View, j engine.JobRow) part.Cell {
	switch {
	case j.LateBy == "":
		return part.As(themes.Dim, "on time")
	case j.Starts.IsZero():
		return part.As(themes.Warn, "not yet: "+page.BriefWhy(v, j.LateBy))
	}
	return part.As(themes.Warn, v.Clock(j.Starts.Truncate(startsRound))+", for "+v.WindowCalled(j.LateBy))
}
