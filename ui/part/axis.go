package part

import (
	"math"
	"slices"
	"time"

	"github.com/farsight-console/farsight/engine/safe"
	"github.com/farsight-console/farsight/themes"
)

// piece is a stretch of the axis: the tick of a stage, a segment, the sign of
// a result or the gap before the next stage.
type piece struct {
	stage      int
	tick       bool
	start, end time.Time
	glyph      string // fills the stretch
	token      themes.Token
	text       string // ticks: behind the sign; segments: in the middle
	least      int    // cells it must have
	x, width   int    // cells it got
}

// span is the time a piece covers; a clock that was set back makes none
// negative (row P-36).
func (p piece) span() time.Duration { return max(p.end.Sub(p.start), 0) }

// shape is how a kind of segment is drawn and written.
type shape struct {
	glyph func(*themes.Glyphs) string
	token themes.Token
	word  string // in the legend
	short string // in the folded form
}

var shapes = map[SegmentKind]shape{
	Queued:  {func(g *themes.Glyphs) string { return g.Queued }, themes.Off, "queued", "line"},
	Limiter: {func(g *themes.Glyphs) string { return g.Limiter }, themes.Held, "limiter", "lim"},
	HTTP:    {func(g *themes.Glyphs) string { return g.HTTP }, themes.Run, "HTTP", "http"},
	Backoff: {func(g *themes.Glyphs) string { return g.Backoff }, themes.Retry, "back-off", "back-off"},
	Snoozed: {func(g *themes.Glyphs) string { return g.Snoozed }, themes.Held, "snoozed", "snoozed"},
	Planned: {func(g *themes.Glyphs) string { return g.Planned }, themes.Off, "only if it fails again", "planned"},
}

// pieces lays the stages out in order, without widths.
func (t Timeline) pieces(th *themes.Theme, l *Line) []piece {
	var out []piece
	var last time.Time
	for i, s := range t.Stages {
		if !last.IsZero() && s.At.After(last) {
			out = append(out, piece{stage: i - 1, start: last, end: s.At, glyph: " "})
		}
		tick := piece{stage: i, tick: true, start: s.At, end: s.At, glyph: th.Glyphs.Tick, token: themes.Text, text: l.clean(s.Head, false)}
		if s.Planned {
			tick.glyph, tick.token = th.Glyphs.Planned, themes.Off
		}
		tick.least = 1 + safe.Width(tick.text)
		if tick.text != "" {
			tick.least++
		}
		out = append(out, tick)
		last = latest(last, s.At)
		for _, seg := range s.Segments {
			out = append(out, t.segments(th, l, i, s, seg)...)
			last = latest(last, seg.End)
		}
	}
	return out
}

// segments returns a segment; the last call of a stage is followed by the
// sign of its result.
func (t Timeline) segments(th *themes.Theme, l *Line, i int, s Stage, seg Segment) []piece {
	how := shapes[seg.Kind]
	p := piece{stage: i, start: seg.Start, end: seg.End, glyph: how.glyph(th.Glyphs), token: how.token, text: l.clean(seg.Text, false)}
	if p.span() > 0 || seg.Kind == HTTP {
		p.least = 1
	}
	if seg.Kind != HTTP || s.Result == "" || !lastCall(s, seg) {
		return []piece{p}
	}
	sign := th.State(s.Result)
	return []piece{p, {stage: i, start: p.end, end: p.end, glyph: sign.Glyph, token: sign.Token, least: 1}}
}

// lastCall reports whether no later call belongs to the stage.
func lastCall(s Stage, seg Segment) bool {
	for _, other := range s.Segments {
		if other.Kind == HTTP && other.Start.After(seg.Start) {
			return false
		}
	}
	return true
}

func latest(a, b time.Time) time.Time {
	if b.After(a) {
		return b
	}
	return a
}

// fitStages drops stages until the rest has its least width: first the
// furthest plans, then the oldest attempts. It says how many went at each end.
func fitStages(pieces []piece, planned func(stage int) bool, w int) (rest []piece, before, after int) {
	for len(pieces) > 0 && least(pieces) > w {
		first, last := pieces[0].stage, pieces[len(pieces)-1].stage
		switch {
		case first == last:
			return pieces, before, after
		case planned(last):
			pieces = slices.DeleteFunc(pieces, func(p piece) bool { return p.stage == last })
			pieces = pieces[:len(pieces)-trailingGap(pieces)]
			after++
		default:
			pieces = slices.DeleteFunc(pieces, func(p piece) bool { return p.stage == first })
			before++
		}
	}
	return pieces, before, after
}

// trailingGap is 1 when pieces end in the blank before a dropped stage.
func trailingGap(pieces []piece) int {
	if n := len(pieces); n > 0 && pieces[n-1].glyph == " " {
		return 1
	}
	return 0
}

func least(pieces []piece) int {
	w := 0
	for _, p := range pieces {
		w += p.least
	}
	return w
}

// scale gives each piece its cells of w: what it must have, then room for its
// text, then a share of the rest. The share grows with the logarithm of the
// time, so that a call of 0.1 s stays visible beside a wait of 5 minutes; in
// real scale it grows with the time itself.
func scale(pieces []piece, w int, realScale bool) {
	spare := max(w-least(pieces), 0)
	for i := range pieces {
		pieces[i].width = pieces[i].least
	}
	if !realScale {
		spare -= textRoom(pieces, spare)
	}
	total := 0.0
	for _, p := range pieces {
		total += weight(p, realScale)
	}
	x := 0
	for i := range pieces {
		if part := weight(pieces[i], realScale); part > 0 && total > 0 {
			add := int(float64(spare) * part / total)
			pieces[i].width += add
			spare -= add
			total -= part
		}
		pieces[i].x = x
		x += pieces[i].width
	}
}

// textRoom widens segments so that their text fits in, and returns the cells
// it spent.
func textRoom(pieces []piece, spare int) int {
	spent := 0
	for i := range pieces {
		p := &pieces[i]
		if p.tick || p.text == "" || p.span() <= 0 {
			continue
		}
		add := safe.Width(p.text) + 2 - p.width
		if add > 0 && add <= spare-spent {
			p.width += add
			spent += add
		}
	}
	return spent
}

func weight(p piece, realScale bool) float64 {
	d := p.span().Seconds()
	switch {
	case realScale:
		return d
	case p.glyph == " ": // nothing happens in the gap before a plan
		return math.Log1p(d) / 2
	}
	return math.Log1p(d)
}

// find returns the cell of an instant on scaled pieces.
func find(pieces []piece, at time.Time) int {
	for _, p := range pieces {
		switch {
		case at.Before(p.start):
			return p.x
		case p.width > 0 && p.span() > 0 && at.Before(p.end):
			part := float64(at.Sub(p.start)) / float64(p.span())
			return p.x + min(int(part*float64(p.width)), p.width-1)
		}
	}
	if len(pieces) == 0 {
		return 0
	}
	end := pieces[len(pieces)-1]
	return max(end.x+end.width-1, 0)
}
