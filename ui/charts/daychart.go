package charts

import (
	"cmp"
	"slices"
	"strings"
	"time"

	"github.com/farsight-console/farsight/engine"
	"github.com/farsight-console/farsight/engine/human"
	"github.com/farsight-console/farsight/themes"
	"github.com/farsight-console/farsight/ui/page"
	"github.com/farsight-console/farsight/ui/part"
)

// upTo are the half hours that were asked for, up to the present one, which is of the same reading as the rest of the frame.
func upTo(v *page.View) []engine.TrafficSpan {
	now, spans := v.Engine.Traffic, v.Foot.Day
	if now.At.IsZero() {
		return spans
	}
	for n := len(spans); n > 0 && !spans[n-1].At.Before(now.At); n-- {
		spans = spans[:n-1]
	}
	return append(slices.Clip(spans), now)
}

// multiple is one of several charts with one scale.
type multiple struct {
	name   string
	token  themes.Token
	counts []float64
}

// multiples draws charts above one another, each tall rows high and with its sum and name on the
// left of its last row. All have one scale, whose top is high, so that a hundred calls and one 429 look like what
// they are. However few counts there are, they are drawn as wide as [fewest] would be.
func multiples(v *page.View, columns, tall int, high float64, charts []multiple) (rows []string) {
	for _, c := range charts {
		counts := c.counts[max(len(c.counts)-columns, 0):]
		sum, bars := 0.0, make([]float64, columns*min(len(counts), fewest)/fewest)
		for _, n := range counts {
			sum += n
		}
		for x := range bars {
			bars[x] = counts[x*len(counts)/len(bars)]
		}
		// A sum of nothing is dim, so that a red 0 does not look like trouble.
		token := human.Either(sum == 0, themes.Dim, c.token)
		past := part.PastChart(v.Theme, len(bars), tall)
		past.Area(0, tall, part.Series{Values: bars, Top: high, Token: c.token})
		for row, chart := range past.View() {
			l := part.NewLine(v.Theme, multipleName)
			if row == tall-1 {
				l.Field(part.As(token, human.Count(int64(sum))), multipleSum, part.Number).Gap(1).Put(themes.Dim, c.name)
			}
			rows = append(rows, l.String()+chart)
		}
	}
	return rows
}

// fewest is how many counts have room in such a chart at least: the first one is no wall.
const fewest = 6

// What stands before such a chart: its sum, and with that its name and a gap.
const multipleSum, multipleName = 8, 17

// DayRows is how many rows the three charts of the last day take together at least.
const DayRows = 6

// Day draws calls, 429s and stored matches of the last 24 hours on h rows and one scale, or of the time since the engine began
// to count, and says which.
func Day(v *page.View, w, h int) part.Section {
	p := part.Section{Title: "24 HOURS", Height: h}
	spans := upTo(v)
	if len(spans) == 0 {
		p.Empty = "  " + cmp.Or(v.Waiting(), "nothing was counted yet")
		return p
	}
	charts := []multiple{{name: "calls", token: themes.Run}, {name: "× 429", token: themes.Warn}, {name: "stored", token: themes.OK}}
	high := 0.0
	for _, s := range spans {
		for i, n := range [...]int{s.Calls, s.Throttled, s.Stored} {
			charts[i].counts = append(charts[i].counts, float64(n))
			high = max(high, float64(n))
		}
	}
	// What members call is counted where it is settled.
	if t := v.Engine.Term; t != nil && !t.Here && high == 0 {
		p.Title = "STANDS BY"
		p.Rows = v.Paragraph(w, themes.Dim, "this process does since "+v.Clock(v.Engine.Started)+": "+
			human.Either(t.Leader == "", "nobody leads now", t.Leader+" leads, and counts the calls of all"))
		return p
	}
	p.Tail = "per 30 min, one scale"
	columns := max(w-multipleName-2, 1)
	p.Rows = multiples(v, columns, h/len(charts), high, charts)
	const day = int(24 * time.Hour / engine.TrafficEvery)
	if n := len(spans); n < day || columns < n {
		p.Title = "SINCE " + dayClock(v, spans[max(n-columns, 0)].At)
	}
	return p
}

// dayClock is a time of day, with its date if it is not of today.
func dayClock(v *page.View, at time.Time) string {
	if at = at.In(v.Now.Location()); at.YearDay() != v.Now.YearDay() {
		return strings.ToUpper(at.Format("2 Jan 15:04"))
	}
	return at.Format("15:04")
}
