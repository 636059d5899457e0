package charts

import (
	"cmp"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/charmbracelet/x/ansi"

	"github.com/farsight-console/farsight/engine"
	"github.com/farsight-console/farsight/engine/human"
	"github.com/farsight-console/farsight/engine/safe"
	"github.com/farsight-console/farsight/themes"
	"github.com/farsight-console/farsight/ui/page"
	"github.com/farsight-console/farsight/ui/part"
)

// scale is the time that a screen's timetable covers: the smallest shows 48 s back and two and a
// half minutes ahead, the widest a minute back and five ahead. It is fixed for each size and does
// not follow what is going on: an axis that stretched would make calls of the same pace look faster
// and slower.
type scale struct {
	step   time.Duration
	back   int // cells
	gutter int // cells of the names before the chart
	high   int // rows of the chart of calls
}

// scales are those of the width classes. Steps of 2, 2.4 and 3 s put a window of two minutes on 60,
// 50 and 40 whole cells.
var scales = map[page.Size]scale{
	page.S: {3 * time.Second, 16, 12, 4},
	page.M: {2400 * time.Millisecond, 25, 15, 5},
	page.L: {2 * time.Second, 30, 15, 8},
}

// AxisOf is the axis of the timetable in a block whose rows have w cells. A wider screen shows more
// of what is to come, and not more of what was.
func AxisOf(v *page.View, w int) TimeAxis {
	s := scales[v.Size]
	now, _ := ChartNow(v)
	return TimeAxis{part.NewAxis(now, s.step, s.back, max(w-s.gutter-2, s.back+1))}
}

// TimetableRows are how many rows the timetable takes with so many lanes, without its title: the
// chart of calls, the sums of the windows, the lanes, and the row of the retries.
func TimetableRows(v *page.View, lanes int) int {
	n := scales[v.Size].high + 1 + lanes + 1
	if v.Size != page.S {
		n += 2 // the words of the axis, and an empty row
	}
	return n
}

// Rows draws the timetable with so many lanes, below the words of the axis. picked is the lane
// under the cursor; below 0 = keys do not move in it. Lanes that are free go to accounts that do
// nothing now, with the reason.
func (t *Timetable) Rows(v *page.View, w, lanes, picked int) []string {
	s := scales[v.Size]
	gap := human.Either(v.Size == page.S, 0, 1)
	calls := 1
	sums := calls + s.high
	first := sums + 1 + gap
	c := part.NewChart(v.Theme, t.Axis, first+lanes+1)
	c.Words(0)
	high := t.High()
	t.drawCalls(v, c, calls, s.high, high)
	t.DrawSums(c, sums)
	shown := t.Lanes[:min(len(t.Lanes), lanes)]
	shown = append(slices.Clip(shown), t.rest[:min(len(t.rest), lanes-len(shown))]...)
	tall := t.Tall(lanes)
	of := func(lane int) int { return first + (lane+1)*tall - 1 }
	for i := range shown {
		t.DrawLane(v, c, of(i), tall, &shown[i], high)
	}
	t.drawTroubles(v, c, first+lanes)
	c.Seam(calls, s.high)
	c.Seam(first, lanes+1)

	labels := make([]part.Cell, first+lanes+1)
	marks := make([]string, len(labels))
	labels[calls], labels[calls+1] = part.Plain("calls per"), part.As(themes.Dim, CellText(t.Step))
	labels[sums], labels[first+lanes] = part.Plain("per window"), part.Plain("retries")
	if v.Size == page.S {
		labels[calls], labels[calls+1] = part.Plain("calls"), part.As(themes.Dim, "per "+CellText(t.Step))
	} else {
		t.marks(marks[calls:sums], high)
	}
	for i := range shown {
		labels[of(i)] = part.Plain(shown[i].Name)
	}
	// The last lane says how many accounts have none.
	if n := len(t.Lanes) - lanes; n > 0 && lanes > 0 {
		text := "+" + page.Count(n) + " more"
		c.Try(first+lanes-1, t.Width-len(text), themes.Dim, text)
	}
	rows := make([]string, len(labels))
	l := part.NewLine(v.Theme, w)
	for y := range rows {
		on := picked >= 0 && y == of(picked)
		l.Reset(w, on)
		if on {
			l.Glyph(themes.Focus, v.Theme.Glyphs.Cursor, 1)
		}
		l.To(1).Field(labels[y], s.gutter-1, part.Words)
		// Beside the chart's scale a label has less room, so its row is written anew.
		if marks[y] != "" {
			l.To(1)
			l.Reset(w, false)
			wide := max(len(marks[y]), 4)
			l.Gap(1).Field(labels[y], s.gutter-1-wide, part.Words).Field(part.As(themes.Dim, marks[y]), wide, part.Number)
		}
		if on {
			l.On(themes.OnPlain)
		}
		rows[y] = c.Row(l.To(1+s.gutter), y).String()
	}
	return rows
}

