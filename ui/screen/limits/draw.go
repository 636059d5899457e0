package limits

import (
	"cmp"
	"strconv"
	"strings"
	"time"

	"github.com/farsight-console/farsight/engine"
	"github.com/farsight-console/farsight/engine/human"
	"github.com/farsight-console/farsight/engine/safe"
	"github.com/farsight-console/farsight/themes"
	"github.com/farsight-console/farsight/ui/block"
	"github.com/farsight-console/farsight/ui/charts"
	"github.com/farsight-console/farsight/ui/page"
	"github.com/farsight-console/farsight/ui/part"
)

// places are how many rows each block of the limits takes, top to bottom.
// 0 = the block is left out.
type places struct {
	pacing, others, lanes int // of the window that sets the pace, the other buckets, the accounts
	blocks                int // of what stands side by side, below its titles
	ribbon, calls         int // of the flight recorder
}

// rows is how many rows all of it takes, with titles and what parts the blocks.
func (p places) rows(size page.Size) int {
	gap, head := 1, 3 // title, words of the axis, resets
	if size == page.S {
		gap, head = 0, 1 // the words stand in the title's row
	}
	n := head + p.pacing + 2 + p.ribbon + p.calls // and what is above the recorder's list
	for _, block := range []int{p.others, p.lanes} {
		if block > 0 {
			n += gap + block
		}
	}
	if p.blocks > 0 {
		n += 2 + p.blocks
	}
	return n
}

// leastCalls is how many calls the recorder shows at least.
const leastCalls = 3

// places deals the rows of the screen out. What does not change with what is going on has a
// fixed height, so that nothing moves but for a limit that is learnt.
// paced says that there is a window that sets the pace; others is how many buckets there are
// besides.
func (p *Screen) places(v *page.View, paced bool, others int) places {
	// most is how many buckets are shown at most; both, if not 0, what buckets and accounts share.
	at, most, both := places{pacing: 6, lanes: 2, blocks: 4, ribbon: 3}, 6, 8
	switch v.Size {
	case page.S:
		at, most, both = places{pacing: 3, blocks: 3}, 5, 0
	case page.L:
		at, most, both = places{pacing: 8, lanes: 4, blocks: 5, ribbon: 4}, 14, 18
	}
	if !paced {
		at.pacing, both, at.lanes = 1, 0, 0
	}
	if len(v.Calls) == 0 {
		at.ribbon = 0
	}
	if at.others = min(others, most); both > 0 { // accounts have what the buckets leave
		at.lanes = page.Clamp(both-at.others, at.lanes, 5)
	}
	// What is given up first is what the same screen tells elsewhere: lanes, which the Overview has,
	// then the recorder's ribbon; the window that sets the pace goes last.
	for at.calls = leastCalls; at.rows(v.Size) > v.H; {
		switch {
		case at.lanes > 1:
			at.lanes--
		case at.ribbon > 0:
			at.ribbon = 0
		case at.others > 3:
			at.others--
		case at.blocks > 2:
			at.blocks--
		case at.lanes > 0:
			at.lanes = 0
		case at.pacing > 3:
			at.pacing--
		case at.blocks > 0:
			at.blocks = 0
		case at.others > 0:
			at.others--
		default:
			return at
		}
	}
	at.calls += max(v.H-at.rows(v.Size)-page.Btoi(v.Frozen), 0) // of what is frozen the last row tells
	return at
}

// Draw implements Page. It lays the screen out from top to bottom. All its charts stand on one axis, whose place is
// found first: each is then drawn into the same cells, and what happens at one instant stands in
// one column.
func (p *Screen) Draw(v *page.View) []string {
	inner, src, gutter := v.Inner(v.W), p.bucketSource(v), gutterWidth(v)
	first, paced := charts.Pacing(v.Data, p.plan.Busiest(v))
	axis := axisOf(v, first.Window, inner, gutter)
	p.ahead = reaches(axis)
	t := charts.NewTimetable(v, axis, &p.plan, nil)
	_, rests := charts.ChartNow(v)
	v.Ticks = v.Ticks || !rests && t.Moves()
	at := p.places(v, paced, len(src.Items)-page.Btoi(paced))
	// A 429 takes two rows in its block.
	hits := lastHits(v.Calls, t.Begin(), (at.blocks+1)/2) // as many as the title counts
	top := p.limits(v, &t, src, at, page.Btoi(paced), inner, gutter)
	out := v.Sections(0, 0, v.W, top.Height+1, top)
	if at.blocks > 0 {
		out = append(out, v.Row(v.W))
		out = append(out, p.blocks(v, &t, hits, len(out), at.blocks)...)
	}
	out = append(out, v.Row(v.W))
	return append(out, v.Sections(0, len(out), v.W, v.H-len(out), p.recorder(v, inner, at))...)
}

