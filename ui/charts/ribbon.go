package charts

import (
	"math"
	"time"

	"github.com/farsight-console/farsight/engine"
	"github.com/farsight-console/farsight/engine/columns"
	"github.com/farsight-console/farsight/engine/human"
	"github.com/farsight-console/farsight/themes"
	"github.com/farsight-console/farsight/ui/page"
	"github.com/farsight-console/farsight/ui/part"
)

// Ribbon draws the last w calls, the newest at the right: h rows whose height is what the
// answer took, with waits a row below for what the limiter held back long.
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
	c.Area(0, h, part.Series{Values: good, Top: high})
	c.Area(0, h, part.Series{Values: held, Top: high, Token: themes.Warn})
	c.Area(0, h, part.Series{Values: bad, Top: high, Token: themes.Err})
	for x := range w {
		token := themes.Warn
		if bad[x] > 0 {
			token = themes.Err
		}
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

// longWait is a wait for the limiter that the ribbon marks.
const longWait = 500 * time.Millisecond

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

// ribbonHigh is the top of the scale: above nearly all of the answers, and one of few, so
// that it stays where it is.
func ribbonHigh(calls []engine.CallRow) float64 {
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

// CallColumns are the newest calls in columns side by side, so many rows of them: the first
// row has the newest ones.
func CallColumns(v *page.View, calls []engine.CallRow, w, rows int) []string {
	across := page.Clamp((w-2)/callWide, 1, 3)
	wide := (w - 2 + callGap) / across
	out := make([]string, 0, rows)
	l := part.NewLine(v.Theme, w)
	for y := range rows {
		l.Reset(w, false)
		l.On(themes.Fade(0.2 * float64(y)))
		for x := range across {
			if i := len(calls) - 1 - y*across - x; i >= 0 {
				callCells(v, l.To(1+x*wide), &calls[i], wide-callGap)
			}
		}
		out = append(out, l.String())
	}
	if len(calls) == 0 && rows > 0 {
		out[0] = v.Row(w, part.As(themes.Dim, " "+page.Or(v.Waiting(), v.Start("no call yet", "{sync} starts a sync"))))
	}
	return out
}

// callWide is what a call takes at least, callGap what parts two of them.
const callWide, callGap = 56, 4

// callCells write one call: when, how it was answered, what was asked for, what Riot took
// and what it had waited for the limiter.
func callCells(v *page.View, l *part.Line, c *engine.CallRow, w int) {
	status, cells := columns.StatusCell(c), page.Clamp(w-52, 4, 7)
	if len(status.Text) > cells { // timeout, network: there was no answer
		status.Text = "none"
	}
	l.Field(part.As(themes.Dim, c.At.In(v.Now.Location()).Format("15:04:05.0")), 10, part.Words).Gap(2)
	l.Field(status, cells, part.Words).Gap(1)
	l.Field(part.Plain(page.MethodWord(c.Method)), 8, part.Words).Gap(1)
	l.Field(part.Plain(page.BriefTarget(c.Target)), w-37-cells, part.ID)
	l.Field(part.Plain(human.Millis(c.Took)), 7, part.Number)
	wait := ""
	if c.Paced > 0 {
		wait = human.Secs(c.Paced)
	}
	l.Field(part.As(themes.Dim, wait), 8, part.Number)
}

// Median is the answer time of most calls, for the tail of the ribbon.
func Median(v *page.View) string {
	e := &v.Engine
	if e.P50 <= 0 {
		return ""
	}
	text := human.Millis(e.P50) + " median"
	if age := engine.OldReading(e.Answered.Truncate(time.Minute), v.Now.Truncate(time.Minute)); age > 0 {
		text += ", " + human.Ago(age)
	}
	return text
}