// Tall is how many of so many rows each lane has: few accounts share the room of many.
func (t *Timetable) Tall(rows int) int {
	return page.Clamp(rows/max(len(t.Lanes)+len(t.rest), 1), 1, tallestLane)
}

// tallestLane is how high the chart of an account grows.
const tallestLane = 8

// CellText is the time that a cell stands for: 2.4 s.
func CellText(d time.Duration) string {
	return strconv.FormatFloat(d.Seconds(), 'g', 3, 64) + " s"
}

// marks are the numbers of the scale beside the rows of the chart, in steps that people
// count in.
func (t *Timetable) marks(rows []string, high float64) {
	if t.even() <= 0 {
		return
	}
	_, step, apart := EvenScale(high, len(rows))
	for n, y := 0, len(rows)-1; y >= 0; n, y = n+1, y-apart {
		rows[y] = page.Count(n * int(step))
	}
}

// drawCalls draws the calls by cell: those that were made, and the dots of those that are planned.
// The line behind the plan is the even pace: as many calls for each cell as the limit allows over
// its window.
func (t *Timetable) drawCalls(v *page.View, c *part.Chart, y, h int, high float64) {
	values := make([]float64, t.Width)
	end := t.Back
	for i := range values {
		values[i] = t.made[i]
		// Left of now stands what was made, from now on what is planned.
		if i < t.Back {
			continue
		}
		if values[i] = t.Planned[i]; values[i] > 0 {
			end = i + 1
		}
	}
	c.Area(y, h, part.Series{Values: values, Top: high, Odd: t.Odd()})
	if even := t.even(); even > 0 && t.Plan != nil && !t.Plan.Stuck {
		row := y + h - 1 - int(even/high*float64(h))
		c.Run(row, end+1, t.Width, themes.Tick, v.Theme.Glyphs.Ground)
	}
}

// Odd tells neighbouring windows apart; a cell belongs to the window that has its middle. A window
// is odd by its number since 1970 and not by its place on the screen, so that its shade stays with
// it while it moves to the left.
func (t *Timetable) Odd() func(cell int) bool {
	cells := make([]bool, t.Width)
	for _, w := range t.Windows {
		// Such windows cannot be told apart by their cells.
		if t.Span < t.Step {
			break // a cell holds several
		}
		odd := w.end.Add(t.Span/2).UnixNano()/int64(t.Span)%2 == 1
		for i := max(t.At(w.Begin.Add(t.Step/2)), 0); i < t.Width && t.Start(i).Add(t.Step/2).Before(w.end); i++ {
			cells[i] = odd
		}
	}
	return func(cell int) bool { return cells[cell] }
}

// DrawSums writes under each window how many calls it has. Under the window that is open both
// numbers stand, "61+39": the calls made and those planned. A window that is narrower than its
// number has none, and of those that are free only the first says so.
func (t *Timetable) DrawSums(c *part.Chart, y int) {
	free := human.If(!t.HostListing, "free") // what is not listed yet comes there
	// The open window first: a number beside it gives way.
	for _, w := range slices.SortedStableFunc(slices.Values(t.Windows), func(a, b stripe) int { return page.Btoi(b.now) - page.Btoi(a.now) }) {
		from, to := max(t.At(w.Begin), 0), min(t.At(w.end), t.Width)
		text, token := page.Count(w.made), themes.Dim
		switch {
		case w.now && w.planned > 0:
			more := "+" + page.Count(w.planned)
			x := (from+to)/2 - (len(text)+len(more))/2
			if to-from >= len(text)+len(more) && c.Try(y, x, themes.Figure, text) {
				c.Put(y, x+len(text), themes.Run, more)
				continue
			}
			token = themes.Figure
		case w.now:
			token = themes.Figure
		case w.hit:
			token = themes.Warn
		case !w.Begin.Before(t.Now) && w.planned == 0:
			text, free = free, ""
		case w.planned > 0:
			text, token = page.Count(w.planned), themes.Planned(themes.Run)
		}
		if text != "" && to-from > len(text) {
			c.Try(y, (from+to)/2-len(text)/2, token, text)
		}
	}
}