// Fields of a bucket before its chart. Where there are several hosts their name stands
// before.
// Widths are of cells, with the gap to the next field.
const (
	bucketHost              = 9
	bucketUsed, bucketLimit = 5, 5
	bucketWindow            = 6
	bucketRiot, bucketReset = 8, 7
	bucketScale             = 5
	// bucketFigures are all of them that every size has.
	bucketFigures = bucketUsed + bucketLimit + bucketWindow + bucketRiot + bucketReset
)

// nameWidth is what the name of a bucket takes: a wide screen has room for grandmaster.
func nameWidth(v *page.View) int { return human.Either(v.Size == page.L, 12, 9) }

// gutterWidth is what stands before the charts.
// It is the same for all rows, so that the charts begin in one column.
func gutterWidth(v *page.View) int {
	w := 1 + nameWidth(v) + bucketFigures
	if v.Size != page.S {
		w += bucketScale
	}
	if v.Size == page.L {
		w += len(wideTitles) * wideField
	}
	if !page.OneHost(v) {
		w += bucketHost
	}
	return w + 1
}

// wideTitles is what only a wide screen tells of a bucket.
// Calls that wait, and calls under way.
var wideTitles = []string{"WAIT", "OPEN"}

// wideField is the width of each of them.
const wideField = 7

// chartBlock is the block of charts as it is drawn: what stands before each row, and the
// rows themselves.
// Each row is written twice: left gives the text before the chart, and the chart's own cells are
// set as its parts are drawn. Only then are both put together, see [chartBlock.rows].
type chartBlock struct {
	*page.View
	t     *charts.Timetable
	chart *part.Chart
	// by row; nil = nothing stands before it
	left []func(l *part.Line)
	// gutter is how many cells are before the charts.
	gutter int
	// Rows at which things begin.
	pacing, others, lanes int
}

// limits is the block of the charts: the window that sets the pace, the other buckets and
// the accounts, all on one axis.
// paced is 1 when the first bucket of src sets the pace, else 0: it then stands above the others.
func (p *Screen) limits(v *page.View, t *charts.Timetable, src part.Slice[engine.BucketRow], at places,
	paced, w, gutter int) part.Section {
	head, gap := 2, 1
	if v.Size == page.S {
		head, gap = 1, 0
	}
	d := chartBlock{View: v, t: t, gutter: gutter, pacing: head}
	d.others = head + at.pacing + min(gap, at.others)
	d.lanes = d.others + at.others + min(gap, at.lanes)
	d.left = make([]func(*part.Line), d.lanes+at.lanes)
	d.chart = part.NewChart(v.Theme, t.Axis, len(d.left))
	d.heads()
	if paced > 0 {
		d.pace(src.Items[0], at.pacing)
	} else if len(v.Limits.Buckets) == 0 {
		text := cmp.Or(v.Waiting(), "no limit is known yet: the first answer tells them")
		d.left[head] = func(l *part.Line) { l.Put(themes.Dim, text) }
	}
	rest := src.Items[paced:]
	// Below 0 when the cursor stands on the window that sets the pace.
	picked := p.scroll(src, len(rest), at.others) - paced
	for i := range min(len(rest)-p.top, at.others) {
		d.other(d.others+i, rest[p.top+i])
	}
	high := t.High()
	for i := range t.Lanes[:min(len(t.Lanes), at.lanes)] {
		d.lane(d.lanes+i, &t.Lanes[i], high)
	}
	// Now: what is left of it was, what is right of it is planned.
	d.chart.Seam(head, d.last()-head)

	s := part.Section{Title: "RATE LIMITS", Note: note(v), Tail: p.tail(v, t, len(rest)-at.others), Focus: !p.onCalls}
	// The window that sets the pace has the cursor when none of the others has it.
	on := human.Either(picked >= 0, d.others+picked-p.top, head)
	if p.onCalls || src.Len() == 0 {
		on = -1
	}
	s.Rows = d.rows(w, on)
	if v.Size == page.S {
		if hidden := len(rest) - at.others; hidden > 0 {
			s.Title += ", " + page.Count(hidden) + " more"
		}
		s.Head, s.Rows = charts.Overlay(v, s.Title, "", s.Rows[0], w), s.Rows[1:]
	}
	s.Height = len(s.Rows)
	s.Click = func(_, y int) string {
		// On a small screen the first row stands in the title, so that rows are counted from the
		// second.
		y += len(d.left) - s.Height
		i := human.Either(y >= d.others, p.top+y-d.others+paced, 0)
		p.onCalls = false
		if y >= head && y < d.others+at.others && i < src.Len() {
			p.buckets.Cur.Go(src, i, src.Len())
		}
		return ""
	}
	return s
}

