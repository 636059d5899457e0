package part

import (
	"strings"
	"time"

	"github.com/farsight-console/farsight/engine/human"
	"github.com/farsight-console/farsight/engine/safe"
	"github.com/farsight-console/farsight/themes"
)

// SegmentKind says what a stretch of time was spent on.
type SegmentKind uint8

// The kinds of segments.
const (
	Queued SegmentKind = iota
	Limiter
	HTTP
	Backoff
	Snoozed
	Planned
	segmentKinds
)

// Segment is a stretch of a stage.
type Segment struct {
	Kind       SegmentKind
	Start, End time.Time
	// Text stands inside where there is room: "wait 60 s".
	Text string
}

// Stage is one tick on the axis and what followed it: an attempt, a snooze, a
// try that is due or only planned.
type Stage struct {
	// Head stands behind the tick: "1", "3 due", "4 +120 s".
	Head string
	At   time.Time
	// Note stands below: "500".
	Note string
	// Result is the state word whose sign ends the last call; empty for none.
	Result string
	// Planned draws the tick dashed: it may never happen.
	Planned  bool
	Segments []Segment
}

// Timeline is a life on one axis.
type Timeline struct {
	// Stages are in order of time.
	Stages []Stage
	Now    time.Time
	// Zone of the labels; nil is UTC.
	Zone *time.Location
	// Real draws time to scale; else long waits are compressed.
	Real bool
}

// margin holds the signs that stages are hidden.
const margin = 1

// View returns three rows of w cells: labels, the axis, notes.
func (t Timeline) View(th *themes.Theme, w int) []string {
	l := NewLine(th, w)
	planned := func(stage int) bool { return t.Stages[stage].Planned }
	pieces, before, after := fitStages(t.pieces(th, l), planned, w-2*margin)
	axis := newCanvas(w)
	if before > 0 {
		axis.put(0, themes.Accent, th.Glyphs.Less)
	}
	if after > 0 {
		axis.put(w-1, themes.Accent, th.Glyphs.More)
	}
	scale(pieces, w-2*margin, t.Real)
	for i := range pieces {
		pieces[i].x += margin
	}
	for _, p := range pieces {
		p.draw(axis)
	}
	return []string{
		t.labels(th, w, pieces).row(th),
		axis.row(th),
		t.notes(th, l, w, pieces).row(th),
	}
}

// draw fills the piece's stretch and writes its text.
func (p piece) draw(c *canvas) {
	if p.tick {
		c.put(p.x, p.token, p.glyph)
		c.put(p.x+1, themes.Text, p.text)
		return
	}
	for i := range p.width {
		c.put(p.x+i, p.token, p.glyph)
	}
	w := safe.Width(p.text)
	switch {
	case p.text == "":
	case p.width >= w+6:
		c.put(p.x+(p.width-w)/2-1, themes.Text, " "+p.text+" ")
	case p.width >= w+2:
		c.put(p.x+(p.width-w)/2, themes.Text, p.text)
	}
}

// labels writes now first, then the instants of the stages where they do not
// overlap: the latest that happened, then all from the oldest.
func (t Timeline) labels(th *themes.Theme, w int, pieces []piece) *canvas {
	c := newCanvas(w)
	if !t.Now.IsZero() && len(pieces) > 0 {
		t.now(th, c, find(pieces, t.Now))
	}
	ticks := make([]piece, 0, len(t.Stages))
	for _, p := range pieces {
		if p.tick {
			ticks = append(ticks, p)
		}
	}
	for i := len(ticks) - 1; i >= 0; i-- {
		if !t.Stages[ticks[i].stage].Planned {
			c.try(ticks[i].x, themes.Dim, t.clock(ticks[i].start))
			break
		}
	}
	for _, p := range ticks {
		c.try(p.x, themes.Dim, t.clock(p.start))
	}
	return c
}

// now writes the marker at x, its text on the side that has room.
func (t Timeline) now(th *themes.Theme, c *canvas, x int) {
	text := "now " + t.clock(t.Now)
	c.put(x, themes.Accent, th.Glyphs.Now)
	switch {
	case x >= len(text)+1:
		c.put(x-len(text)-1, themes.Accent, text)
	case x+2+len(text) <= len(c.cells):
		c.put(x+2, themes.Accent, text)
	}
}

func (t Timeline) clock(at time.Time) string {
	if t.Zone == nil {
		return at.UTC().Format("15:04:05")
	}
	return at.In(t.Zone).Format("15:04:05")
}

