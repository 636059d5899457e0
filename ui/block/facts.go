package block

import (
	"strconv"
	"strings"

	"github.com/farsight-console/farsight/engine/human"
	"github.com/farsight-console/farsight/engine/safe"
	"github.com/farsight-console/farsight/themes"
	"github.com/farsight-console/farsight/ui/page"
	"github.com/farsight-console/farsight/ui/part"
)

// MaxValue is how many bytes of a value a screen shows: 4 KiB. An answer of Riot may have hundreds,
// and all of them would be wrapped for each frame; copying gives the whole value.
const MaxValue = 4 << 10

// Fact is a key and its value.
type Fact struct{ Key, Value string }

// FactRow is one fact of the detail below a list: 8 cells for its key, or as many as it takes with a gap, the rest for
// its value, which is cut at the end of the row.
func FactRow(v *page.View, w int, f Fact) string {
	l := part.NewLine(v.Theme, w).Gap(1).Field(part.As(themes.Dim, f.Key), max(8, safe.Width(f.Key)+1), part.Words)
	return l.Cells(part.Plain(f.Value)).String()
}

// FactRows are facts whose values take as many rows as they need. A value has the width less 10
// cells: the margin, the key and a gap.
func FactRows(v *page.View, w int, facts []Fact) []string {
	var rows []string
	for _, l := range FactSource(facts, w-10).Items {
		rows = append(rows, FactRow(v, w, l.text))
	}
	return rows
}

// KeyWidth is how many cells a key takes in a table of facts.
const KeyWidth = 14

// FactLine is one row of a fact, of which a long value takes several. Its id, such as "3.0", has
// the number of the fact and of the row in it, so that a cursor keeps its place when values change.
type FactLine struct {
	id   string
	text Fact
}

// FactSource breaks values into rows of w cells, 10 at least, as the source of a table. The key
// stands in the first row of its fact alone.
func FactSource(facts []Fact, w int) part.Slice[FactLine] {
	var lines []FactLine
	for i, f := range facts {
		if len(f.Value) > MaxValue {
			f.Value = f.Value[:MaxValue]
		}
		// A line feed would end the row of the screen; a stack trace goes on behind it instead.
		for n, text := range part.Wrap(strings.ReplaceAll(f.Value, "\n", " "), max(w, 10)) {
			line := FactLine{strconv.Itoa(i) + "." + strconv.Itoa(n), Fact{f.Key, text}}
			if n > 0 {
				line.text.Key = ""
			}
			lines = append(lines, line)
		}
	}
	return part.Slice[FactLine]{
		Items: lines,
		Key:   func(l FactLine) string { return l.id },
		Cells: func(l FactLine, cells []part.Cell) []part.Cell {
			return append(cells, part.As(themes.Dim, l.text.Key), part.Plain(l.text.Value))
		},
	}
}

// FactColumns are the heads of a table of facts, see FactSource.
var FactColumns = []part.Column{
	{Title: "KEY", Kind: part.Words, Min: KeyWidth, Width: KeyWidth},
	{Title: "VALUE", Kind: part.Words, Min: 10, Width: 40, Flex: 1},
}

// LabelledRows are lines behind one label, which stands in the first row alone. With "" as its
// label a text begins at the left edge, as no other rows have a label to leave room for.
func LabelledRows(v *page.View, w int, label string, lines []string) []string {
	var rows []string
	place := human.Either(label == "", 0, DetailLabel-1)
	for _, line := range lines {
		l := part.NewLine(v.Theme, w).Gap(1).Field(part.As(themes.Dim, label), place, part.Words)
		rows = append(rows, l.Cells(part.Plain(line)).String())
		label = ""
	}
	return rows
}

// DetailLabel is how many cells the label of an alert's detail takes with the gap before it.
const DetailLabel = 10
