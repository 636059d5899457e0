package page

import (
	"strconv"
	"strings"
	"time"

	"github.com/farsight-console/farsight/engine"
	"github.com/farsight-console/farsight/engine/human"
	"github.com/farsight-console/farsight/themes"
	"github.com/farsight-console/farsight/ui/part"
)

// horizon is how far ahead the schedule looks. Its breaks are labelled and stand
// equally far apart, so that what is near has more room than what is far.
type horizon struct {
	breaks []time.Duration // the first is 0
	names  []string
}

// usualHorizon is ten minutes: every delay of the tables that ship but a call's.
const usualHorizon = 1

var horizons = []horizon{
	{[]time.Duration{0, 10 * time.Second, 20 * time.Second, 30 * time.Second, 45 * time.Second, time.Minute}, []string{"now", "+10 s", "+20 s", "+30 s", "+45 s", "+1 min"}},
	{[]time.Duration{0, 30 * time.Second, time.Minute, 2 * time.Minute, 5 * time.Minute, 10 * time.Minute}, []string{"now", "+30 s", "+1 min", "+2 min", "+5 min", "+10 min"}},
	{[]time.Duration{0, 2 * time.Minute, 5 * time.Minute, 15 * time.Minute, 30 * time.Minute, time.Hour}, []string{"now", "+2 min", "+5 min", "+15 min", "+30 min", "+1 h"}},
	{[]time.Duration{0, 15 * time.Minute, time.Hour, 4 * time.Hour, 12 * time.Hour, 24 * time.Hour}, []string{"now", "+15 min", "+1 h", "+4 h", "+12 h", "+24 h"}},
}

// cell is where an instant so far ahead stands on an axis of w cells; w when it
// lies beyond it.
func (h horizon) cell(ahead time.Duration, w int) int {
	ahead = max(ahead, 0)
	n := len(h.breaks) - 1
	for i := range n {
		if from, to := h.breaks[i], h.breaks[i+1]; ahead < to {
			at := float64(i) + float64(ahead-from)/float64(to-from)
			return min(int(at*float64(w)/float64(n)), w-1)
		}
	}
	return w
}

// ahead is the instant in the middle of a cell.
func (h horizon) ahead(cell, w int) time.Duration { return h.point(float64(cell)+0.5, w) }

// point is the instant so many cells along an axis of w.
func (h horizon) point(cell float64, w int) time.Duration {
	n := len(h.breaks) - 1
	at := cell * float64(n) / float64(w)
	i := min(int(at), n-1)
	from, to := h.breaks[i], h.breaks[i+1]
	return from + time.Duration((at-float64(i))*float64(to-from))
}

// labels are the breaks over an axis of w cells.
func (h horizon) labels(v *View, w int) string {
	l := part.NewLine(v.Theme, w)
	n := len(h.breaks) - 1
	for i, name := range h.names[:n] {
		l.To(i * w / n).Cells(part.As(themes.Dim, name))
	}
	return l.Right(part.As(themes.Dim, h.names[n])).String()
}

// lane is one row of the schedule.
type lane struct {
	name   string
	counts []float64
	jobs   int
	later  int // beyond the axis
}

func (l *lane) add(cell int) {
	l.jobs++
	if cell >= len(l.counts) {
		l.later++
		return
	}
	l.counts[cell]++
}

// Draw implements Page.
func (p *Retries) Draw(v *View) []string {
	p.refresh(v)
	w := v.inner(v.W)
	hist := p.schedule(v, w)
	h := max(v.H-len(hist)-3, 0)
	return v.whole(
		part.Section{Title: "RETRY SCHEDULE", Note: p.scheduleNote(v), Tail: v.keyed("{nearer} {farther} zoom"), Rows: hist, Height: len(hist)},
		p.section(v, w, h, p.empty(v), part.Section{Title: "DUE NEXT", Note: p.note(v)}),
	)
}

func (p *Retries) scheduleNote(v *View) string {
	all := v.TryingAgain()
	if len(all) == 0 {
		return ""
	}
	dot := " " + v.Theme.Glyphs.Sep + " "
	text := count(len(all)) + " waiting" + dot + "next " + v.until(all[0].Due)
	late := 0
	for i := range all {
		if all[i].LateBy != "" {
			late++
		}
	}
	if late > 0 {
		text += dot + count(late) + " late"
		if v.Size != S {
			text += ": the budget is full"
		}
	}
	return text
}

func (p *Retries) empty(v *View) string {
	return or(p.list.empty(v), or(v.waiting(), "nothing waits for a retry"))
}

// laneName is what the names of lanes take.
const laneName = 26

