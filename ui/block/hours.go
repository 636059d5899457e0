package block

import (
	"math"

	"github.com/farsight-console/farsight/engine"
	"github.com/farsight-console/farsight/themes"
	"github.com/farsight-console/farsight/ui/charts"
	"github.com/farsight-console/farsight/ui/page"
	"github.com/farsight-console/farsight/ui/part"
)

// byHour adds the days of a report up: the minutes of each hour of the day, and of all hours.
func byHour(r *engine.PlayReport) (hours [24]float64, all float64) {
	for d := range r.Minutes {
		for h, m := range r.Minutes[d] {
			hours[h] += m
			all += m
		}
	}
	return hours, all
}

// hourFacts is how many cells the sums take that stand at the right of the hours.
const hourFacts = 18

// HourRows draw the hours of the day as columns in h rows of w cells. The names of the hours stand
// in the last row; the busiest hour, the total and the zone at the right, where there is room for
// them beside columns of three cells.
func HourRows(v *page.View, r *engine.PlayReport, w, h int) []string {
	sums, all := byHour(r)
	high, most := 0.0, 0
	for i, m := range sums {
		if m > high {
			high, most = m, i
		}
	}
	facts := []Fact{{"most", part.None}, {"total", charts.Hours(all)}, {"zone", r.Zone}}
	if high > 0 {
		facts[0].Value = page.Two(most) + v.Theme.Glyphs.Range + page.Two((most+1)%24) + " h"
	}
	room := w - 4
	if room >= 3*24+hourFacts {
		room -= hourFacts
	} else {
		facts = nil
	}
	each := max(room/24, 1)
	wide := max(each-1, 1)
	// A name takes two cells and a gap: where columns are narrower, only some hours have one.
	every := (3 + each - 1) / each // hours that share a name
	signs := v.Theme.Glyphs.Spark
	rows := make([]string, 0, h)
	for y := h - 2; y >= 0; y-- {
		l := part.NewLine(v.Theme, w)
		for i, m := range sums {
			// n is how many eighths of this row's cell the column fills. It is rounded up, so that
			// an hour with a single minute is not drawn as one without any.
			if n := int(math.Ceil(m/max(high, 1)*float64((h-1)*len(signs)))) - y*len(signs); n > 0 {
				// A column is fainter towards its foot, and a small one fainter as a whole.
				ratio := m / high * (0.55 + 0.45*float64(y+1)/float64(h-1))
				l.To(2+i*each).Glyph(themes.Heat(ratio), signs[min(n, len(signs))-1], wide)
			}
		}
		if at := h - 2 - y; at < len(facts) {
			l.To(w-hourFacts+2).Put(themes.Dim, facts[at].Key)
			l.To(w-hourFacts+7).Field(part.Plain(facts[at].Value), hourFacts-8, part.Number)
		}
		rows = append(rows, l.String())
	}
	l := part.NewLine(v.Theme, w)
	for i := 0; i < 24; i += every {
		l.To(2+i*each).Put(themes.Dim, page.Two(i))
	}
	return append(rows, l.String())
}
