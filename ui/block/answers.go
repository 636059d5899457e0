package block

import (
	"cmp"
	"slices"
	"time"

	"github.com/farsight-console/farsight/engine"
	"github.com/farsight-console/farsight/engine/columns"
	"github.com/farsight-console/farsight/engine/human"
	"github.com/farsight-console/farsight/themes"
	"github.com/farsight-console/farsight/ui/page"
	"github.com/farsight-console/farsight/ui/part"
)

// methodCount is how Riot answered the calls of one method. throttled counts 429s alone; bad counts
// other failures, so that no call is in both.
type methodCount struct {
	name                  string
	calls, throttled, bad int
	took                  []time.Duration
}

// AnswersBlock is a table of methods with how their calls were answered: the number of calls, of
// 429s, of other failures, and the median time in ms. It has one row for its heads, so that a block
// of h rows shows h-1 methods.
func AnswersBlock(v *page.View, calls []engine.CallRow, w, h int) part.Section {
	p := part.Section{Title: "ANSWERS", Note: human.Counted(len(calls), "call", "calls"), Height: h}
	if len(calls) == 0 {
		p.Note = ""
		p.Rows = []string{v.Row(w, part.As(themes.Dim, " "+cmp.Or(v.Waiting(), "no call yet")))}
		return p
	}
	const figures, failed, median = 6, 7, 9
	// The name takes what the four columns of numbers leave, but never less than can be read.
	name := max(w-2-2*figures-failed-median, 8)
	head := part.NewLine(v.Theme, w).Gap(1+name).Field(part.As(themes.Dim, "calls"), figures, part.Number)
	head.Field(part.As(themes.Dim, "429"), figures, part.Number)
	head.Field(part.As(themes.Dim, "failed"), failed, part.Number)
	head.Field(part.As(themes.Dim, "median"), median, part.Number)
	p.Rows = append(p.Rows, head.String())
	methods := countMethods(calls)
	for _, m := range methods[:min(len(methods), max(h-1, 0))] {
		l := part.NewLine(v.Theme, w).Gap(1).Field(part.Plain(columns.Versionless(m.name)), name, part.Words)
		l.Field(page.Number(themes.Text, m.calls), figures, part.Number)
		l.Field(page.Number(themes.Warn, m.throttled), figures, part.Number)
		l.Field(page.Number(themes.Err, m.bad), failed, part.Number)
		l.Field(part.As(themes.Dim, human.Millis(m.median())), median, part.Number)
		p.Rows = append(p.Rows, l.String())
	}
	return p
}

// median sorts took in place: nobody needs its order any more. 0 = no call was answered.
func (m *methodCount) median() time.Duration {
	if len(m.took) == 0 {
		return 0
	}
	slices.Sort(m.took)
	return m.took[len(m.took)/2]
}

// medianOf is how many of a method's newest calls its median is taken from. It is to tell how Riot
// answers now, so older calls of a busy method do not count.
const medianOf = 200

// countMethods counts the calls of each method, and puts the most used method first, those that are
// used alike by name. It goes from the newest call back, since the first medianOf calls that it
// meets are those of the median. There are some twenty methods at most, so a search through the
// list is enough.
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
		case page.FailedCall(c):
			m.bad++
		}
		if len(m.took) < medianOf {
			m.took = append(m.took, c.Took)
		}
	}
	slices.SortStableFunc(out, func(a, b methodCount) int {
		return cmp.Or(cmp.Compare(b.calls, a.calls), cmp.Compare(a.name, b.name))
	})
	return out
}