// schedule is the time ahead: a lane for each try number, or for each queue where
// there is room, and below them what the retries take of the limit.
func (p *Retries) schedule(v *View, w int) []string {
	if v.Size == S {
		return p.bins(v, w)
	}
	axis := w - laneName - 8 - 10
	at := horizons[p.zoom]
	lanes := p.lanes(v, at, axis)
	high := 1.0
	for _, l := range lanes {
		for _, n := range l.counts {
			high = max(high, n)
		}
	}
	marks := v.Size == L && len(p.shown) < fewRetries
	rows := []string{v.row(laneName+8) + at.labels(v, axis)}
	for _, l := range lanes {
		rows = append(rows, l.row(v, w, axis, high, marks))
	}
	return append(rows, p.promisedRow(v, at, w, axis))
}

// fewRetries is below how many each is a sign of its own on a wide screen.
const fewRetries = 40

// lanes deals the shown retries out.
func (p *Retries) lanes(v *View, at horizon, axis int) (lanes []*lane) {
	open := func(name string) *lane {
		l := &lane{name: name, counts: make([]float64, axis)}
		lanes = append(lanes, l)
		return l
	}
	var tries [lastTry + 1]*lane
	queues := map[engine.Queue]*lane{}
	if v.Size != L {
		for try := 2; try <= p.lastTry(); try++ {
			tries[try] = open(p.tryName(v, try))
		}
	}
	for _, j := range p.shown {
		l := tries[tryLane(j)]
		if v.Size == L {
			if l = queues[j.Queue]; l == nil {
				l = open(string(j.Queue))
				queues[j.Queue] = l
			}
		}
		l.add(at.cell(j.Due.Sub(p.from(v)), axis))
	}
	if len(lanes) == 0 {
		open("no retry is due")
	}
	return lanes
}

// lastTry is the highest try number that has a lane of its own.
const lastTry = 5

func (p *Retries) lastTry() int {
	last := 2
	for _, j := range p.shown {
		last = max(last, tryLane(j))
	}
	return last
}

// tryLane is the lane of a retry: of the try that comes next.
func tryLane(j *engine.JobRow) int { return clamp(j.Tries+1, 2, lastTry) }

// tryName names a lane with the delays that led to it: 30 s, or 5–30 s where the retries
// in it follow several policies.
func (p *Retries) tryName(v *View, try int) string {
	name := "next try " + strconv.Itoa(try)
	low, high := p.delays(try)
	switch {
	case high == 0:
		return name
	case low == high:
		return name + " (" + human.Seconds(high) + ")"
	}
	return name + " (" + strings.TrimSuffix(human.Seconds(low), " s") + v.Theme.Glyphs.Range + human.Seconds(high) + ")"
}

// delays are the shortest and the longest delay of a lane's retries; 0 = none is known.
func (p *Retries) delays(try int) (low, high time.Duration) {
	for _, j := range p.shown {
		if j.Delay == 0 || tryLane(j) != try {
			continue
		}
		if low == 0 {
			low = j.Delay
		}
		low, high = min(low, j.Delay), max(high, j.Delay)
	}
	return low, high
}

// row draws a lane: its name, how many there are, and when.
func (l *lane) row(v *View, w, axis int, high float64, marks bool) string {
	line := part.NewLine(v.Theme, w).Gap(1).Field(part.Plain(l.name), laneName-1, part.Words)
	line.Field(number(themes.Text, l.jobs), 6, part.Number).Gap(1).Glyph(themes.Hairline, v.Theme.Glyphs.Vertical, 1)
	for _, n := range l.counts {
		switch {
		case n == 0:
			line.Gap(1)
		case !marks:
			line.Spark(themes.Retry, 1, []float64{n}, high)
		case n == 1:
			line.Glyph(themes.Retry, v.Theme.State("RETRYABLE").Glyph, 1)
		default:
			line.Glyph(themes.Retry, strconv.Itoa(min(int(n), 9)), 1)
		}
	}
	if l.later > 0 {
		line.Cells(part.As(themes.Dim, " +"+count(l.later)+" later"))
	}
	return line.String()
}

// promisedRow is how much of the host's limit is taken or promised, window by
// window.
func (p *Retries) promisedRow(v *View, at horizon, w, axis int) string {
	b := p.promised()
	if b == nil {
		return v.row(w, part.As(themes.Dim, " no rate limit is promised to retries"))
	}
	line := part.NewLine(v.Theme, w).Gap(1).Field(part.As(themes.Dim, "promised of "+b.Host+" "+count(b.Limit)+"/"+human.Tight(b.Window)), laneName+6, part.Words)
	line.Glyph(themes.Hairline, v.Theme.Glyphs.Vertical, 1)
	shades := v.Theme.Glyphs.Shade
	for i := range axis {
		share := share(b, p.from(v).Add(at.ahead(i, axis)))
		token := themes.Held
		if share >= 1 {
			token = themes.Warn
		}
		if share <= 0 {
			line.Glyph(themes.Off, v.Theme.Glyphs.BarNone, 1)
			continue
		}
		line.Glyph(token, shades[clamp(int(share*float64(len(shades)-1)), 1, len(shades)-1)], 1)
	}
	return line.Cells(part.As(themes.Dim, " now "+human.Percent(share(b, p.from(v))))).String()
}

