package limits

import (
	"cmp"
	"math"
	"slices"
	"strings"
	"time"

	"github.com/farsight-console/farsight/engine"
	"github.com/farsight-console/farsight/engine/human"
	"github.com/farsight-console/farsight/ui/block"
	"github.com/farsight-console/farsight/ui/charts"
	"github.com/farsight-console/farsight/ui/page"
	"github.com/farsight-console/farsight/ui/part"
)

// sawSteps are what a cell of the limits' axis may stand for: a window of 12 s has six cells
// of 2 s, one of 2 min twelve of 10 s.
var sawSteps = []time.Duration{2 * time.Second, 10 * time.Second, time.Minute, 5 * time.Minute, time.Hour}

// sawStep is the shortest step in which a window has at most twelve cells.
func sawStep(window time.Duration) time.Duration {
	for _, step := range sawSteps {
		if window <= 12*step {
			return step
		}
	}
	// Riot has no window this long; a limit of days would still be drawn.
	return 24 * time.Hour
}

// saw is how full a bucket was and will be: within a fixed window its count only grows, and
// falls to nothing when the window resets.
// The three have a value for each cell of the axis.
type saw struct {
	values []float64 // of its limit, by cell: counted up to now, planned from there on; NaN = not known
	held   []bool    // the bucket was held in the cell, by a 429 or an operator
	hits   []bool    // a 429 of it came in the cell
}

// sawOf is the course of a bucket. Calls are planned for a host as a whole, so the courses of
// its methods end now.
// h is the forecast of a host, nil = there is none; planned are its calls by cell.
func sawOf(a charts.TimeAxis, v *page.View, b engine.BucketRow, p *charts.Past, hit []hitRow, h *engine.HostForecast,
	planned []float64) saw {
	s := saw{values: a.Unknown(), held: make([]bool, a.Width), hits: make([]bool, a.Width)}
	counted(a, &s, b, p)
	for _, row := range hit {
		if cell := a.At(row.call.At); cell >= 0 && cell < a.Back && hits(row.call, b) {
			s.hits[cell] = true
		}
	}
	if b.Limit > 0 && h != nil && !h.Stuck && h.Host == b.Host && (b.Kind == "app" || b.Paces) {
		promised(a, &s, v, b, h, planned)
	}
	return s
}

// counted is what the server counted in each cell. A cell in which a window ends is of the
// window that has the most of it; one that holds several windows shows the fullest.
func counted(a charts.TimeAxis, s *saw, b engine.BucketRow, p *charts.Past) {
	hint, sure := 0, make([]bool, a.Width)
	for _, m := range p.Since(a.Begin()) {
		cell := a.At(m.At)
		if cell >= min(a.Back, a.Width) {
			return
		}
		was, at, ok := charts.SameBucket(m.Limits.Buckets, b, hint)
		if hint = at; !ok {
			continue
		}
		s.held[cell] = s.held[cell] || was.Frozen() || was.Blocked.After(m.At)
		if was.Limit <= 0 {
			continue
		}
		middle := a.Start(cell).Add(a.Step / 2)
		// A count of the window before, read in this cell, gives way to any count of the cell's own
		// window.
		of := was.Window <= a.Step || middle.Before(was.Reset) && !middle.Before(was.Reset.Add(-was.Window))
		used := float64(was.Counted(m.At)) / float64(was.Limit)
		if of && sure[cell] {
			used = max(used, s.values[cell])
		}
		if of || !sure[cell] {
			s.values[cell], sure[cell] = used, of
		}
	}
}

// promised adds planned calls up within each window. Of windows shorter than a cell it is
// what one of them holds on the average.
// It begins with what has been counted of the open window by now, and each reset begins at nothing.
// Values never go above the limit that is really used, a cap included.
func promised(a charts.TimeAxis, s *saw, v *page.View, b engine.BucketRow, h *engine.HostForecast, calls []float64) {
	reset, used, most := b.Reset, float64(b.Counted(v.Now)), float64(b.Most())
	from := a.Back
	if b.Paces && len(h.Windows) > 0 { // the plan is a moment old: its first window says what had been made by then
		reset, used = h.Windows[0].End, float64(h.Windows[0].Made)
		from = page.Clamp(a.At(h.Windows[0].Begin), 0, a.Back)
	}
	if !reset.After(v.Now) {
		reset, used = v.Now.Add(b.Window), 0
	}
	for i := from; i < a.Width; i++ {
		next := 0.0
		// No call is planned where the forecast does not reach.
		if !math.IsNaN(calls[i]) {
			next = calls[i]
		}
		value := next * float64(b.Window) / float64(a.Step)
		if b.Window >= a.Step {
			for middle := a.Start(i).Add(a.Step / 2); !middle.Before(reset); {
				reset, used = reset.Add(b.Window), 0
			}
			used += next
			value = used
		}
		if i >= a.Back && value > 0 {
			s.values[i] = min(value/most, 1)
		}
	}
}

// hits reports whether a 429 was of a bucket: its kind is in the class of the call.
func hits(c *engine.CallRow, b engine.BucketRow) bool {
	kind := hitKind(c)
	return c.Host == b.Host && kind == b.Kind && (kind == "app" || c.Method == b.Method)
}

