package page

import (
	"strings"
	"time"

	"github.com/farsight-console/farsight/engine"
	"github.com/farsight-console/farsight/themes"
	"github.com/farsight-console/farsight/ui/part"
)

// stripSpan is how far back the strips go: as far as the engine remembers.
const stripSpan = 10 * time.Minute

// strips are how full each window was in the last minutes: a chart per bucket, on
// wide screens. The engine's own record is asked for once; from then on the page
// adds what it sees.
type strips struct {
	answer
	seen []engine.LimitsRow // one a second, the oldest first

	made stripRecipe
	rows []string
}

// stripRecipe names the versions of what the strips were drawn of.
type stripRecipe struct {
	theme   *themes.Theme
	edge    instant
	now     instant // of a frozen view
	seen    int
	calls   uint64
	w, h    int
	top     int
	buckets int
}

// want asks for the engine's record, again after a stretch in which the page was not
// on the screen.
func (s *strips) want(v *View) engine.Query {
	if v.Size != L || v.Frozen {
		return nil
	}
	if n := len(s.seen); n > 0 && v.Limits.At.Sub(s.seen[n-1].At) > 5*time.Second {
		s.forget()
	}
	if !s.due(v, v.Restarts) {
		return nil
	}
	return engine.MomentsQuery{From: v.Now.Add(-stripSpan), To: v.Now}
}

// take puts the engine's record before what the page has seen.
func (s *strips) take(v *View, a engine.Answer, err error) {
	if !s.answer.take(v, err) {
		return
	}
	got, _ := a.(engine.MomentsAnswer)
	var all []engine.LimitsRow
	for i := range got.Moments {
		m := &got.Moments[i]
		all = append(all, engine.LimitsRow{At: m.At, Buckets: m.Limits.Buckets})
	}
	for _, own := range s.seen {
		if n := len(all); n == 0 || own.At.After(all[n-1].At) {
			all = append(all, own)
		}
	}
	s.seen = all
}

// see adds how the limits stand, at most once a second. A screen on which nothing
// moves is never drawn for the strips alone.
func (s *strips) see(v *View) {
	n := len(s.seen)
	if v.Frozen || v.Limits.At.IsZero() || n > 0 && v.Limits.At.Sub(s.seen[n-1].At) < time.Second {
		return
	}
	s.seen = append(s.seen, engine.LimitsRow{At: v.Limits.At, Buckets: v.Limits.Buckets})
	old := 0
	for old < n && v.Limits.At.Sub(s.seen[old].At) > stripSpan+time.Minute {
		old++
	}
	s.seen = s.seen[old:]
}

// edge is the instant of the right end.
func (s *strips) edge() instant {
	if n := len(s.seen); n > 0 {
		return s.seen[n-1].At
	}
	return instant{}
}

// panel draws the strips of the buckets from top on, each in the row beside its
// bucket: w x h cells with the axis.
func (s *strips) panel(v *View, buckets []engine.BucketRow, top, w, h int) part.Section {
	p := part.Section{Title: "FILL, LAST 10 MIN", Height: h}
	if len(s.seen) == 0 || w < 20 {
		p.Rows = []string{v.row(w, part.As(themes.Dim, " "+or(v.waiting(), "nothing is recorded yet")))}
		return p
	}
	held, hit := v.Theme.State("PAUSED").Glyph, v.Theme.State("FAILED").Glyph
	p.Tail = held + " held  " + hit + " 429"
	made := stripRecipe{theme: v.Theme, edge: s.edge(), seen: len(s.seen), calls: lastSeq(v.Calls), w: w, h: h, top: top, buckets: len(buckets)}
	if v.Frozen {
		made.now = v.Now
	}
	if made != s.made {
		s.made, s.rows = made, s.draw(v, buckets[min(top, len(buckets)):], w, h)
	}
	p.Rows = s.rows
	return p
}

func (s *strips) draw(v *View, buckets []engine.BucketRow, w, h int) []string {
	columns := w - 2
	bin := stripSpan / time.Duration(columns)
	// The columns end at multiples of their span, so that they move by one at a time.
	end := s.edge().Truncate(bin).Add(bin)
	rows := []string{s.axis(v, columns, bin, end)}
	l := part.NewLine(v.Theme, w)
	for _, b := range buckets[:min(len(buckets), max(h-1, 0))] {
		l.Reset(w, false)
		l.Gap(1)
		for _, c := range s.cells(v, b, columns, bin, end) {
			c.draw(v, l)
		}
		rows = append(rows, l.String())
	}
	return rows
}

