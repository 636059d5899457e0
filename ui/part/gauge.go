package part

import (
	"math"

	"github.com/farsight-console/farsight/themes"
)

// Bar writes a bar of w cells. A little is never drawn as nothing, and nearly
// all never as all.
func (l *Line) Bar(t themes.Token, w int, ratio float64) *Line {
	g := l.th.Glyphs
	w = min(w, l.Room())
	if g.BarOpen != "" && w >= 3 {
		l.Glyph(themes.Text, g.BarOpen, 1)
		l.fill(t, w-2, ratio)
		return l.Glyph(themes.Text, g.BarClose, 1)
	}
	return l.fill(t, w, ratio)
}

func (l *Line) fill(t themes.Token, w int, ratio float64) *Line {
	full := filled(w, ratio)
	return l.Glyph(t, l.th.Glyphs.BarFull, full).Glyph(themes.Dim, l.th.Glyphs.BarEmpty, w-full)
}

// filled returns the full cells of w.
func filled(w int, ratio float64) int {
	switch {
	case w <= 0 || !(ratio > 0): // NaN too
		return 0
	case ratio >= 1:
		return w
	}
	return clamp(int(math.Round(ratio*float64(w))), min(1, w-1), w-1)
}

// NoBar writes the place of a bar whose total is not known.
func (l *Line) NoBar(w int) *Line { return l.Glyph(themes.Off, l.th.Glyphs.BarNone, w) }

// Spark writes the last w values as columns, the newest at the right. high is
// the top of the scale; 0 takes the greatest value shown. NaN leaves a gap.
func (l *Line) Spark(t themes.Token, w int, values []float64, high float64) *Line {
	w = min(w, l.Room())
	if w <= 0 {
		return l
	}
	values = values[max(len(values)-w, 0):]
	if !(high > 0) {
		high = greatest(values)
	}
	l.Gap(w - len(values))
	for _, v := range values {
		l.Glyph(t, step(l.th.Glyphs.Spark, v, high), 1)
	}
	return l
}

func greatest(values []float64) float64 {
	high := 0.0
	for _, v := range values {
		if v > high {
			high = v
		}
	}
	return high
}

// step picks the sign of v on a scale from 0 to high.
func step(signs []string, v, high float64) string {
	if math.IsNaN(v) {
		return " "
	}
	if !(high > 0) || v <= 0 {
		return signs[0]
	}
	n := int(math.Min(v/high, 1) * float64(len(signs)))
	return signs[clamp(n, 0, len(signs)-1)]
}

// Wall draws n signs row by row, w in a row, at most h rows; at returns the
// sign of item i. When they do not fit, the last ones are shown: they are the
// newest.
func Wall(th *themes.Theme, w, h, n int, at func(i int) themes.State) []string {
	if h <= 0 {
		return nil
	}
	out := make([]string, 0, h)
	l := NewLine(th, w)
	start := 0
	if w > 0 && n > w*h {
		start = n - w*h
	}
	for range h {
		l.Reset(w, false)
		for ; start < n && l.Room() > 0; start++ {
			s := at(start)
			l.Glyph(s.Token, s.Glyph, 1)
		}
		out = append(out, l.String())
	}
	return out
}
