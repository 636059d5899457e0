package part

import (
	"flag"
	"math"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/farsight-console/farsight/themes"
)

var update = flag.Bool("update", false, "write the golden files")

// TestPastShowsALittle: a little is never nothing, all is the full height, and
// every row has its width.
func TestPastShowsALittle(t *testing.T) {
	of := func(th *themes.Theme, h int, high float64, values ...float64) []string {
		c := PastChart(th, len(values), h)
		c.Area(0, h, Series{Values: values, Top: high, Token: themes.Run})
		return c.View()
	}
	ascii := themes.NewMono(themes.Plain)
	for _, c := range []struct{ got, want string }{
		{plain(of(mono, 2, 100, 0, 1, 50, 100)...), "   █\n▁▁██"},
		{plain(of(mono, 1, 8, 0, 1, 2, 3, 4, 5, 6, 7, 8)...), "▁▁▂▃▄▅▆▇█"},
		{plain(of(ascii, 1, 10, 0, 5, 9, 10)...), "_=*#"},
	} {
		if c.got != c.want {
			t.Errorf("got\n%s\nwant\n%s", c.got, c.want)
		}
	}
	for _, values := range [][]float64{nil, {math.NaN(), -1}, {math.Inf(1), 3}} {
		for _, row := range of(mono, 3, 3, values...) {
			if err := checkRow(mono, row, len(values)); err != nil {
				t.Error(err)
			}
		}
	}
}

// timetable is a chart with everything on it: a minute back and two ahead in steps of
// 2.4 s, windows of 12 s, a hole after a 429, a lane, signs and words.
func timetable(th *themes.Theme, now time.Time) *Chart {
	a := NewAxis(now, 2400*time.Millisecond, 25, 75)
	c := NewChart(th, a, 7)
	reset := now.Add(2 * time.Second)
	values, lane := make([]float64, a.Width), make([]float64, a.Width)
	for x := range values {
		values[x], lane[x] = 20, 10
		switch {
		case x == 15:
			values[x], lane[x] = 1, 1
		case x < 2, x > 66:
			values[x], lane[x] = math.NaN(), 0
		case x == 66:
			values[x] = 4
		case x > 30:
			lane[x] = 20
		}
	}
	c.Words(0)
	c.Area(1, 4, Series{Values: values, Top: 25, Odd: func(x int) bool { return windowOf(a, x, reset, 12*time.Second)%2 != 0 }})
	c.Area(5, 1, Series{Values: lane, Top: 20})
	c.Sign(5, 68, themes.OK, th.State("STORED").Glyph)
	c.Try(5, 70, themes.Text, "15:37")
	for _, x := range []int{3, 9, 21} {
		c.Sign(6, x, themes.Err, th.State("FAILED").Glyph)
	}
	c.Run(6, a.Back+1, a.Back+8, themes.Planned(themes.Retry), th.Glyphs.Ahead)
	c.Sign(6, a.Back+8, themes.Retry, th.State("RETRYABLE").Glyph)
	c.Seam(1, 6)
	return c
}

// TestGoldenChart holds the chart in every look: its text, and its colours as they are
// sent.
func TestGoldenChart(t *testing.T) {
	now := time.Date(2026, 11, 22, 15, 35, 18, 0, time.UTC)
	for name, th := range looks() {
		rows := timetable(th, now).View()
		for _, row := range rows {
			if err := checkRow(th, row, 75); err != nil {
				t.Errorf("%s: %v", name, err)
			}
		}
		got := plain(rows...) + "\n\n" + strings.ReplaceAll(strings.Join(rows, "\n"), "\x1b", "") + "\n"
		path := filepath.Join("testdata", "chart-"+strings.ReplaceAll(name, " ", "-")+".golden")
		if *update {
			if err := os.WriteFile(path, []byte(got), 0o644); err != nil {
				t.Fatal(err)
			}
		}
		want, err := os.ReadFile(path)
		if err != nil || got != string(want) {
			t.Errorf("%s differs from %s (%v): got\n%s", name, path, err, got)
		}
	}
}

