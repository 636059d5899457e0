package page

import (
	"cmp"
	"slices"
	"time"

	"github.com/farsight-console/farsight/engine"
	"github.com/farsight-console/farsight/engine/columns"
	"github.com/farsight-console/farsight/engine/human"
	"github.com/farsight-console/farsight/themes"
	"github.com/farsight-console/farsight/ui/part"
)

// trafficBin is the time of one column of the charts of calls.
const trafficBin = 10 * time.Second

// kinds of answers that the charts tell apart.
var trafficKinds = [...]struct {
	name  string
	token themes.Token
	of    func(c *engine.CallRow) bool
}{
	{"calls", themes.Run, func(*engine.CallRow) bool { return true }},
	{"429", themes.Warn, func(c *engine.CallRow) bool { return c.Status == 429 }},
	{"failed", themes.Err, failedCall},
}

// failedCall is an answer that is neither good nor a matter of limits.
func failedCall(c *engine.CallRow) bool { return c.Status != 200 && c.Status != 429 }

// trafficPanel is the flight recorder as small multiples with one scale: all
// calls, the 429s, the failures.
func trafficPanel(v *View, calls []engine.CallRow, w, h int) part.Section {
	columns := max(w-multipleName-2, 1)
	counts, high := traffic(v, calls, columns)
	p := part.Section{Title: "TRAFFIC", Tail: trafficTail(v, calls), Height: h}
	tall := h / len(trafficKinds)
	if len(calls) == 0 || tall < 1 {
		p.Tail = ""
		p.Rows = []string{v.row(w, part.As(themes.Dim, "   "+or(v.waiting(), "no call yet")))}
		return p
	}
	charts := make([]multiple, len(trafficKinds))
	for i, kind := range trafficKinds {
		charts[i] = multiple{kind.name, kind.token, counts[i]}
	}
	p.Rows = multiples(v, columns, tall, high, charts)
	return p
}

// traffic counts the calls of each kind by time, the newest last, and gives the
// greatest count.
func traffic(v *View, calls []engine.CallRow, columns int) (counts [len(trafficKinds)][]float64, high float64) {
	for i := range counts {
		counts[i] = make([]float64, columns)
	}
	end, _ := chartEnd(v.Now, calls)
	for i := len(calls) - 1; i >= 0; i-- {
		c := &calls[i]
		at := columns - 1 - int(end.Sub(c.At)/trafficBin)
		if at < 0 {
			break
		}
		if at >= columns {
			continue
		}
		for k := range trafficKinds {
			if trafficKinds[k].of(c) {
				counts[k][at]++
			}
		}
		high = max(high, counts[0][at])
	}
	return counts, high
}

// chartEnd is where a chart of calls ends, in whole columns: now, or a minute after the
// last call. From then on it stands still, as an idle screen does.
func chartEnd(now time.Time, calls []engine.CallRow) (end time.Time, still bool) {
	if len(calls) > 0 {
		if last := calls[len(calls)-1].At.Add(time.Minute); now.After(last) {
			now, still = last, true
		}
	}
	return now.Truncate(trafficBin).Add(trafficBin), still
}

// trafficTail says how to read the charts.
func trafficTail(v *View, calls []engine.CallRow) string {
	if end, still := chartEnd(v.Now, calls); still {
		return "calls per 10 s, until " + end.In(v.Now.Location()).Format("15:04")
	}
	return "calls per 10 s, one scale"
}

// methodCount is how the calls of one method were answered.
type methodCount struct {
	name                  string
	calls, throttled, bad int
	took                  []time.Duration
}

