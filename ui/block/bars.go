package block

import (
	"cmp"
	"math"
	"slices"
	"strings"

	"github.com/farsight-console/farsight/engine/columns"
	"github.com/farsight-console/farsight/themes"
	"github.com/farsight-console/farsight/ui/page"
	"github.com/farsight-console/farsight/ui/part"
)

// Bar is one line of a bar chart. Text is what stands behind the bar: Value, or more than it.
type Bar struct {
	Name  string
	Value float64
	Text  string
}

// Bars are rows of a name, a bar against the longest, and the number. Names have 15 cells, numbers
// 10 and bars what is left, at most 60: a longer bar tells no more.
func Bars(v *page.View, list []Bar, t themes.Token, w int) []string {
	high := 0.0
	for _, b := range list {
		high = max(high, b.Value)
	}
	rows := make([]string, 0, len(list))
	for _, b := range list {
		l := part.NewLine(v.Theme, w).Gap(1).Field(part.Plain(b.Name), 15, part.Words).Gap(1)
		// A list of zeros alone has no longest bar: max keeps the ratio from being NaN.
		l.Bar(t, page.Clamp(w-29, 4, 60), b.Value/max(high, 1)).Gap(1).Field(part.Plain(b.Text), 10, part.Number)
		rows = append(rows, l.String())
	}
	return rows
}

// Tallied counts rows by the word that of gives for each, and puts the most frequent word first;
// rows whose word is "" are left out. Words that are as frequent as each other stay in the order of
// the rows, so that bars do not change places from frame to frame.
func Tallied[T any](rows []T, of func(*T) string) (all []Bar) {
	at := map[string]int{}
	for i := range rows {
		word := of(&rows[i])
		if word == "" {
			continue
		}
		n, seen := at[word]
		if !seen {
			n = len(all)
			at[word], all = n, append(all, Bar{Name: word})
		}
		all[n].Value++
	}
	slices.SortStableFunc(all, func(a, b Bar) int { return cmp.Compare(b.Value, a.Value) })
	for i := range all {
		all[i].Text = page.Count(int(all[i].Value))
	}
	return all
}

// SparkText draws the newest values, SparkCells at most, as text. The scale goes up to high at
// least, and further if any value is greater, also one that is too old to be drawn. A value below
// zero or NaN is not known and leaves a gap.
func SparkText(v *page.View, values []float64, high float64) string {
	signs := v.Theme.Glyphs.Spark[:len(v.Theme.Glyphs.Spark)-1] // a full cell would touch the row above
	for _, x := range values {
		high = math.Max(high, x)
	}
	var b strings.Builder
	for _, x := range values[max(len(values)-columns.SparkCells, 0):] {
		switch {
		case x < 0 || math.IsNaN(x):
			b.WriteByte(' ')
		case high <= 0:
			b.WriteString(signs[0])
		default:
			b.WriteString(signs[page.Clamp(int(x/high*float64(len(signs))), 0, len(signs)-1)])
		}
	}
	return b.String()
}
