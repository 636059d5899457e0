package part

import (
	"math"

	"github.com/farsight-console/farsight/themes"
)

// Chart draws the last w values as columns that are h rows tall, the newest at
// the right. high is the top of the scale; 0 takes the greatest value shown.
// Nothing stands on the ground line where a value is zero.
func Chart(th *themes.Theme, w, h int, t themes.Token, values []float64, high float64) []string {
	if w <= 0 || h <= 0 {
		return nil
	}
	values = values[max(len(values)-w, 0):]
	if !(high > 0) {
		high = greatest(values)
	}
	out := make([]string, 0, h)
	l := NewLine(th, w)
	for row := h - 1; row >= 0; row-- {
		l.Reset(w, false)
		l.Gap(w - len(values))
		for _, v := range values {
			l.level(t, height(v, high, h, len(th.Glyphs.Spark))-row*len(th.Glyphs.Spark), row == 0)
		}
		out = append(out, l.String())
	}
	return out
}

// height is a value in steps of a column of h cells; a little is never nothing.
func height(v, high float64, h, steps int) int {
	if !(v > 0) || !(high > 0) {
		return 0
	}
	return max(int(math.Round(math.Min(v/high, 1)*float64(h*steps))), 1)
}

// level draws what a column of n steps has in one cell.
func (l *Line) level(t themes.Token, n int, ground bool) {
	signs := l.th.Glyphs.Spark
	switch {
	case n >= len(signs):
		l.Glyph(t, l.th.Glyphs.Shade[len(l.th.Glyphs.Shade)-1], 1) // rows of one column meet
	case n > 0:
		l.Glyph(t, signs[n-1], 1)
	case ground:
		l.Glyph(themes.Hairline, l.th.Glyphs.BarNone, 1)
	default:
		l.Gap(1)
	}
}