// answersPanel says how each method's calls were answered, and below that shows
// every call as one sign, old to new.
func answersPanel(v *View, calls []engine.CallRow, w, h int) part.Section {
	p := part.Section{Title: "ANSWERS", Tail: human.Counted(len(calls), "call", "calls"), Height: h}
	if len(calls) == 0 {
		p.Tail = ""
		p.Rows = []string{v.row(w, part.As(themes.Dim, "   "+or(v.waiting(), "no call yet")))}
		return p
	}
	methods := countMethods(calls)
	name := clamp(w-42, 12, 24)
	head := part.NewLine(v.Theme, w).Gap(1 + name)
	for _, t := range []string{"calls", "429", "failed", "median"} {
		head.Field(part.As(themes.Dim, t), 9, part.Number)
	}
	p.Rows = append(p.Rows, head.String())
	for _, m := range methods[:min(len(methods), max(h-1, 0))] {
		l := part.NewLine(v.Theme, w).Gap(1).Field(part.Plain(columns.Versionless(m.name)), name, part.Words)
		l.Field(number(themes.Text, m.calls), 9, part.Number).Field(number(themes.Warn, m.throttled), 9, part.Number)
		l.Field(number(themes.Err, m.bad), 9, part.Number)
		l.Field(part.As(themes.Dim, human.Millis(m.median())), 9, part.Number)
		p.Rows = append(p.Rows, l.String())
	}
	if rest := h - len(p.Rows) - 2; rest > 0 {
		p.Rows = append(p.Rows, "", wallLegend(v, w))
		p.Rows = append(p.Rows, callWall(v, calls, w, rest)...)
	}
	return p
}

func (m *methodCount) median() time.Duration {
	if len(m.took) == 0 {
		return 0
	}
	slices.Sort(m.took)
	return m.took[len(m.took)/2]
}

// medianOf is how many of a method's calls its median is taken from.
const medianOf = 200

// countMethods counts the calls of each method, the most used first.
func countMethods(calls []engine.CallRow) []methodCount {
	var out []methodCount
	for i := len(calls) - 1; i >= 0; i-- {
		c := &calls[i]
		at := slices.IndexFunc(out, func(m methodCount) bool { return m.name == c.Method })
		if at < 0 {
			at = len(out)
			out = append(out, methodCount{name: c.Method})
		}
		m := &out[at]
		m.calls++
		switch {
		case c.Status == 429:
			m.throttled++
		case failedCall(c):
			m.bad++
		}
		if len(m.took) < medianOf {
			m.took = append(m.took, c.Took)
		}
	}
	slices.SortStableFunc(out, func(a, b methodCount) int { return cmp.Or(cmp.Compare(b.calls, a.calls), cmp.Compare(a.name, b.name)) })
	return out
}

// callSigns are the state words whose signs stand for calls on the wall.
func callSign(v *View, c *engine.CallRow) themes.State {
	switch {
	case c.Status == 200:
		return v.Theme.State("OK")
	case c.Status == 429:
		return v.Theme.State("HELD")
	}
	return v.Theme.State("FAILED")
}

// wallLegend explains the signs of the wall.
func wallLegend(v *View, w int) string {
	cells := []part.Cell{part.As(themes.Dim, "old to new")}
	for _, s := range []struct{ word, name string }{{"OK", "200"}, {"HELD", "429"}, {"FAILED", "failed"}} {
		sign := v.Theme.State(s.word)
		cells = append(cells, part.As(sign.Token, sign.Glyph+" "+s.name))
	}
	return spaced(v, w, cells)
}

// callWall draws one sign for each call, old to new. A row begins at a multiple
// of its length, so that a new call changes one cell and not all of them.
func callWall(v *View, calls []engine.CallRow, w, h int) []string {
	cells := max(w-2, 1)
	place := func(seq uint64) int { return max(int(seq)-1, 0) } // the first call has the number 1
	last := place(lastSeq(calls))
	first := max((last/cells-h+1)*cells, place(calls[0].Seq))
	rows := make([]string, 0, h)
	l := part.NewLine(v.Theme, w)
	i := sliceFrom(calls, first+1)
	for row := first / cells; row <= last/cells && len(rows) < h; row++ {
		l.Reset(w, false)
		for ; i < len(calls) && place(calls[i].Seq) < (row+1)*cells; i++ {
			sign := callSign(v, &calls[i])
			l.To(1+place(calls[i].Seq)-row*cells).Glyph(sign.Token, sign.Glyph, 1)
		}
		rows = append(rows, l.String())
	}
	return rows
}

// sliceFrom is the index of the first call with at least that sequence.
func sliceFrom(calls []engine.CallRow, seq int) int {
	i, _ := slices.BinarySearchFunc(calls, seq, func(c engine.CallRow, seq int) int { return cmp.Compare(int(c.Seq), seq) })
	return i
}
