package block

import (
	"cmp"
	"maps"
	"math"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/farsight-console/farsight/engine"
	"github.com/farsight-console/farsight/engine/human"
	"github.com/farsight-console/farsight/themes"
	"github.com/farsight-console/farsight/ui/charts"
	"github.com/farsight-console/farsight/ui/page"
)

// Total is one of the six figures of the overview. "" in any of its texts = there is nothing to
// say.
type Total struct {
	Name  string // CALLS; short is what a small screen has behind the number
	Short string
	Value string
	Beat  string // of the last minute: "+312/min"
	Note  string
	Token themes.Token // Run takes the ramp
	Spark []float64    // by sparkEvery, the newest last
	High  float64      // the top of its scale; 0 = its highest
}

// sparkEvery is the time that a cell of a figure's course stands for; the engine counts calls in
// the same steps.
const sparkEvery = 5 * time.Second

// Totals are the six figures. dead are jobs that gave up, which are not among those of the view; n
// is how many cells their courses have.
func Totals(v *page.View, p *charts.Past, t *charts.Timetable, dead []*engine.JobRow, n int) []Total {
	e := &v.Engine
	waiting := charts.InLines(v.Queues)
	return []Total{
		{
			Name: "CALLS", Short: callsUnit(v), Value: page.Count(e.Calls()), Beat: callsBeat(v),
			Note: allowed(v, t), Token: themes.Run, Spark: callsCourse(v, n), High: evenOf(v, t, sparkEvery),
		},
		{
			Name: "STORED", Short: "stored", Value: TallCount(e.Stored), Beat: change(p, v, storedBy),
			Note: found(v), Token: themes.Run, Spark: above(course(p, v, n, storedBy)),
		},
		{
			Name: "IN LINE", Short: "in line", Value: page.Count(waiting), Beat: change(p, v, lined),
			Note: empties(v, t, waiting), Token: themes.Run, Spark: course(p, v, n, lined),
		},
		{Name: "RETRYING", Short: "retry", Value: page.Count(e.Retrying), Beat: nextRetry(v), Token: themes.Retry, Spark: course(p, v, n, retrying)},
		{
			Name: "GAVE UP", Short: "gave up", Value: human.Count(e.Failed),
			Note: gaveUpOf(v, dead), Token: themes.Err, Spark: rises(course(p, v, n, failedBy)), High: 1.6,
		},
		{
			Name: "429s", Short: "429s", Value: human.Count(e.Throttled),
			Note: Unexpected(v), Token: themes.Warn, Spark: rises(course(p, v, n, throttles)), High: 1.6,
		},
	}
}

// What the courses show of a moment, one function for each figure.
func storedBy(m *engine.Moment) float64  { return float64(m.Engine.Stored) }
func lined(m *engine.Moment) float64     { return float64(charts.InLines(m.Queues)) }
func retrying(m *engine.Moment) float64  { return float64(m.Engine.Retrying) }
func failedBy(m *engine.Moment) float64  { return float64(m.Engine.Failed) }
func throttles(m *engine.Moment) float64 { return float64(m.Engine.Throttled) }

// course is a figure at the ends of the last n cells. It begins with the first moment that is
// known, and is shorter than n then. Cells begin at full five seconds, so that a value stays in its
// cell until the cell has gone.
func course(p *charts.Past, v *page.View, n int, of func(*engine.Moment) float64) (out []float64) {
	now, _ := charts.ChartNow(v)
	end := now.Truncate(sparkEvery).Add(sparkEvery)
	for i := n - 1; i >= 0; i-- {
		at := end.Add(-time.Duration(i) * sparkEvery)
		if m := p.MomentAt(at); m != nil && at.Sub(m.At) <= sparkEvery+time.Second {
			out = append(out, of(m))
		}
	}
	return out
}

// rises are by how much a figure has grown from cell to cell. A counter that begins again with a
// restarted engine falls: that is no rise, and not drawn as one.
func rises(course []float64) []float64 {
	out := make([]float64, max(len(course)-1, 0))
	for i := range out {
		out[i] = max(course[i+1]-course[i], 0)
	}
	return out
}

// above is a figure over its first value. Of a count such as 12,406 the last minute is less than a
// hair: only what came since can be seen.
func above(course []float64) []float64 {
	out := make([]float64, len(course))
	for i := range out {
		out[i] = course[i] - course[0]
	}
	return out
}

// tall is the first count that is too wide for the overview's tall digits.
const tall = 10_000

// TallCount is a count in at most three digits from tall on: 12.4k. It is rounded down, so that it
// never says more than there is.
func TallCount(n int64) string {
	for _, unit := range []struct {
		of   float64
		name string
	}{{1e9, "G"}, {1e6, "M"}, {1e3, "k"}} {
		if n >= tall && float64(n) >= unit.of {
			return strconv.FormatFloat(math.Floor(float64(n)/unit.of*10)/10, 'g', 3, 64) + unit.name
		}
	}
	return human.Count(n)
}