// axis is the scale of the strips; on a frozen view it shows where the time cursor
// stands.
func (s *strips) axis(v *View, columns int, bin time.Duration, end instant) string {
	l := part.NewLine(v.Theme, columns+2).Gap(1)
	at := -1
	if v.Frozen {
		at = columns - 1 - int(end.Sub(v.Now)/bin)
	}
	marks := []struct {
		col  int
		text string
	}{{0, "-10m"}, {columns / 2, "-5m"}, {columns - 3, "now"}}
	for _, m := range marks {
		if at >= 0 && at >= m.col-1 && at <= m.col+len(m.text) {
			continue // the cursor stands here
		}
		if at >= 0 && at < m.col && l.At() <= 1+at {
			l.To(1+at).Glyph(themes.Focus, v.Theme.Glyphs.Now, 1)
		}
		l.To(1 + m.col).Cells(part.As(themes.Dim, m.text))
	}
	if at >= 0 && at < columns && l.At() <= 1+at {
		l.To(1+at).Glyph(themes.Focus, v.Theme.Glyphs.Now, 1)
	}
	return l.String()
}

// stripCell is a column of a strip: the fullest that the window was, and whether it
// was held or refused.
type stripCell struct {
	known, held, hit bool
	ratio            float64
}

func (c stripCell) draw(v *View, l *part.Line) {
	g := v.Theme.Glyphs
	token := themes.Run
	switch {
	case c.ratio >= 1:
		token = themes.Err
	case c.ratio >= nearlyFull:
		token = themes.Warn
	}
	switch {
	case c.hit:
		l.Glyph(themes.Err, v.Theme.State("FAILED").Glyph, 1)
	case c.held:
		l.Glyph(themes.Held, v.Theme.State("PAUSED").Glyph, 1)
	case !c.known:
		l.Gap(1)
	case c.ratio <= 0:
		l.Glyph(themes.Hairline, g.BarNone, 1)
	default:
		// Never the whole cell: the strips of two windows stand in rows below one another.
		l.Glyph(token, g.Spark[clamp(int(c.ratio*float64(len(g.Spark))), 0, len(g.Spark)-2)], 1)
	}
}

// cells are the columns of one bucket.
func (s *strips) cells(v *View, b engine.BucketRow, columns int, bin time.Duration, end instant) []stripCell {
	cells := make([]stripCell, columns)
	column := func(at instant) int { return columns - 1 - int(end.Sub(at)/bin) }
	hint := 0
	for i := range s.seen {
		n := column(s.seen[i].At)
		if n < 0 || n >= columns {
			continue
		}
		was, at, ok := sameBucket(s.seen[i].Buckets, b, hint)
		if !ok {
			continue
		}
		hint = at
		c := &cells[n]
		c.known, c.ratio = true, max(c.ratio, ratio(*was))
		c.held = c.held || was.Frozen() || was.Blocked.After(s.seen[i].At)
	}
	for i := len(v.Calls) - 1; i >= 0 && end.Sub(v.Calls[i].At) <= stripSpan; i-- {
		if c := &v.Calls[i]; c.Status == 429 && hits(c, b) {
			if n := column(c.At); n >= 0 && n < columns {
				cells[n].hit = true
			}
		}
	}
	return cells
}

// sameBucket finds a bucket among others, first where it stood last time.
func sameBucket(rows []engine.BucketRow, b engine.BucketRow, hint int) (*engine.BucketRow, int, bool) {
	same := func(r *engine.BucketRow) bool {
		return r.Window == b.Window && r.Kind == b.Kind && r.Method == b.Method && r.Host == b.Host
	}
	if hint < len(rows) && same(&rows[hint]) {
		return &rows[hint], hint, true
	}
	for i := range rows {
		if same(&rows[i]) {
			return &rows[i], i, true
		}
	}
	return nil, 0, false
}

// hits reports whether a 429 was of a bucket: its kind is in the class of the call.
func hits(c *engine.CallRow, b engine.BucketRow) bool {
	kind := strings.TrimPrefix(string(c.Class), "429.")
	return c.Host == b.Host && kind == b.Kind && (kind == "app" || c.Method == b.Method)
}
