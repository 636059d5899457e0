package page

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
)

// total is one of the six figures of the overview.
type total struct {
	name  string // CALLS; short is what a small screen has behind the number
	short string
	value string
	beat  string // of the last minute: "+312/min"
	note  string
	token themes.Token // Run takes the ramp
	spark []float64    // by sparkEvery, the newest last
	high  float64      // the top of its scale; 0 = its highest
}

// sparkEvery is the time of a cell of a figure's course.
const sparkEvery = 5 * time.Second

// totals are the six figures; dead are jobs that gave up, n is how many cells their courses have.
func (v *View) totals(p *past, t *timetable, dead []*engine.JobRow, n int) []total {
	e := &v.Engine
	waiting := inLines(v.Queues)
	return []total{
		{name: "CALLS", short: v.callsUnit(), value: Count(e.Calls()), beat: v.callsBeat(), note: v.allowed(t), token: themes.Run, spark: v.callsCourse(n), high: v.evenOf(t, sparkEvery)},
		{name: "STORED", short: "stored", value: tallCount(e.Stored), beat: p.change(v, storedBy), note: v.found(), token: themes.Run, spark: above(p.course(v, n, storedBy))},
		{name: "IN LINE", short: "in line", value: Count(waiting), beat: p.change(v, lined), note: v.empties(t, waiting), token: themes.Run, spark: p.course(v, n, lined)},
		{name: "RETRYING", short: "retry", value: Count(e.Retrying), beat: v.nextRetry(), token: themes.Retry, spark: p.course(v, n, retrying)},
		{name: "GAVE UP", short: "gave up", value: human.Count(e.Failed), note: v.gaveUpOf(dead), token: themes.Err, spark: rises(p.course(v, n, failedBy)), high: 1.6},
		{name: "429s", short: "429s", value: human.Count(e.Throttled), note: v.unexpected(), token: themes.Warn, spark: rises(p.course(v, n, throttles)), high: 1.6},
	}
}

// What courses are of.
func storedBy(m *engine.Moment) float64  { return float64(m.Engine.Stored) }
func lined(m *engine.Moment) float64     { return float64(inLines(m.Queues)) }
func retrying(m *engine.Moment) float64  { return float64(m.Engine.Retrying) }
func failedBy(m *engine.Moment) float64  { return float64(m.Engine.Failed) }
func throttles(m *engine.Moment) float64 { return float64(m.Engine.Throttled) }

// course is a figure at the ends of the last n cells; before it is known there is nothing.
func (p *past) course(v *View, n int, of func(*engine.Moment) float64) (out []float64) {
	now, _ := v.chartNow()
	end := now.Truncate(sparkEvery).Add(sparkEvery)
	for i := n - 1; i >= 0; i-- {
		at := end.Add(-time.Duration(i) * sparkEvery)
		if m := p.at(at); m != nil && at.Sub(m.At) <= sparkEvery+time.Second {
			out = append(out, of(m))
		}
	}
	return out
}

// rises are by how much a figure has grown from cell to cell.
func rises(course []float64) []float64 {
	out := make([]float64, max(len(course)-1, 0))
	for i := range out {
		out[i] = max(course[i+1]-course[i], 0)
	}
	return out
}

// above is a figure over its first value: what 12,406 is made of is not of the last minute.
func above(course []float64) []float64 {
	out := make([]float64, len(course))
	for i := range out {
		out[i] = course[i] - course[0]
	}
	return out
}

// tall is the first count that is too wide for tall digits.
const tall = 10_000

// tallCount is a count in at most three digits from there on: 12.4k.
func tallCount(n int64) string {
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

// change is by how much a figure has moved in the last minute: +312/min; "" where that is
// not known yet, or nothing has.
func (p *past) change(v *View, of func(*engine.Moment) float64) string {
	at, _ := v.chartNow()
	now, was := p.at(at.Add(1)), p.at(at.Add(-time.Minute))
	if now == nil || was == nil {
		return ""
	}
	switch d := int(of(now) - of(was)); {
	case d > 0:
		return "+" + Count(d) + "/min"
	case d < 0:
		return v.Theme.Glyphs.Minus + Count(-d) + "/min"
	}
	return ""
}

func (v *View) callsUnit() string {
	if v.Engine.SinceStart {
		return "calls"
	}
	return "/min"
}

func (v *View) callsBeat() string {
	switch {
	case v.Engine.State == engine.EngineBrowse:
		return ""
	case v.Engine.SinceStart:
		return ""
	}
	return "/min"
}

// callsCourse is by sparkEvery already, as the engine counts it.
func (v *View) callsCourse(n int) []float64 {
	all := floats(v.Engine.Spark)
	return all[max(len(all)-n, 0):]
}

// allowed is what the limits let through in a minute.
func (v *View) allowed(t *timetable) string {
	switch {
	case v.Engine.SinceStart:
		return "since start"
	case t.span <= 0:
		return ""
	}
	return "key allows " + Count(int(int64(t.limit)*int64(time.Minute)/int64(t.span)))
}

// evenOf is how many calls go in a time when the limit is used evenly.
func (v *View) evenOf(t *timetable, span time.Duration) float64 {
	if t.span <= 0 {
		return 0
	}
	return float64(t.limit) * float64(span) / float64(t.span)
}

// found is how many matches the accounts have, where all of them are listed.
func (v *View) found() string {
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
	return "of " + Count(n) + " found"
}

// empties is when the line is empty.
func (v *View) empties(t *timetable, waiting int) string {
	if waiting == 0 || !t.ends.After(v.Now) {
		return ""
	}
	return "empty in ~" + v.In(t.ends)
}

func (v *View) nextRetry() string {
	next := v.nextTry(func(*engine.JobRow) bool { return true })
	switch {
	case next.IsZero():
		return ""
	case next.After(v.Now):
		return "next in " + v.In(next)
	}
	return "next now"
}

// nextTry is when the first retry goes of those that are of something; zero = nobody knows.
func (v *View) nextTry(of func(*engine.JobRow) bool) (next time.Time) {
	all := v.Retries()
	for i := range all {
		j := &all[i]
		if at := goesAt(j); of(j) && !at.IsZero() && (next.IsZero() || at.Before(next)) {
			next = at
		}
	}
	return next
}

// gaveUpOf says of how many they are, and what most of them met.
func (v *View) gaveUpOf(dead []*engine.JobRow) string {
	if v.Engine.Failed == 0 {
		return ""
	}
	text := "of " + human.Count(v.Engine.Stored+v.Engine.Failed)
	if _, classes := countedClasses(dead); len(classes) > 0 && classes[0] != "" {
		return text + " " + v.Theme.Glyphs.Sep + " " + string(classes[0])
	}
	return text + " tried"
}

func (v *View) unexpected() string {
	switch e := &v.Engine; {
	case e.Throttled == 0:
		return ""
	case e.Unforeseen == 0:
		return "all expected"
	default:
		return human.Count(e.Unforeseen) + " unexpected"
	}
}

// countedClasses counts the classes of failed jobs and puts the most frequent first.
func countedClasses(rows []*engine.JobRow) (n map[engine.Class]int, order []engine.Class) {
	n = map[engine.Class]int{}
	for _, j := range rows {
		n[j.Class]++
	}
	return n, slices.SortedFunc(maps.Keys(n), func(a, b engine.Class) int {
		return cmp.Or(cmp.Compare(n[b], n[a]), strings.Compare(string(a), string(b)))
	})
}
