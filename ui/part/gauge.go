package part

import (
	"cmp"
	"math"

	"github.com/farsight-console/farsight/engine/human"
	"github.com/farsight-console/farsight/engine/safe"
	"github.com/farsight-console/farsight/themes"
)

// Bar writes a bar of w cells, half a cell high and exact to half a cell: less than
// that is empty, the number beside it tells. Nearly all is never drawn as all. Run
// takes the ramp, along the whole scale.
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

// fill writes a bar without ends, in half cells.
func (l *Line) fill(t themes.Token, w int, ratio float64) *Line {
	g := l.th.Glyphs
	n := filled(2*w, ratio)
	for i := range n / 2 {
		l.Glyph(along(t, i, w), g.BarFull, 1)
	}
	if n%2 == 1 {
		l.Glyph(along(t, n/2, w), g.BarHalf, 1)
	}
	return l.rest(w - (n+1)/2)
}

// along is the tone of cell i of a bar of w cells.
func along(t themes.Token, i, w int) themes.Token {
	if t != themes.Run {
		return t
	}
	return themes.Flow(0.15 + 0.85*(float64(i)+0.5)/float64(w))
}

// rest writes what a bar does not fill. Without colour a track would look full, and so it
// would on a ground on which all is drawn in one colour.
func (l *Line) rest(w int) *Line {
	oneColour := l.layer != themes.OnPlain && l.th.On(l.layer, themes.Track) == l.th.On(l.layer, themes.Run)
	switch g := l.th.Glyphs; {
	case g.ASCII:
		return l.Glyph(themes.Track, g.BarEmpty, w)
	case l.th.Profile == themes.Mono, oneColour:
		return l.Gap(max(w, 0))
	default:
		return l.Glyph(themes.Track, g.BarFull, w)
	}
}

// filled returns the full steps of n.
func filled(n int, ratio float64) int {
	switch {
	case n <= 0 || !(ratio > 0): // NaN too
		return 0
	case ratio >= 1:
		return n
	}
	return min(int(math.Round(ratio*float64(n))), n-1)
}

// NoBar writes the place of a bar whose total is not known.
func (l *Line) NoBar(w int) *Line { return l.Glyph(themes.Off, l.th.Glyphs.BarNone, w) }

// Meter writes a bar that is alone on its rows: a whole cell high, exact to an eighth.
// What it does not fill is planned, or else nobody works on it.
func (l *Line) Meter(w int, ratio float64, planned bool) *Line {
	g := l.th.Glyphs
	w = min(w, l.Room())
	n := filled(len(g.Eighths)*w, ratio)
	whole, end := n/len(g.Eighths), n%len(g.Eighths)
	for i := range whole {
		l.Glyph(themes.Flow(0.05+0.8*float64(i)/float64(whole)), g.Eighths[len(g.Eighths)-1], 1)
	}
	if end > 0 {
		l.Glyph(themes.Flow(0.85), g.Eighths[end-1], 1)
		whole++
	}
	if !planned {
		return l.Glyph(themes.Tick, g.Dot, w-whole)
	}
	return l.Glyph(themes.Planned(themes.Odd(themes.Flow(0.4))), g.Plan[len(g.Plan)-1], w-whole)
}

// Share is one part of a whole.
type Share struct {
	Token themes.Token
	Name  string
	Short string // the name where there is little room; "" = Name
	Sign  string // what it is drawn with where there are no colours
	N     int
}

// Stack writes the parts of a whole as one bar of w cells; none that is there is left
// out.
func (l *Line) Stack(w int, shares []Share) *Line { return l.stack(w, shares, false) }

// Dotted is Stack of what is to come.
func (l *Line) Dotted(w int, shares []Share) *Line { return l.stack(w, shares, true) }

// stack gives each part that is there one cell, and then its share of those that are left: one of 879 is
// seen as well.
func (l *Line) stack(w int, shares []Share, planned bool) *Line {
	w = min(w, l.Room())
	total, shown := 0, 0
	for _, s := range shares {
		total += max(s.N, 0)
		shown += btoi(s.N > 0)
	}
	if w < shown || total == 0 {
		return l.rest(w)
	}
	spare := w - shown
	for _, s := range shares {
		if s.N <= 0 {
			continue
		}
		cells := 1 + spare*s.N/total
		total, spare = total-s.N, spare-(cells-1)
		l.Glyph(s.Token, l.share(s, l.th.Glyphs.BarFull, planned), cells)
	}
	return l
}

// Sample writes the sign of a part in a legend.
func (l *Line) Sample(s Share, planned bool) *Line {
	return l.Glyph(s.Token, l.share(s, l.th.Glyphs.Cell, planned), 1)
}

// share is what a part is drawn with: without colours each that has happened has its sign.
func (l *Line) share(s Share, coloured string, planned bool) string {
	if plan := l.th.Glyphs.Plan; planned {
		return plan[min(1, len(plan)-1)]
	}
	if s.Sign != "" && (l.th.Profile == themes.Mono || l.th.ASCII()) {
		return s.Sign
	}
	return coloured
}

// How many cells the number of a part takes in a legend: nothing moves when 7 becomes 19, or
// 999 becomes 1,000. Of those that run, which come first, there are never hundreds.
const (
	legendDigits  = 5
	closeDigits   = 3 // where there is little room: 12k
	runningDigits = 2
)

// Legend writes what the colours of a stack say: ■ 535 available. Where not all have room
// they stand closer, under their short names; parts that have none then are left out whole.
func (l *Line) Legend(shares []Share) *Line {
	gap, digits, name, sum := 3, legendDigits, func(s Share) string { return s.Name }, 0
	wide := func(s Share) int { return gap + 3 + digits + safe.Width(name(s)) }
	for _, s := range shares {
		sum += wide(s)
	}
	if sum-gap-digits+runningDigits > l.Room() {
		gap, digits, name = 1, closeDigits, func(s Share) string { return cmp.Or(s.Short, s.Name) }
	}
	for i, s := range shares {
		n, free := human.Brief(int64(s.N), digits), digits
		switch {
		case i == 0:
			free = runningDigits
		case wide(s) > l.Room():
			return l
		default:
			l.Gap(gap)
		}
		l.Gap(max(free-len(n), 0)).Sample(s, false).Gap(1).Put(themes.Figure, n).Gap(1).Put(themes.Dim, name(s))
	}
	return l
}

func btoi(b bool) int {
	if b {
		return 1
	}
	return 0
}