// scroll brings the bucket under the cursor among those that are shown, and returns which
// it is.
// rest is how many buckets stand below the one that sets the pace, shown how many of them have a
// row.
func (p *Screen) scroll(src part.Source, rest, shown int) int {
	p.buckets.Height = max(src.Len(), 1)
	// While the keys go to the recorder the list of buckets rests at its top, unless somebody has
	// chosen one.
	if p.onCalls && !p.buckets.Cur.Held() {
		p.buckets.Cur.Rest(src, p.buckets.Height)
	}
	p.buckets.Follow(src)
	at := p.buckets.Cur.At()
	if i := at - (src.Len() - rest); i >= 0 {
		p.top = page.Clamp(p.top, i-shown+1, i)
	} else {
		p.top = 0
	}
	p.top = page.Clamp(p.top, 0, max(rest-shown, 0))
	return at
}

// last is the row below the last one that has something.
// The seam at now ends there.
func (d *chartBlock) last() int {
	n := len(d.left)
	for n > 0 && d.left[n-1] == nil {
		n--
	}
	return n
}

// rows paints what was drawn; the row with the cursor is below 0 where the keys go elsewhere.
func (d *chartBlock) rows(w, on int) []string {
	out := make([]string, len(d.left))
	l := part.NewLine(d.Theme, w)
	for y, left := range d.left {
		l.Reset(w, y == on)
		if y == on {
			l.Glyph(themes.Focus, d.Theme.Glyphs.Cursor, 1)
		}
		if l.To(1); left != nil {
			left(l)
		}
		if y == on {
			// The light of the cursor ends before the chart, whose colours have a meaning.
			l.To(d.gutter - 1).On(themes.OnPlain)
		}
		out[y] = d.chart.Row(l.To(d.gutter), y).String()
	}
	return out
}

// heads are the titles of the fields and the words of the axis, and below them when the
// window that sets the pace begins anew.
// A small screen has no row for when windows begin.
func (d *chartBlock) heads() {
	d.chart.Words(0)
	bucket, used := "BUCKET", "USED"
	if d.Size == page.S { // the title of the block stands there
		bucket, used = "", ""
	}
	d.left[0] = func(l *part.Line) {
		l.Put(themes.Dim, bucket)
		at := d.fieldsFrom()
		for _, h := range []struct {
			title string
			end   int
		}{{used, bucketUsed}, {"RIOT SAYS", bucketFigures - bucketReset}, {"RESETS", bucketFigures}} {
			l.To(at+h.end-len(h.title)).Put(themes.Dim, h.title)
		}
		if d.Size == page.L {
			for _, title := range wideTitles {
				l.Field(part.As(themes.Dim, title), wideField, part.Number)
			}
		}
	}
	if d.Size == page.S {
		return
	}
	for _, w := range d.t.Windows {
		if w.Begin.After(d.Now) {
			d.chart.Try(1, d.t.At(w.Begin), themes.Dim, d.resetText(w.Begin, d.t.Span))
		}
	}
}

