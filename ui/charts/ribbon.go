package charts

import (
	"cmp"
	"math"
	"strings"
	"time"

	"github.com/farsight-console/farsight/engine"
	"github.com/farsight-console/farsight/engine/columns"
	"github.com/farsight-console/farsight/engine/human"
	"github.com/farsight-console/farsight/themes"
	"github.com/farsight-console/farsight/ui/page"
	"github.com/farsight-console/farsight/ui/part"
)

// Ribbon draws the last w calls, a cell for each and the newest at the right. Its h rows are as
// high as the answer took long. With waits there is a row below that marks the calls which the
// limiter held back for longer than longWait.
func Ribbon(v *page.View, calls []engine.CallRow, w, h int, waits bool) []string {
	calls = calls[max(len(calls)-w, 0):]
	rows := h
	if waits {
		rows++
	}
	c := part.NewChart(v.Theme, part.Axis{Step: time.Second, Back: w, Width: w}, rows)
	high := ribbonHigh(calls)
	good, held, bad := make([]float64, w), make([]float64, w), make([]float64, w)
	for i := range calls {
		call, x := &calls[i], w-len(calls)+i
		// Every call is drawn at least an eighth of a cell high, or one that took no time would be
		// missing.
		took := max(float64(call.Took), high/float64(8*h))
		switch {
		case page.FailedCall(call):
			bad[x] = took
		case call.Status == 429:
			held[x] = took
		default:
			good[x] = took
		}
	}
	// Three series, since each has one colour; a cell is in one of them only.
	c.Area(0, h, part.Series{Values: good, Top: high})
	c.Area(0, h, part.Series{Values: held, Top: high, Token: themes.Warn})
	c.Area(0, h, part.Series{Values: bad, Top: high, Token: themes.Err})
	for x := range w {
		token := human.Either(bad[x] > 0, themes.Err, themes.Warn)
		// The sign stands in the top row, where no answer of usual length reaches.
		if sign := ribbonSign(v, held[x], bad[x]); sign != "" {
			c.Sign(0, x, token, sign)
		}
	}
	if waits {
		for i := range calls {
			if paced := calls[i].Paced; paced > longWait {
				c.Sign(h, w-len(calls)+i, themes.Warn, v.Theme.Glyphs.Above)
			}
		}
	}
	return c.View()
}

// longWait is how long the limiter must hold a call back for the ribbon to mark it.
const longWait = 500 * time.Millisecond

// WaitedLong is what that mark means.
const WaitedLong = "our limiter held it over 0.5 s"

// ribbonSign marks what went wrong, so that it is seen without colour too.
func ribbonSign(v *page.View, held, bad float64) string {
	switch {
	case bad > 0:
		return v.Theme.State("FAILED").Glyph
	case held > 0:
		return v.Theme.State("WARN").Glyph
	}
	return ""
}

// ribbonHigh is the top of the ribbon's scale in nanoseconds: half as much again as the mean of the
// good answers. It goes up in steps of √2, so that it seldom changes.
func ribbonHigh(calls []engine.CallRow) float64 {
	// Only good answers count: a timeout takes its whole limit, and would flatten the others.
	sum, n := 0.0, 0
	for i := range calls {
		if calls[i].Status == 200 {
			sum, n = sum+float64(calls[i].Took), n+1
		}
	}
	high := float64(10 * time.Millisecond)
	for n > 0 && high < 1.5*sum/float64(n) {
		high *= math.Sqrt2
	}
	return high
}

// CallColumns are the newest calls in up to three columns, in so many rows. They are read row by
// row: the newest call is the first of the first row. calls has the oldest first.
func CallColumns(v *page.View, calls []engine.CallRow, w, rows int) []string {
	across := callsAcross(w)
	wide := (w - 2 + callGap) / across
	out := make([]string, 0, rows)
	l := part.NewLine(v.Theme, w)
	for y := range rows {
		l.Reset(w, false)
		// Older rows step back, so that the newest call catches the eye.
		l.On(themes.Fade(0.2 * float64(y)))
		for x := range across {
			if i := len(calls) - 1 - y*across - x; i >= 0 {
				callCells(v, l.To(1+x*wide), &calls[i], wide-callGap)
			}
		}
		out = append(out, l.String())
	}
	if len(calls) == 0 && rows > 0 {
		out[0] = v.Row(w, part.As(themes.Dim, " "+cmp.Or(v.Waiting(), v.Start("no call yet", "{sync} starts a sync"))))
	}
	return out
}

// CallsInPlace are calls on lines of a screen, each on its own until another takes it.
type CallsInPlace struct {
	On   []engine.CallRow
	at   time.Time
	next int // the line that the next call takes
}

// newCalls is how many calls a second take a line: more could not be read, and each changes half a line. Where they
// were more the last of them come in the seconds after, which is not waited for after awayLong.
const (
	newCalls = 2
	awayLong = 5 * time.Second
)