// change is by how much a figure has moved in the last minute: "+312/min"; "" where that is not
// known yet, or where it has not moved.
func change(p *charts.Past, v *page.View, of func(*engine.Moment) float64) string {
	at, _ := charts.ChartNow(v)
	now, was := p.MomentAt(at.Add(1)), p.MomentAt(at.Add(-time.Minute))
	if now == nil || was == nil {
		return ""
	}
	switch d := int(of(now) - of(was)); {
	case d > 0:
		return "+" + page.Count(d) + "/min"
	case d < 0:
		return v.Theme.Glyphs.Minus + page.Count(-d) + "/min"
	}
	return ""
}

// callsUnit is the unit behind the number of calls. An engine that is not up for a minute yet tells
// all calls since it started, which are no pace.
func callsUnit(v *page.View) string {
	if v.Engine.SinceStart {
		return "calls"
	}
	return "/min"
}

// callsBeat is the unit of the figure of calls where that is a pace; "" where it is none, or where
// stored data is only browsed and no calls are made.
func callsBeat(v *page.View) string {
	switch {
	case v.Engine.State == engine.EngineBrowse:
		return ""
	case v.Engine.SinceStart:
		return ""
	}
	return "/min"
}

// callsCourse is the engine's own count of calls, which is by sparkEvery already.
func callsCourse(v *page.View, n int) []float64 {
	all := page.Floats(v.Engine.Spark)
	return all[max(len(all)-n, 0):]
}

// allowed is how many calls the limit of the timetable lets through in a minute.
func allowed(v *page.View, t *charts.Timetable) string {
	switch {
	case v.Engine.SinceStart:
		return "since start"
	case t.Span <= 0:
		return ""
	}
	return "key allows " + page.Count(int(int64(t.Limit)*int64(time.Minute)/int64(t.Span)))
}

// evenOf is how many calls a time holds when the limit is used evenly over its window; 0 = no limit
// is known.
func evenOf(v *page.View, t *charts.Timetable, span time.Duration) float64 {
	if t.Span <= 0 {
		return 0
	}
	return float64(t.Limit) * float64(span) / float64(t.Span)
}

// found is how many matches the accounts have, where all of them are listed; "" where the view does
// not have all accounts, since the sum would be too small.
func found(v *page.View) string {
	n := 0
	for i := range v.Accounts {
		n += max(v.Accounts[i].Matches.Total, 0)
	}
	switch {
	case v.Engine.Stored >= tall:
		return human.Count(v.Engine.Stored) + " matches"
	case n == 0 || int64(len(v.Accounts)) < v.Engine.Accounts || int64(n) < v.Engine.Stored:
		return ""
	}
	return "of " + page.Count(n) + " found"
}

// empties is when the line will be empty; "" = it is, or nobody knows when it will be.
func empties(v *page.View, t *charts.Timetable, waiting int) string {
	if waiting == 0 || !t.Ends.After(v.Now) {
		return ""
	}
	return "empty in ~" + v.In(t.Ends)
}

// nextRetry is when the first retry goes; "" = none waits, or nobody knows when.
func nextRetry(v *page.View) string {
	next := NextTry(v, func(*engine.JobRow) bool { return true })
	switch {
	case next.IsZero():
		return ""
	case next.After(v.Now):
		return "next in " + v.In(next)
	}
	return "next now"
}

// NextTry is when the first of the retries goes for which of is true; the zero time = none waits,
// or nobody knows when.
func NextTry(v *page.View, of func(*engine.JobRow) bool) (next time.Time) {
	all := v.Retries()
	for i := range all {
		j := &all[i]
		if at := page.GoesAt(j); of(j) && !at.IsZero() && (next.IsZero() || at.Before(next)) {
			next = at
		}
	}
	return next
}

// gaveUpOf says of how many matches those are that gave up, and which failure most of them met: "of
// 12,409 · 404".
func gaveUpOf(v *page.View, dead []*engine.JobRow) string {
	if v.Engine.Failed == 0 {
		return ""
	}
	text := "of " + human.Count(v.Engine.Stored+v.Engine.Failed)
	if _, classes := countedClasses(dead); len(classes) > 0 && classes[0] != "" {
		return text + " " + v.Theme.Glyphs.Sep + " " + string(classes[0])
	}
	return text + " tried"
}

// Unexpected is how many of the 429s our limiter did not expect; "" = there were no 429s.
func Unexpected(v *page.View) string {
	switch e := &v.Engine; {
	case e.Throttled == 0:
		return ""
	case e.Unforeseen == 0:
		return "all expected"
	default:
		return human.Count(e.Unforeseen) + " unexpected"
	}
}

// countedClasses counts the classes of failed jobs, and puts the most frequent class first, those
// that are as frequent by name.
func countedClasses(rows []*engine.JobRow) (n map[engine.Class]int, order []engine.Class) {
	n = map[engine.Class]int{}
	for _, j := range rows {
		n[j.Class]++
	}
	return n, slices.SortedFunc(maps.Keys(n), func(a, b engine.Class) int {
		return cmp.Or(cmp.Compare(n[b], n[a]), strings.Compare(string(a), string(b)))
	})
}