// resetText names an instant at which a window ends, with the tick that stands at it.
// Such as "╵:47" for a window of seconds and "╵12:34" for one of minutes, or where not each has room: those that had
// would all say the same second.
func (d *chartBlock) resetText(at time.Time, window time.Duration) string {
	layout := human.Either(window < time.Minute && window >= 5*d.chart.Step, ":05", "15:04")
	return d.Theme.Glyphs.Above + at.In(d.Now.Location()).Format(layout)
}

// fieldsFrom is where the figures begin, behind the names.
func (d *chartBlock) fieldsFrom() int {
	return human.Either(page.OneHost(d.View), 1+nameWidth(d.View), 1+bucketHost+nameWidth(d.View))
}

// fields writes what is known of a bucket by now.
// One row as it is written:
//
//	match      1420/2000   10 s   = 1420   0:04
//
// A bucket without a limit (nothing was answered yet, or Riot names none) has its state instead of
// figures.
func (d *chartBlock) fields(l *part.Line, b engine.BucketRow, name themes.Token) {
	if !page.OneHost(d.View) {
		l.Field(part.As(themes.Dim, b.Host), bucketHost-1, part.Words).Gap(1)
	}
	word, _ := block.BucketState(d.View, b)
	sign := d.Theme.State(word)
	if b.Limit <= 0 {
		end := d.fieldsFrom() + bucketFigures - bucketReset
		l.Field(part.As(name, block.ScopeName(b)), 1+nameWidth(d.View)+bucketUsed, part.Words).
			Cells(part.As(sign.Token, sign.Glyph+" "+word)).To(end)
		l.Field(part.As(sign.Token, d.In(engine.Latest(b.Blocked, b.NextFree))), bucketReset, part.Number)
		return
	}
	l.Field(part.As(name, block.ScopeName(b)), nameWidth(d.View), part.Words)
	l.Field(part.As(themes.Figure, block.TallCount(int64(b.Counted(d.Now)))), bucketUsed, part.Number)
	l.Field(part.As(themes.Dim, "/"+block.BriefCount(b.Limit)), bucketLimit, part.Words)
	l.Field(part.As(themes.Dim, human.Window(b.Window)), bucketWindow, part.Number)
	l.Field(d.riotSays(b), bucketRiot, part.Number)
	// What ends later than the window stands in its place: an operator's freeze or cap, then a
	// 429's hold.
	reset := part.Plain(d.In(b.Reset))
	switch {
	case (b.Frozen() || b.Cap > 0) && !b.Thaws.IsZero():
		reset = part.As(sign.Token, d.In(b.Thaws))
	case b.Frozen():
		reset = part.As(sign.Token, sign.Glyph)
	case b.Blocked.After(d.Now):
		reset = part.As(sign.Token, d.In(b.Blocked))
	case reset.Text == part.None:
		reset.Token = themes.Dim
	}
	l.Field(reset, bucketReset, part.Number)
	if d.Size == page.L {
		for _, text := range []string{page.Some(b.Waiting), page.Some(b.InFlight)} {
			l.Field(part.As(themes.Dim, text), wideField, part.Number)
		}
	}
}

// riotSays is the server's count beside ours: the same, or by how much it is above. Ours is
// higher by the calls that are under way.
// One of a window that is over, or a minute old, is not told.
func (d *chartBlock) riotSays(b engine.BucketRow) part.Cell {
	switch {
	case b.Server < 0, !b.ServerAt.IsZero() && d.Now.Sub(b.ServerAt) >= min(b.Window, time.Minute):
		return part.As(themes.Dim, part.None)
	case b.Foreign > 0:
		return part.As(themes.Warn, block.TallCount(int64(b.Server))+" +"+strconv.Itoa(b.Foreign))
	case b.Server == b.Counted(d.Now):
		return part.As(themes.OK, "= "+block.TallCount(int64(b.Server)))
	}
	return part.Plain(block.TallCount(int64(b.Server)))
}

