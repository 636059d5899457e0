package page

import (
	"slices"
	"strconv"

	"github.com/farsight-console/farsight/engine"
	"github.com/farsight-console/farsight/engine/columns"
	"github.com/farsight-console/farsight/engine/human"
	"github.com/farsight-console/farsight/engine/safe"
	"github.com/farsight-console/farsight/themes"
	"github.com/farsight-console/farsight/ui/part"
)

// Limits shows every window of the limiter and the last calls.
type Limits struct {
	buckets, calls pane
	onCalls        bool
	moved          bool // the recorder's cursor was taken off the newest call
	tape           tape
	fills          fills
	strips         strips
	query[engine.CallRow]
	picked picked
	seek   uint64 // the call that the cursor shall go to
}

// NewLimits makes the screen.
func NewLimits() *Limits {
	return &Limits{onCalls: true, tape: tape{every: tapeEvery}, query: query[engine.CallRow]{schema: columns.Calls.Schema}}
}

// newLimitsAt makes the screen with the cursor on a call.
func newLimitsAt(seq uint64) *Limits {
	p := NewLimits()
	p.seek, p.moved = seq, true
	return p
}

// Screen implements Page.
func (p *Limits) Screen() Screen { return ScreenLimits }

// Crumb implements Page.
func (p *Limits) Crumb(*View) string { return "" }

// Want implements Page: limits and calls come with Watch. Only what was before is
// asked for, where there is room to show it.
func (p *Limits) Want(v *View) engine.Query { return p.strips.want(v) }

// Got implements Page.
func (p *Limits) Got(v *View, q engine.Query, a engine.Answer, err error) {
	if _, ok := q.(engine.MomentsQuery); ok {
		p.strips.take(v, a, err)
	}
}

// Reload makes the page ask again at once.
func (p *Limits) Reload() { p.strips.forget() }

// SetFilter implements Filterer.
func (p *Limits) SetFilter(text string) error {
	p.calls.asked = true
	return p.query.SetFilter(text)
}

// Fit implements Filterer.
func (p *Limits) Fit() (shown, all int) {
	if !p.on() {
		return len(p.tape.calls), len(p.tape.calls)
	}
	return len(p.picked.calls), len(p.tape.calls)
}

// source is the flight recorder with the filter.
func (p *Limits) source(v *View) recorder { return p.picked.of(v, p.tape.take(v), &p.query) }

func (p *Limits) bucketSource(v *View) part.Slice[engine.BucketRow] {
	return part.Slice[engine.BucketRow]{
		Items: limitsOf(v),
		Key: func(b engine.BucketRow) string {
			return b.Host + "|" + b.Method + "|" + b.Kind + "|" + b.Window.String()
		},
		Cells: func(b engine.BucketRow, cells []part.Cell) []part.Cell { return bucketCells(v, b, cells) },
	}
}

func bucketCells(v *View, b engine.BucketRow, cells []part.Cell) []part.Cell {
	word, more := bucketState(v, b)
	reset := part.As(themes.Dim, part.None)
	if left := v.in(b.Reset); left != part.None && b.Limit > 0 {
		reset = part.Plain(left)
	}
	if b.Kind == kindBreaker {
		reset = part.As(themes.Held, v.in(b.NextFree))
	}
	if (b.Frozen() || b.Cap > 0) && !b.Thaws.IsZero() {
		reset = part.As(themes.Held, v.in(b.Thaws))
	}
	return append(cells,
		part.Plain(brief(v, b)), part.As(themes.Dim, human.Window(b.Window)), fillCell(v, b), serverCell(v, b),
		reset, v.state(word), part.As(themes.Dim, more), part.As(themes.Dim, strconv.Itoa(b.InFlight)), part.As(themes.Dim, b.Mode),
	)
}

// columnsOf are the columns of the buckets: the title names the host where there is
// only one, and each row where there are several.
func columnsOf(v *View) []part.Column {
	columns := slices.Clone(bucketColumns)
	if !oneHost(v) {
		columns[0].Width = 28
	}
	server := &columns[3]
	for _, b := range v.Limits.Buckets { // an age is cut off by nothing
		server.Min = max(server.Min, safe.Width(serverCell(v, b).Text))
	}
	server.Width = max(server.Width, server.Min)
	if v.W < noBarsBelow { // the scope says which window it is, a bar of four cells says nothing
		columns[2].Min, columns[2].Width = leastFill, leastFill
	}
	return columns
}

// Below noBarsBelow cells the buckets are told by their counts alone: 1600/1600.
const noBarsBelow, leastFill = 72, 9

var bucketColumns = []part.Column{
	{Title: "SCOPE", Kind: part.Words, Min: 20, Width: 20},
	{Title: "WINDOW", Kind: part.Number, Min: 6, Width: 6},
	{Title: "FILL", Kind: part.Progress, Min: 24, Width: 24, Tail: 11},
	{Title: "SERVER", Kind: part.Words, Min: 8, Width: 9, Priority: 2},
	{Title: "RESET", Kind: part.Number, Min: 6, Width: 6},
	{Title: "STATE", Kind: part.State, Min: 13, Width: 13},
	{Title: "WHAT IT HOLDS", Kind: part.Words, Min: 20, Width: 26, Flex: 1, Priority: 1},
	{Title: "OPEN", Kind: part.Number, Min: 4, Width: 4, Priority: 5},
	{Title: "MODE", Kind: part.Words, Min: 4, Width: 4, Priority: 6},
}

// Cannot implements Page.
func (p *Limits) Cannot(v *View, a Action) string {
	switch a {
	case Retry, Cancel:
		return v.keyed("select a job first: {open} opens the job of a call")
	case Pause:
		if p.onCalls {
			return v.keyed("{pause} freezes or caps a bucket: {next pane} to the buckets")
		}
		return missing(&p.buckets, p.bucketSource(v), "bucket")
	case Open:
		if !p.onCalls {
			return v.keyed("{open} opens the job of a call: {next pane} to the flight recorder")
		}
	}
	return ""
}