// DrawLane draws the calls of an account on the scale of all calls on rows that end with y, and when it is done. The
// time stands where it is on the axis; one beyond the axis stands at the right end:
//
//	Night Heron   ▂▃▃▂▃▃·········  ~12:41 ›
func (t *Timetable) DrawLane(v *page.View, c *part.Chart, y, tall int, l *AccountLane, high float64) {
	values := make([]float64, t.Width)
	copy(values[:t.Back], l.made)
	if l.planned != nil {
		copy(values[t.Back:], l.planned[t.Back:])
	}
	// Nothing is planned behind its end: what the plan deals to its cells belongs to others.
	for i := max(t.At(l.Done)+1, t.Back); !l.Done.IsZero() && i < t.Width; i++ {
		values[i] = 0
	}
	c.Area(y-tall+1, tall, part.Series{Values: values, Top: high})
	matches := ""
	if l.matches > 0 {
		matches = human.Either(v.Size == page.S, page.Count(l.matches), human.Counted(l.matches, "match", "matches"))
	}
	later := " ~" + engine.When(l.Done, v.Now) + " " + v.Theme.Glyphs.Crumb // a gap to the dots
	switch at := t.At(l.Done); {
	case l.Done.IsZero():
		if text := l.why; text != "" {
			c.Try(y, t.Back+2, themes.Dim, text)
		}
	case l.Over && at >= 0:
		c.Sign(y, at, themes.OK, v.Theme.Glyphs.Mark)
		c.Try(y, at+2, themes.Text, matches)
	case at >= t.Width:
		c.Put(y, t.Width-safe.Width(later), themes.Dim, later)
	case at >= 0:
		text := l.Done.In(v.Now.Location()).Format("15:04:05")
		if v.Size != page.S {
			text += " done" + human.If(matches != "", ",")
		}
		text += human.If(matches != "", " "+matches)
		at = max(at, t.Back)
		c.Sign(y, at, themes.OK, v.Theme.Glyphs.Mark)
		// Too near to the right end: it stands on the left, over its own dots.
		if !c.Try(y, at+2, themes.Text, text) {
			c.Put(y, at-2-len(text), themes.Text, " "+text+" ")
		}
	}
}

// drawTroubles marks in one row the calls that went wrong, which stand left of now, and right of it
// the retries to come and the next scheduled run.
func (t *Timetable) drawTroubles(v *page.View, c *part.Chart, y int) {
	for i, bad := range t.failed[:t.Back] {
		if bad {
			c.Sign(y, i, themes.Err, v.Theme.State("FAILED").Glyph)
		}
	}
	last := 0
	for _, at := range t.due {
		if cell := max(t.At(at), t.Back); cell < t.Width {
			last = max(last, cell-t.Back)
			c.Sign(y, cell, themes.Retry, v.Theme.State("RETRYABLE").Glyph)
		}
	}
	if len(t.Runs) > 0 {
		next, sign := t.Runs[0], v.Theme.State("SCHEDULED").Glyph
		text := sign + " " + next.Name + " " + engine.When(next.At, v.Now)
		if cell := t.At(next.At); cell < t.Width {
			c.Sign(y, cell, themes.Held, sign)
			if !c.Try(y, cell+2, themes.Dim, next.Name) {
				c.Try(y, cell-1-safe.Width(next.Name), themes.Dim, next.Name)
			}
		} else {
			text += " " + v.Theme.Glyphs.Crumb
			c.Try(y, t.Width-safe.Width(text), themes.Dim, text)
		}
	}
	switch {
	case len(t.due) > 0 || t.Left > 0:
	case len(v.Syncing()) > 0:
		c.Try(1, t.Back+3, themes.Dim, "nothing is planned yet")
	default:
		c.Try(1, t.Back+3, themes.Dim, v.Start("nothing is planned", "{sync} starts a sync"))
	}
	// Texts are tried at the same place first, so that they do not move with each retry.
	const usual = 7 // cells from now: most retries are due before
	for _, text := range t.dueTexts(v) {
		text += " " // or it reads on into the name of the next scheduled run
		if c.Try(y, t.Back+usual, themes.Dim, text) || c.Try(y, t.Back+last+3, themes.Dim, text) {
			return
		}
	}
}