// notes writes each stage's note below it and the legend at the right, where
// there is room.
func (t Timeline) notes(th *themes.Theme, l *Line, w int, pieces []piece) *canvas {
	c := newCanvas(w)
	for i, p := range pieces {
		if !p.tick {
			continue
		}
		room := w - p.x - 1
		for _, next := range pieces[i+1:] {
			if next.tick && t.Stages[next.stage].Note != "" {
				room = next.x - p.x - 1
				break
			}
		}
		whole := l.clean(t.Stages[p.stage].Note, false)
		if x := w - 1 - safe.Width(whole); x < p.x+2 && c.try(x, themes.Dim, whole) {
			continue // at the right end it may begin before its tick
		}
		if head, _, more := strings.Cut(whole, ","); more && safe.Width(whole) > room && safe.Width(head) <= room {
			whole = head // a whole word says more than a cut one
		}
		note := safe.CutEnd(whole, room, th.Glyphs.Ellipsis)
		c.try(min(p.x+2, w-safe.Width(note)), themes.Dim, note)
	}
	t.legend(th, c, w)
	return c
}

// legend writes the signs as they look on the axis, each with its word.
func (t Timeline) legend(th *themes.Theme, c *canvas, w int) {
	text := t.Legend(th)
	x := w - safe.Width(text) - 1
	if !c.free(x, safe.Width(text)) {
		return
	}
	c.put(x, themes.Dim, text)
	for _, kind := range t.kinds() {
		how := shapes[kind]
		c.put(x, how.token, how.glyph(th.Glyphs))
		x += safe.Width(how.glyph(th.Glyphs)+" "+how.word) + legendGap
	}
}

// legendGap are the cells between two words of the legend.
const legendGap = 2

// Legend explains the signs that occur.
func (t Timeline) Legend(th *themes.Theme) string {
	var words []string
	for _, kind := range t.kinds() {
		how := shapes[kind]
		words = append(words, how.glyph(th.Glyphs)+" "+how.word)
	}
	return strings.Join(words, strings.Repeat(" ", legendGap))
}

// kinds are the kinds of segments that occur, in their own order.
func (t Timeline) kinds() []SegmentKind {
	var used [segmentKinds]bool
	for _, s := range t.Stages {
		used[Planned] = used[Planned] || s.Planned
		for _, seg := range s.Segments {
			used[seg.Kind] = used[seg.Kind] || seg.Kind == HTTP || seg.End.After(seg.Start)
		}
	}
	var out []SegmentKind
	for kind, ok := range used {
		if ok {
			out = append(out, SegmentKind(kind))
		}
	}
	return out
}

// Fold returns the timeline without an axis, one row for each stage, for
// screens too narrow for it: #2 12:30:46 lim 1.02 s http 0.12 s 503.
func (t Timeline) Fold(th *themes.Theme, w int) []string {
	out := make([]string, 0, len(t.Stages))
	for _, s := range t.Stages {
		out = append(out, t.fold(NewLine(th, w), s))
	}
	return out
}

func (t Timeline) fold(l *Line, s Stage) string {
	token := themes.Text
	if s.Planned {
		token = themes.Off
	}
	l.Gap(1).Cells(As(token, "#"+s.Head)).Gap(1).Cells(As(themes.Dim, t.clock(s.At)))
	for _, seg := range s.Segments {
		how := shapes[seg.Kind]
		if d := max(seg.End.Sub(seg.Start), 0); d > 0 && !waits(seg.Kind) {
			l.Gap(1).Cells(As(how.token, how.short), Plain(" "+human.Secs(d)))
		}
	}
	if s.Result != "" {
		sign := l.th.State(s.Result)
		l.Gap(1).Glyph(sign.Token, sign.Glyph, 1)
	}
	if s.Note != "" {
		l.Gap(1).Put(themes.Text, s.Note)
	}
	for _, seg := range s.Segments {
		if waits(seg.Kind) {
			l.Gap(1).Cells(As(shapes[seg.Kind].token, l.th.Glyphs.Next+" "+pause(seg)))
		}
	}
	return l.String()
}

// waits reports whether a segment is the pause before the next try.
func waits(k SegmentKind) bool { return k == Backoff || k == Snoozed || k == Planned }

// pause names a wait by its text, else by its length.
func pause(seg Segment) string {
	if seg.Text != "" {
		return seg.Text
	}
	return "+" + human.Secs(seg.End.Sub(seg.Start))
}
