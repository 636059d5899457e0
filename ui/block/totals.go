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
	Value, Short string // 733, in line
	Beat         string // of the last minute: "+312/min"
	Note         string
	Token        themes.Token
}

// Totals are the six figures. dead are jobs that gave up, which are not among those of the view.
func Totals(v *page.View, t *charts.Timetable, dead []*engine.JobRow) []Total {
	e := &v.Engine
	waiting, stored := charts.InLines(v.Queues), human.Count(e.Stored)
	if v.Size == page.S {
		stored = TallCount(e.Stored)
	}
	return []Total{
		{Short: callsUnit(v), Value: page.Count(e.Calls()), Note: allowed(v, t), Token: themes.Run},
		{Short: "stored", Value: stored, Beat: change(v, storedBy), Note: found(v), Token: themes.Run},
		{Short: "in line", Value: page.Count(waiting), Beat: human.If(waiting > 0, change(v, lined)), Note: empties(v, t, waiting), Token: themes.Run},
		{Short: "retrying", Value: page.Count(e.Retrying), Note: nextRetry(v), Token: themes.Retry},
		{Short: "gave up", Value: human.Count(e.Failed), Note: gaveUpOf(v, dead), Token: themes.Err},
		wrong(v),
	}
}

// wrong is how often Riot refused since the start, or calls failed in the last minutes, where that is more: by their status
// if all have the same.
func wrong(v *page.View) Total {
	now, _ := charts.ChartNow(v)
	from, by, n := engine.Latest(now.Add(-10*time.Minute), charts.RecordedSince(v.Data)), "", int64(0)
	for i := len(v.Calls) - 1; i >= 0 && v.Calls[i].At.After(from); i-- {
		if status := v.Calls[i].Status; status == 0 || status >= 500 {
			one := human.Either(status == 0, "failed", "× "+strconv.Itoa(status))
			n, by = n+1, human.Either(by == "" || by == one, one, "failed")
		}
	}
	t := Total{Short: "× 429", Value: human.Count(v.Engine.Throttled), Note: Unexpected(v), Token: themes.Warn}
	if n > v.Engine.Throttled {
		t.Note = "in " + human.Age(now.Sub(from)) + human.If(t.Note != "", ", "+t.Value+" × 429")
		t.Short, t.Value, t.Token = by, human.Count(n), themes.Err
	}
	return t
}

// What a change is of, in a moment.
func storedBy(m *engine.Moment) int { return int(m.Engine.Stored) }
func lined(m *engine.Moment) int    { return charts.InLines(m.Queues) }

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
func change(v *page.View, of func(*engine.Moment) int) string {
	at, _ := charts.ChartNow(v)
	now, was := v.Past.At(at), v.Past.At(at.Add(-time.Minute))
	if now == nil || was == nil {
		return ""
	}
	switch d := of(now) - of(was); {
	case d > 0:
		return "+" + page.Count(d) + "/min"
	case d < 0:
		return v.Theme.Glyphs.Minus + page.Count(-d) + "/min"
	}
	return ""
}

// callsUnit is what the number of calls counts. An engine that is not up for a minute yet tells all
// calls since it started, which are no pace.
func callsUnit(v *page.View) string {
	return human.Either(v.Engine.Calls() == 1, "call", "calls") + human.If(!v.Engine.SinceStart, "/min")
}

// allowed is how many calls the limit of the timetable lets through in a minute.
func allowed(v *page.View, t *charts.Timetable) string {
	switch {
	case v.Engine.SinceStart:
		return "since start"
	case t.Span <= 0:
		return ""
	}
	n, whole := KeyAllows(t.Limit, t.Span, time.Minute)
	if !page.OneHost(v) { // each has the key's limit
		return human.If(!whole, "max ") + n + " a host"
	}
	if !whole {
		return "key allows " + n
	}
	for _, b := range v.Limits.Buckets {
		if b.Kind == "app" && b.Window == time.Second && b.Limit > 0 {
			return page.Count(b.Limit) + "/s, " + n
		}
	}
	return "max " + n
}

// KeyAllows is how many calls a limit lets through in a span. One of a longer window than a minute is told whole, with
// it: all of its calls may be made at once, which would read as too many of a minute.
func KeyAllows(limit int, window, per time.Duration) (n string, whole bool) {
	if window > time.Minute {
		return page.Count(limit) + "/" + human.Window(window), true
	}
	return page.Count(int(float64(limit)*per.Seconds()/window.Seconds() + 0.5)), false
}

// found is how many matches there are: stored, given up and to come, each once whoever lists it, by the reading that
// tells how many are stored.
func found(v *page.View) string {
	e := &v.Engine
	return human.If(e.Stored+e.Failed+e.Waiting > 0, "of "+human.Count(e.Stored+e.Failed+e.Waiting)+" found")
}

// empties is when the line will be empty; "" = it is, or nobody knows when it will be.
func empties(v *page.View, t *charts.Timetable, waiting int) string {
	if waiting == 0 || !t.Ends.After(v.Now) {
		return ""
	}
	return "empty " + human.If(!t.Listing(), "in ") + t.Ending() + v.In(t.Ends)
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
	all := v.TryingAgain()
	for i := range all {
		j := &all[i]
		if at := LeavesAt(v, j); of(j) && !at.IsZero() && (next.IsZero() || at.Before(next)) {
			next = at
		}
	}
	return next
}

// LeavesAt is when a retry goes; zero = nobody knows, as in a paused queue, which its row may not say.
func LeavesAt(v *page.View, j *engine.JobRow) time.Time {
	if q, _ := v.Queue(j.Queue); q.Paused {
		return time.Time{}
	}
	return page.GoesAt(j)
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