// dueTexts say how many retries are due and whether there is room for them, in ever fewer words:
// the first text that fits is drawn. "3 due in 12s, every one in a window with room" tells an
// operator that nothing has to be done about them.
func (t *Timetable) dueTexts(v *page.View) []string {
	n := len(t.due)
	switch {
	case n == 0 && t.stuck > 0 && t.Plan != nil && t.Plan.Stuck:
		return []string{page.Count(t.stuck) + " wait: " + page.BriefWhy(v, t.Plan.Why)}
	case n == 0:
		return nil
	}
	text := page.Count(n) + " due in " + human.Age(t.due[n-1].Sub(v.Now))
	switch {
	case v.Size == page.S:
	case t.late > 0:
		late := text + ", " + page.Count(t.late) + " late"
		return []string{late + ": no room before", late, text}
	case n == 1:
		return []string{text + ", in a window with room", text}
	case t.Plan != nil:
		return []string{text + ", every one in a window with room", text}
	}
	return []string{text}
}

// Note says of which host the timetable is, and since when it is known. A console that has been
// open for a shorter time than the axis reaches back says so: an empty past would look like a
// pause.
func (t *Timetable) Note(v *page.View) string {
	back, ahead := time.Duration(t.Back)*t.Step, time.Duration(t.Width-t.Back)*t.Step
	reach := human.Window(back.Round(time.Second)) + " back, " + human.Window(ahead.Round(time.Minute)) + " ahead"
	if !t.since.IsZero() {
		reach = "known since " + t.since.In(v.Now.Location()).Format("15:04:05")
	}
	return page.Joined(v, cmp.Or(t.Host, "no limit is known yet"), SyncsText(v), reach)
}

// SyncsText counts the open runs by how they stand: 2 SYNCING, 1 QUEUED.
func SyncsText(v *page.View) string {
	counts := map[string]int{}
	var words, out []string
	for _, a := range v.Syncing() {
		word := v.SyncWord(a)
		if counts[word]++; counts[word] == 1 {
			words = append(words, word)
		}
	}
	for _, word := range words {
		out = append(out, page.Count(counts[word])+" "+word)
	}
	return strings.Join(out, ", ")
}

// Tail is how many calls are planned and when the last is made. Its numbers are those of the
// forecast; see [engine.HostForecast].
func (t *Timetable) Tail(v *page.View) string {
	switch {
	case t.Plan == nil:
		return ""
	case t.Left == 0:
		return "nothing waits"
	case t.Plan.Stuck:
		return human.Counted(t.Left, "call to come: ", "calls to come: ") + t.Plan.Why // timelines that stand in no line yet among them
	}
	text := human.Counted(t.Left, "call", "calls") + human.If(!page.OneHost(v), " to "+t.Plan.Host) + " planned"
	if t.HostEnds.After(v.Now) {
		text += " " + v.Theme.Glyphs.Sep + " done " + ending(t.HostListing) + v.Clock(t.HostEnds) + t.guess(v, ", ")
	}
	return text
}

// Leaves says when the last call of all goes: at the earliest where nobody can guess.
func (t *Timetable) Leaves(v *page.View) string {
	if page.OneHost(v) && !t.about.IsZero() {
		return t.guess(v, "")
	}
	return t.Ending() + v.Clock(t.Ends)
}

// guess says behind a few words when all of the host is done, as far as the lists that are read tell; "" = they tell nothing.
func (t *Timetable) guess(v *page.View, words string) string {
	if t.about.IsZero() {
		return ""
	}
	return words + "about " + strings.TrimSuffix(v.Clock(t.about.Add(time.Minute-1).Truncate(time.Minute)), ":00")
}

// Ending stands before the end of all: "~", or "after " while some lists are still being read, of whose calls nobody knows.
func (t *Timetable) Ending() string { return ending(t.listing) }

func ending(listing bool) string { return human.Either(listing, "after ", "~") }

// Overlay lays a title and what it says over the left end of a painted row, whose own cells begin behind
// them, with no word that the title would cut.
func Overlay(v *page.View, title, note, row string, w int) string {
	l := part.NewLine(v.Theme, w).Gap(1).Put(v.Theme.Title(), title).Gap(1)
	if note != "" {
		l.Put(themes.Dim, note).Gap(1)
	}
	l.Gap(1)
	at, cells := l.At(), []rune(ansi.Strip(row))
	for from := at; from < len(cells) && from >= 2 && (cells[from-1] != ' ' || cells[from-2] != ' '); from++ {
		at = from + 1
	}
	return ansi.Cut(l.To(at).String(), 0, at) + ansi.Cut(row, at, w)
}