// TestTheAxisMovesByWholeCells: within a step nothing moves; after it everything has
// moved by one cell, and windows keep their stripe when the next of them begins.
func TestTheAxisMovesByWholeCells(t *testing.T) {
	start := time.Date(2026, 11, 22, 15, 35, 18, 0, time.UTC).Truncate(2400 * time.Millisecond)
	at := start.Add(40 * time.Second)
	first := NewAxis(start, 2400*time.Millisecond, 25, 75)
	cell := first.At(at)
	if first.Start(first.Back) != start || first.At(start) != first.Back {
		t.Errorf("now is in cell %d, which begins at %v", first.At(start), first.Start(first.Back))
	}
	for ms := 100; ms < 2400; ms += 100 {
		if a := NewAxis(start.Add(time.Duration(ms)*time.Millisecond), first.Step, first.Back, first.Width); a != first {
			t.Fatalf("moved after %d ms", ms)
		}
	}
	reset, every := start.Add(5*time.Second), 12*time.Second
	window := windowOf(first, cell, reset, every)
	for n := 1; n < 15; n++ {
		a := NewAxis(start.Add(time.Duration(n)*first.Step), first.Step, first.Back, first.Width)
		if got := a.At(at); got != cell-n {
			t.Errorf("after %d steps it is in cell %d, was in %d", n, got, cell)
		}
		if a.Now.After(reset) {
			reset = reset.Add(every)
		}
		if got := windowOf(a, cell-n, reset, every); got != window {
			t.Errorf("after %d steps it is in window %d, was in %d", n, got, window)
		}
	}
}

// TestWordsOfAnAxis: they are those people count in, and never stand on each other.
func TestWordsOfAnAxis(t *testing.T) {
	for _, c := range []struct {
		step    time.Duration
		back, w int
		want    string
	}{
		{2400 * time.Millisecond, 25, 100, "−1 min    −30 s         now        +30 s       +1 min       +1:30       +2 min       +2:30"},
		{time.Second, 0, 30, "now     +10 s     +20 s"},
		{time.Hour, 2, 40, " now                    +24 h"},
		{time.Second, -5, 20, "   +10 s     +20 s"},
		{time.Second, 0, 2, ""},
	} {
		chart := NewChart(mono, NewAxis(time.Unix(1_700_000_000, 0), c.step, c.back, c.w), 1)
		chart.Words(0)
		if got := plain(chart.View()...); strings.TrimRight(got, " ") != c.want {
			t.Errorf("%v: got %q, want %q", c.step, got, c.want)
		}
	}
}

// TestSelectedAtFindsTheCursor: the terminal's cursor goes to the sign of the
// selected row, in every look.
func TestSelectedAtFindsTheCursor(t *testing.T) {
	dark := themes.New(themes.Palettes()[0], themes.TrueColor, true, themes.Unicode)
	for _, th := range []*themes.Theme{mono, dark} {
		l := NewLine(th, 10)
		l.Reset(10, true)
		rows := []string{Row(th, 12, Plain("head")), Row(th, 1, Plain("|")) + l.Gap(1).Glyph(themes.Focus, th.Glyphs.Cursor, 1).String() + "|"}
		if x, y, ok := SelectedAt(th, rows); !ok || x != 2 || y != 1 {
			t.Errorf("%s: %d,%d %v", th.Name, x, y, ok)
		}
		if _, _, ok := SelectedAt(th, rows[:1]); ok {
			t.Errorf("%s: found where there is none", th.Name)
		}
	}
}

// BenchmarkChart draws 116 x 4 cells: heights in stripes, and the seam.
func BenchmarkChart(b *testing.B) {
	th := looks()["dark painted"]
	a := NewAxis(time.Unix(1_700_000_000, 0), 2400*time.Millisecond, 25, 116)
	values := make([]float64, a.Width)
	for x := range values {
		values[x] = float64(x%7) + 3
	}
	odd := func(x int) bool { return x/5%2 == 1 }
	size := 0
	for b.Loop() {
		c := NewChart(th, a, 4)
		c.Area(0, 4, Series{Values: values, Top: 10, Odd: odd})
		c.Seam(0, 4)
		size = 0
		for _, row := range c.View() {
			size += len(row)
		}
	}
	b.ReportMetric(float64(size), "bytes")
}

// windowOf returns which window of a fixed length a cell lies in, by when the next of them
// begins. The numbers go on as windows pass: a window keeps its number, and whether that
// is odd.
func windowOf(a Axis, cell int, reset time.Time, every time.Duration) int {
	n := math.Floor(float64(a.Start(cell).Add(a.Step/2).Sub(reset)) / float64(every))
	return int(n + math.Round(float64(reset.UnixNano())/float64(every)))
}
