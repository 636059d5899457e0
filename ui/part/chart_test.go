package part

import (
	"math"
	"testing"

	"github.com/farsight-console/farsight/themes"
)

// TestChartShowsALittle: a little is never nothing, all is the full height, and
// every row has its width.
func TestChartShowsALittle(t *testing.T) {
	got := Chart(mono, 5, 2, themes.Run, []float64{9, 0, 1, 50, 100}, 0)
	want := "    █\n▁·▁██"
	if plain(got...) != want {
		t.Errorf("got\n%s\nwant\n%s", plain(got...), want)
	}
	for _, values := range [][]float64{nil, {math.NaN(), -1}, {math.Inf(1), 3}} {
		for _, row := range Chart(mono, 7, 3, themes.Run, values, 0) {
			if err := checkRow(mono, row, 7); err != nil {
				t.Error(err)
			}
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
