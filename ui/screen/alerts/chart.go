package alerts

import (
	"slices"
	"time"

	"github.com/farsight-console/farsight/engine"
	"github.com/farsight-console/farsight/engine/columns"
	"github.com/farsight-console/farsight/engine/human"
	"github.com/farsight-console/farsight/engine/safe"
	"github.com/farsight-console/farsight/themes"
	"github.com/farsight-console/farsight/ui/page"
	"github.com/farsight-console/farsight/ui/part"
)

// What AlertRow.History holds: a value per five minutes of the last hour.
const (
	historyStep  = 5 * time.Minute
	historyCells = int(time.Hour / historyStep)
)

// tallestChart is how many rows the chart of an alert grows to. Seven rows of eight levels each
// show a step of 2 %; a taller chart only moves what stands below it.
const tallestChart = 7

// historyChart are an alert's values of the last hour beside its limit, with the instant
// when it came into its state:
//
//	> 30 % ╌╌╌╌╌╌╌╌╌╌╌╌╌╌╌╌╌▄▄ ██
//	               ▂▂ ▅▅ ██ ██ ██
//	                            ▲ 12:27 FIRING
//	       −1 h               now
//
// h counts the two rows below the chart as well. Of an alert that was evaluated for a while only, the
// axis reaches no farther back than that needs.
func historyChart(v *page.View, r *engine.AlertRow, w, h int) []string {
	h = min(h-2, tallestChart)
	if h < 1 || len(r.History) == 0 {
		return []string{v.Row(w, part.As(themes.Dim, " no value of the last hour is known"))}
	}
	shown := shownHistory(r)
	// The limit's own words, such as "> 30 %", stand left of its line.
	label := safe.Width(r.Bound()) + 2
	wide := min(max((w-label-1)/historyCells, 1), 8) * historyCells
	c := part.PastChart(v.Theme, wide, h)
	span := time.Duration(shown) * historyStep
	within, beyond, each := make([]float64, wide), make([]float64, wide), span/time.Duration(wide)
	// A value that an engine before this one has told is drawn as well.
	first := slices.IndexFunc(r.History, func(value float64) bool { return value >= 0 })
	for x := range wide {
		ends := v.Now.Add(-time.Duration(wide-1-x) * each) // of the column
		at := historyAt(v, r, ends.Add(-each/2))
		switch {
		case at < 0 || r.History[at] < 0 || at == first && !ends.After(v.Engine.Started): // not known
			c.Sign(h-1, x, themes.Text, "")
		case 3*each <= historyStep && x < wide-1 && historyAt(v, r, ends.Add(each/2)) != at: // a gap parts one from the next
		case r.Below && r.History[at] < r.Limit || !r.Below && r.History[at] > r.Limit:
			beyond[x] = r.History[at]
		default:
			within[x] = r.History[at]
		}
	}
	top := max(slices.Max(r.History[max(len(r.History)-shown, 0):]), r.Limit, leastScale(r))
	line := c.RowOf(r.Limit, top, h)
	c.Run(line, 0, wide, themes.Warn, v.Theme.Glyphs.Ahead)
	c.Area(0, h, part.Series{Values: within, Top: top, Token: themes.Run})
	c.Area(0, h, part.Series{Values: beyond, Top: top, Token: themes.Warn})
	rows := make([]string, 0, h+2)
	for y := range h {
		l := part.NewLine(v.Theme, label+wide)
		if y == line {
			l.Gap(1).Cells(part.As(themes.Warn, r.Bound()))
		}
		rows = append(rows, c.Row(l.To(label), y).String())
	}
	rows = append(rows, cameAt(v, r, w, label, wide, span))
	axis := part.NewLine(v.Theme, w).To(label).Cells(part.As(themes.Dim, v.Theme.Glyphs.Minus+human.Distance(span)))
	half := v.Theme.Glyphs.Minus + human.Distance(span/2)
	if wide > 30 {
		axis.To(label + (wide-safe.Width(half))/2).Cells(part.As(themes.Dim, half))
	}
	return append(rows, axis.To(label+wide-len("now")).Cells(part.As(themes.Figure, "now")).String())
}

// historyAt is which value of the last hour is that of an instant, by the clock's five minutes, as they are counted; below
// 0 = none is.
func historyAt(v *page.View, r *engine.AlertRow, at time.Time) int {
	return len(r.History) - 1 - int(v.Now.Truncate(historyStep).Sub(at.Truncate(historyStep))/historyStep)
}

// shownHistory is how many of the values of the last hour are drawn: the least number that holds all that are known
// and of which each is as wide as the others.
func shownHistory(r *engine.AlertRow) int {
	known := 0
	for i, value := range r.History {
		if value >= 0 {
			known = len(r.History) - i
			break
		}
	}
	for _, n := range []int{2, 4, 6} {
		if known <= n {
			return n
		}
	}
	return historyCells
}

// leastScale is how high the scale of an alert goes at least: a single one of what is counted
// does not fill it, where none at all is the limit.
func leastScale(r *engine.AlertRow) float64 {
	return human.Either(r.Unit == engine.AlertCount, 4, r.Limit)
}

// cameAt is the sign of when an alert came into its state, below its chart.
// The text begins at the cell of its instant, but moves left where it would be cut. A state older
// than the chart is marked at its left end. An alert that is well has come into nothing.
func cameAt(v *page.View, r *engine.AlertRow, w, label, wide int, span time.Duration) string {
	l := part.NewLine(v.Theme, w)
	age := v.Now.Sub(r.Since)
	if r.State == engine.AlertOK || r.Since.IsZero() {
		return l.String()
	}
	s := columns.AlertSign(page.Pen{View: v}, r)
	text := s.Text + " since " + v.Clock(r.Since) + ", " + human.Dur(age)
	at := human.Either(age > span, label, label+max(wide-1-int(age*time.Duration(wide)/span), 0))
	return l.To(min(at, max(w-safe.Width(text)-1, 0))).Cells(part.As(s.Token, text)).String()
}