// other draws a bucket in one row: its course, and what there is to say of what comes.
// In one row there is no room for a scale: how high it stands against its own limit is what is
// drawn.
func (d *chartBlock) other(y int, b engine.BucketRow) {
	d.left[y] = func(l *part.Line) { d.fields(l, b, themes.Text) }
	s := d.t.SawOf(d.View, b, d.Calls)
	d.t.DrawSaw(d.View, d.chart, y, 1, s)
	says := d.note(b)
	if says.Text == "" {
		d.frees(y, b, s)
		return
	}
	x := d.t.Back + 2
	text, room := safe.Text(says.Text), max(d.t.Width-x, 0)
	if !b.Frozen() && b.Cap == 0 { // its end stands before the chart; of an order it does not
		text = cmp.Or(part.Clause(text, room), part.Clause(strings.TrimPrefix(text, "next "), room), text)
	}
	d.chart.Put(y, x, says.Token, safe.CutEnd(text, room, d.Theme.Glyphs.Ellipsis))
}

// note is what is unusual about a bucket; "" = nothing is.
// The more lasting comes first: no limit at all, a hold, any other state than OPEN.
func (d *chartBlock) note(b engine.BucketRow) part.Cell {
	word, more := block.BucketState(d.View, b)
	sign, text := d.Theme.State(word), strings.TrimSpace(word+" "+more)
	switch {
	case b.Limit <= 0: // its word stands before the chart
		return part.As(sign.Token, more)
	case b.BlockedBy != "" && b.Blocked.After(d.Now) && !b.Frozen():
		return part.As(sign.Token, sign.Glyph+" "+more)
	case word != "OPEN":
		return part.As(sign.Token, sign.Glyph+" "+text)
	}
	return part.Cell{}
}

// frees writes when a bucket that is full has room again, where nothing says what is planned in it. Of one with room
// that would say that its calls wait for it.
// Nothing is written where calls are planned right after now: their bars would be written over.
func (d *chartBlock) frees(y int, b engine.BucketRow, s charts.Saw) {
	x := d.t.At(b.Reset)
	if !b.Reset.After(d.Now) || b.Counted(d.Now) < b.Most() || x <= d.t.Back || s.Values[d.t.Back] > 0 {
		return
	}
	text := d.resetText(b.Reset, b.Window) + " free" + human.If(b.Waiting > 0, ", "+page.Count(b.Waiting)+" wait")
	if x+safe.Width(text) < d.t.Width {
		d.chart.Try(y, x, themes.Dim, text)
	}
}

// lane draws the calls of an account.
// All lanes have one scale, which is that of the calls of all: an account that gets half of them
// stands half as high.
// Before it stand its name, how many calls are left, and when they will be made.
func (d *chartBlock) lane(y int, a *charts.AccountLane, high float64) {
	d.t.DrawLane(d.View, d.chart, y, 1, a, high)
	d.left[y] = func(l *part.Line) {
		end := d.fieldsFrom() + bucketFigures
		left, ends := "", ""
		if a.Left > 0 {
			left = page.Count(a.Left) + " to go"
		}
		if !a.Over && !a.Done.IsZero() {
			ends = "~" + a.Done.In(d.Now.Location()).Format("15:04:05")
		}
		l.Field(part.Plain(a.Name), charts.WideName+2, part.Words)
		l.Field(part.As(themes.Dim, left), end-bucketReset-4-l.At(), part.Number)
		l.Field(part.Plain(ends), end-l.At(), part.Number)
	}
}

// tail is how far the axis goes, and since when it is known; or how many buckets there
// is no room for.
// Past that nobody recorded is empty on the chart, which is not the same as a time without calls.
func (p *Screen) tail(v *page.View, t *charts.Timetable, hidden int) string {
	if hidden > 0 {
		return page.Count(hidden) + " more" + v.Keyed(": {next pane} goes there")
	}
	switch seen := v.Past.Since(t.Begin()); {
	case len(seen) == 0:
		return ""
	case seen[0].At.Sub(t.Begin()) > 2*t.Step:
		return "known since " + v.Clock(seen[0].At)
	}
	return roundly(time.Duration(t.Back)*t.Step) + " back, " + roundly(reaches(t.TimeAxis)) + " ahead"
}

// roundly names how long an axis is.
// Minutes and not seconds above two minutes: the axis is as long as the screen is wide, and its
// odd seconds say nothing.
func roundly(d time.Duration) string {
	if d > 2*time.Minute {
		d = d.Round(time.Minute)
	}
	return human.Window(d)
}