// hitKind is whose limit a 429 was of: app, method, service.
// The class of a 429's call is "429." with that word behind it.
func hitKind(c *engine.CallRow) string { return strings.TrimPrefix(string(c.Class), "429.") }

// bucketsBy are all that limits calls: first the window that sets the pace, then what is
// down, the other windows of its host, and those of other hosts.
func bucketsBy(v *page.View, first engine.BucketRow) []engine.BucketRow {
	all := page.LimitsOf(v)
	rank := func(b engine.BucketRow) int {
		switch {
		case b.Limit > 0 && bucketKey(b) == bucketKey(first):
			return 0
		case b.Kind == page.KindBreaker:
			return 1
		case b.Host == first.Host:
			return 2
		}
		return 3
	}
	slices.SortStableFunc(all, func(x, y engine.BucketRow) int { return cmp.Compare(rank(x), rank(y)) })
	return all
}

// bucketKey is the identity of a bucket in the list. One method may have several windows.
func bucketKey(b engine.BucketRow) string {
	return b.Host + "|" + b.Method + "|" + b.Kind + "|" + b.Window.String()
}

// callShare is who gets some of the next calls.
type callShare struct {
	name  string
	calls int
	retry bool
}

// nextCalls says who gets the calls to come of a host: its syncs, the most first, then what
// belongs to none; how many of all are retries; and how many there are.
func nextCalls(t *charts.Timetable) (out []callShare, all int) {
	for _, l := range t.Lanes {
		if l.Left > 0 {
			out, all = append(out, callShare{name: l.Name, calls: l.Left}), all+l.Left
		}
	}
	slices.SortStableFunc(out, func(x, y callShare) int { return cmp.Compare(y.calls, x.calls) })
	// Calls that no sync made: ranks, summoners, single matches that were asked for.
	if rest := t.Left - all; rest > 0 {
		out, all = append(out, callShare{name: "others", calls: rest}), t.Left
	}
	if t.Plan != nil && t.Plan.Retries > 0 {
		out = append(out, callShare{name: "of these, retries", calls: t.Plan.Retries, retry: true})
	}
	return out, all
}

// resetRow is a window that ends next, and what that brings.
type resetRow struct {
	at     time.Time
	name   string
	back   int // calls that may be made again
	goes   int // calls in line that go then; 0 = there is room as it is
	frozen bool
}

// nextResets are the windows that have something in them, the first to end first.
// A window without a call in it has nothing to give back.
func nextResets(v *page.View, t *charts.Timetable) (out []resetRow) {
	hosts := page.HostsOf(v)
	for _, b := range v.Limits.Buckets {
		n := b.Counted(v.Now)
		if n == 0 || b.Limit <= 0 || !b.Reset.After(v.Now) {
			continue
		}
		row := resetRow{at: b.Reset, name: block.ScopeName(b) + " " + human.Window(b.Window), back: n,
			frozen: b.Frozen()}
		if len(hosts) > 1 {
			row.name = b.Host + " " + row.name
		}
		if b.Paces && b.Host == t.Host && t.Left > 0 {
			// With the plan the whole limit is free again: the calls of the old window are over.
			row.back, row.goes = b.Most(), min(t.Left, b.Most())
		}
		out = append(out, row)
	}
	slices.SortStableFunc(out, func(x, y resetRow) int { return x.at.Compare(y.at) })
	return out
}

// hitRow is a 429: what the server had counted beside us.
type hitRow struct {
	call  *engine.CallRow
	worst engine.WindowCount // the window in which the counts differ most; Limit 0 = none was told
}

// lastHits are the 429s of the flight recorder from an instant on, and so many whenever they
// came, the newest first.
func lastHits(calls []engine.CallRow, from time.Time, n int) (out []hitRow) {
	for i := len(calls) - 1; i >= 0; i-- {
		c := &calls[i]
		if len(out) >= n && c.At.Before(from) {
			break
		}
		if c.Status != 429 {
			continue
		}
		row := hitRow{call: c}
		for _, w := range c.Counts {
			if row.worst.Limit == 0 || w.Drift() > row.worst.Drift() {
				row.worst = w
			}
		}
		out = append(out, row)
	}
	return out
}

// reaches is how far ahead the axis goes.
func reaches(a charts.TimeAxis) time.Duration { return time.Duration(a.Width-a.Back) * a.Step }

// cellsBack is how many cells of the axis are before now: about a third of the chart.
var cellsBack = map[page.Size]int{page.S: 15, page.M: 30, page.L: 45}

// axisOf is the axis of the limits in a block whose rows have w cells, of which the
// fields take the first ones.
// One cell stays free at the right end. Charts are at least two cells wide, for now and what comes.
func axisOf(v *page.View, window time.Duration, w, gutter int) charts.TimeAxis {
	now, _ := charts.ChartNow(v)
	width := max(w-gutter-1, 2)
	return charts.TimeAxis{Axis: part.NewAxis(now, sawStep(window), min(cellsBack[v.Size], width/2), width)}
}