// Act implements Page.
func (p *Limits) Act(v *View, a Action) Effect {
	switch {
	case a == NextPane:
		p.onCalls = !p.onCalls
	case a == Trigger:
		return Effect{Ask: AskSync}
	case a == Open && p.onCalls:
		return p.open(v)
	case a == Pause:
		if b, ok := selected(&p.buckets, p.bucketSource(v)); ok {
			return steerBucket(b)
		}
	case p.onCalls:
		if p.calls.act(p.source(v), a) {
			p.moved = a != Home
		}
	default:
		p.buckets.act(p.bucketSource(v), a)
	}
	return Effect{}
}

func (p *Limits) open(v *View) Effect {
	c, ok := p.call(v)
	switch {
	case !ok:
		return say(engine.LevelInfo, "there is no call here")
	case c.Status == 429:
		return Effect{Open: &Target{Screen: ScreenForensics, Seq: c.Seq}}
	case c.Job != "":
		return Effect{Open: toJob(c.Job)}
	}
	return say(engine.LevelInfo, "this call belongs to no job")
}

// call is the call under the cursor.
func (p *Limits) call(v *View) (c engine.CallRow, ok bool) {
	src := p.source(v)
	id, _ := p.calls.cur.Selected()
	i, ok := src.Find(id)
	if !ok {
		return c, false
	}
	return src.at(i), true
}

// sought puts the cursor on the call that was asked for, as long as the flight
// recorder has it.
func (p *Limits) sought(src recorder) {
	if p.seek == 0 || src.Len() == 0 {
		return
	}
	if p.calls.cur.Select(src, strconv.FormatUint(p.seek, 10), p.calls.height) {
		p.seek = 0
	}
}

// Draw implements Page.
func (p *Limits) Draw(v *View) []string {
	p.strips.see(v)
	shown, d := *v, *v.Data
	d.Limits, shown.Data = p.fills.take(v), &d
	rows := p.draw(&shown)
	v.Ticks = v.Ticks || shown.Ticks
	return rows
}

func (p *Limits) draw(v *View) []string {
	w := v.inner(v.W)
	buckets := clamp(len(limitsOf(v))+1, 2, max(v.H*2/5, 2))
	wide := v.Size == L && v.W >= stripsFrom
	if wide {
		w -= stripsWidth(v)
	}
	bt := part.Table{Columns: columnsOf(v), Blur: p.onCalls, Empty: or(v.waiting(), "no limit is known yet: the first answer tells them")}
	top := p.buckets.section(v, bt, w, buckets, p.bucketSource(v), part.Section{
		Title: "RATE LIMITS", Note: limitsNote(v), Focus: !p.onCalls, Tail: moreThan(v, len(v.Limits.Buckets)-(buckets-1)),
	})
	top.Click = top.Click.After(func() { p.onCalls = false })
	if wide {
		w = v.inner(v.W)
	}
	src := p.source(v)
	if !p.moved {
		p.calls.cur.Home(src, p.calls.height)
	}
	p.sought(src)
	ct := part.Table{Columns: recorderColumns(v.Size), Blur: !p.onCalls, Empty: p.emptyCalls(v)}
	h := max(v.H-buckets-3, 0)
	if wide {
		h--
	}
	bottom := p.calls.section(v, ct, w, h, src, part.Section{Title: "FLIGHT RECORDER", Note: p.recorderNote(v, src), Focus: p.onCalls, Tail: p.follow(v)})
	bottom.Click = bottom.Click.After(func() { p.onCalls, p.moved = true, true })
	if !wide {
		return v.whole(top, bottom)
	}
	right := stripsWidth(v)
	beside := p.strips.panel(v, limitsOf(v), p.buckets.cur.Top(), v.inner(right), buckets)
	return part.Stack(
		part.Beside(v.sections(0, 0, v.W-right, buckets+2, top), v.sections(v.W-right, 0, right, buckets+2, beside)),
		v.sections(0, buckets+2, v.W, v.H-buckets-2, bottom))
}

// stripsFrom is the width from which there is room beside the buckets.
const stripsFrom = 150

func stripsWidth(v *View) int { return clamp(v.W*2/5, 48, 82) }

func (p *Limits) recorderNote(v *View, src recorder) string {
	all := len(p.tape.calls)
	if told := p.told(); told != "" {
		return count(src.Len()) + " of " + count(all) + " " + v.Theme.Glyphs.Sep + " " + told
	}
	return human.Counted(all, "call", "calls")
}

func (p *Limits) follow(v *View) string {
	if p.moved {
		return v.keyed("{first row} follows again")
	}
	return "newest first"
}

func (p *Limits) emptyCalls(v *View) string {
	if p.on() && len(v.Calls) > 0 {
		return "0 of " + count(len(v.Calls)) + " " + v.Theme.Glyphs.Sep + v.keyed(" {back} clears ") + p.used
	}
	return or(v.waiting(), v.start("no call yet", "{sync} starts a sync"))
}

// SelectedJob implements Jobber: the job of the call under the cursor.
func (p *Limits) SelectedJob(v *View) (engine.JobID, string) {
	c, ok := p.call(v)
	if !ok || !p.onCalls {
		return "", ""
	}
	return c.Job, string(c.Job)
}

// Hold implements Holder.
func (p *Limits) Hold() { p.focused().Hold() }

// Place implements Holder.
func (p *Limits) Place() string { return p.focused().Place() }

func (p *Limits) focused() *pane {
	if p.onCalls {
		return &p.calls
	}
	return &p.buckets
}