// promised is the host that most retries go to; nil when they go to none.
func (p *Retries) promised() *engine.HostForecast {
	var most *engine.HostForecast
	for i := range p.plan.Hosts {
		if h := &p.plan.Hosts[i]; h.Retries > 0 && (most == nil || h.Retries > most.Retries) {
			most = h
		}
	}
	return most
}

// from is where the axis begins. It moves with the plan, and not each second: it only
// gives an impression of what is to come.
func (p *Retries) from(v *View) time.Time {
	if !p.have {
		return v.beat()
	}
	return p.answer.at.Truncate(time.Second)
}

// share is how much of the window at an instant is taken or promised, 0 to 1.
func share(h *engine.HostForecast, at time.Time) float64 {
	if len(h.Windows) > 0 {
		at = latest(at, h.Windows[0].Begin)
	}
	n := between(h.Windows, at, at.Add(1), engine.PlannedWindow.Calls)
	return min(float64(n)/float64(h.Limit), 1)
}

// startsRound is how exactly the start of a late retry is told: it moves with all
// that is ahead of it.
const startsRound = 5 * time.Second

// startsCell says when a retry really starts, and what it waits for then.
func startsCell(v *View, j engine.JobRow) part.Cell {
	switch {
	case j.LateBy == "":
		return part.As(themes.Dim, "on time")
	case j.Starts.IsZero():
		return part.As(themes.Warn, "not yet: "+j.LateBy)
	}
	late := human.Coarse(j.Starts.Sub(latest(j.Due, v.Now))) + " late: " + briefBucket(v, j.LateBy)
	if v.Size != L {
		return part.As(themes.Warn, late)
	}
	return part.As(themes.Warn, v.clock(j.Starts.Truncate(startsRound))+", "+late)
}

func latest(a, b time.Time) time.Time {
	if a.After(b) {
		return a
	}
	return b
}

// dueBins are the columns of the histogram of small screens.
var dueBins = []struct {
	name string
	to   time.Duration
}{
	{"now", 0}, {"30 s", 30 * time.Second}, {"1 min", time.Minute}, {"2 min", 2 * time.Minute}, {"5 min", 5 * time.Minute}, {"later", 1<<63 - 1},
}

// bins counts the retries of each try number by when they are due.
func (p *Retries) bins(v *View, w int) []string {
	const name = 20
	cell := clamp((w-name-4)/len(dueBins), 6, 16)
	head := part.NewLine(v.Theme, w).Gap(1 + name)
	for _, d := range dueBins {
		head.Field(part.As(themes.Dim, d.name), cell, part.Number)
	}
	out := []string{head.String()}
	counts := p.counts(p.from(v))
	for try := 2; try <= p.lastTry(); try++ {
		l := part.NewLine(v.Theme, w).Gap(1).Field(part.Plain(p.tryName(v, try)), name, part.Words)
		for i := range dueBins {
			if n := counts[try][i]; n > 0 {
				l.Field(part.As(themes.Retry, count(n)), cell, part.Number)
				continue
			}
			l.Field(part.As(themes.Off, v.Theme.Glyphs.BarNone), cell, part.Number)
		}
		out = append(out, l.String())
	}
	return append(out, p.promisedBins(v, w, name, cell))
}

// promisedBins is the promised row of the histogram: the fullest window of each
// column.
func (p *Retries) promisedBins(v *View, w, name, cell int) string {
	b := p.promised()
	if b == nil {
		return v.row(w, part.As(themes.Dim, " no rate limit is promised to retries"))
	}
	l := part.NewLine(v.Theme, w).Gap(1).Field(part.As(themes.Dim, "of "+b.Host+" "+count(b.Limit)+"/"+human.Tight(b.Window)), name, part.Words)
	for i, d := range dueBins {
		share := share(b, p.from(v).Add(min(d.to, 10*time.Minute)))
		token := themes.Held
		if share >= 1 {
			token = themes.Warn
		}
		if i == len(dueBins)-1 {
			token = themes.Dim
		}
		l.Field(part.As(token, human.Percent(share)), cell, part.Number)
	}
	return l.String()
}

func (p *Retries) counts(now time.Time) (counts [lastTry + 1][6]int) {
	for _, j := range p.shown {
		left := j.Due.Sub(now)
		for i, d := range dueBins {
			if left <= d.to {
				counts[tryLane(j)][i]++
				break
			}
		}
	}
	return counts
}