// take lets new calls have the lines of the oldest, first those that failed.
// There are as many lines as calls.
func (c *CallsInPlace) take(v *page.View, calls []engine.CallRow) {
	const half = time.Second / 2
	since := v.Now.Sub(c.at)
	switch {
	case v.Frozen || since < 0 || since > awayLong:
		c.On = nil
	case since < time.Second:
		since = 0
	}
	if since != 0 { // half a second beside the list: no step moves both
		c.at = v.Now.Add(half).Truncate(time.Second).Add(-half)
	}
	if n := len(c.On) - len(calls); n != 0 { // the last line stays the last
		c.On, c.next = c.On[max(n, 0):], 0
	}
	for i := len(calls) - 1; i >= 0 && len(c.On) < len(calls); i-- {
		if !among(c.On, &calls[i]) {
			c.On = append([]engine.CallRow{calls[i]}, c.On...)
		}
	}
	for n := 0; since > 0 && n < newCalls; n++ {
		next := -1
		for i := range calls {
			if o := &calls[i]; !among(c.On, o) && (next < 0 || page.FailedCall(o) || !page.FailedCall(&calls[next])) {
				next = i
			}
		}
		if next >= 0 {
			c.On[c.next%len(c.On)] = calls[next]
			c.next++
		}
	}
}

// among reports whether a call is one of others.
func among(calls []engine.CallRow, o *engine.CallRow) bool {
	for i := range calls {
		if c := &calls[i]; c.Seq == o.Seq && c.At.Equal(o.At) {
			return true
		}
	}
	return false
}

// Draw gives so many rows, of at least as many calls, the oldest first.
func (c *CallsInPlace) Draw(v *page.View, calls []engine.CallRow, w, rows int) []string {
	c.take(v, calls[len(calls)-rows:])
	newest := 0
	for i := range c.On {
		if !c.On[i].At.Before(c.On[newest].At) {
			newest = i
		}
	}
	out, l := make([]string, rows), part.NewLine(v.Theme, w)
	for i := range c.On {
		l.Reset(w, false)
		l.Cells(part.As(themes.Accent, human.If(i == newest, v.Theme.Glyphs.Crumb)))
		callCells(v, l.To(1), &c.On[i], w-2)
		out[i] = l.String()
	}
	return out
}

// callsAcross is how many calls in words stand beside each other on w cells, and CallLines how many rows so many
// take, or the word that there are none.
func callsAcross(w int) int  { return page.Clamp((w-2)/callWide, 1, 3) }
func CallLines(n, w int) int { return (max(n, 1) + callsAcross(w) - 1) / callsAcross(w) }

// callWide is how many cells a call takes at least, and callGap how many part two columns.
const callWide, callGap = 56, 4

// callCells write one call in w cells: when it was made, its answer, what was asked for, how long
// Riot took, and how long it had waited for the limiter.
//
//	12:31:02.4  200    match    KR_7214550881          118 ms  1.06 s
func callCells(v *page.View, l *part.Line, c *engine.CallRow, w int) {
	status, cells := columns.StatusCell(c), page.Clamp(w-52, 4, 7)
	if len(status.Text) > cells { // timeout, network: there was no answer
		status.Text = "none"
	}
	l.Field(part.As(themes.Dim, c.At.In(v.Now.Location()).Format("15:04:05.0")), 10, part.Words).Gap(2)
	l.Field(status, cells, part.Words).Gap(1)
	l.Field(part.Plain(engine.MethodWord(c.Method)), 8, part.Words).Gap(1)
	l.Field(Wanted(v, c), w-37-cells, part.ID)
	l.Field(part.Plain(human.Millis(c.Took)), 7, part.Number)
	wait := human.If(c.Paced > 0, human.Secs(c.Paced))
	l.Field(part.As(themes.Dim, wait), 8, part.Number)
}

// Median is how long half of the answers took at most, with its age if it is an old reading: "118
// ms median, 2 min ago"; "" = there was no answer yet.
func Median(v *page.View) string {
	e := &v.Engine
	if e.P50 <= 0 {
		return ""
	}
	text := human.Millis(e.P50) + " median"
	if age := engine.OldReading(e.Answered, v.Now).Truncate(time.Minute); age > 0 {
		text += ", " + human.Ago(age)
	}
	return text
}

// Wanted is what a call asked for. A list of matches is asked for by an id that says nothing: it has the name of whose
// it is, where that is known, and from which match on.
func Wanted(v *page.View, c *engine.CallRow) part.Cell {
	_, from, list := strings.Cut(c.Target, "… +")
	if a, known := v.Account(c.Owner); list && known {
		return part.Plain(PlayerName(a.RiotID) + human.If(from != "0", " from "+from))
	}
	return part.Plain(page.BriefTarget(c.Target))
}
