package page

import (
	"strconv"
	"strings"

	"github.com/farsight-console/farsight/themes"
	"github.com/farsight-console/farsight/ui/part"
)

// maxValue bounds how much of a value a screen shows: 4 KiB.
const maxValue = 4 << 10

// Fact is a key and its value.
type Fact struct{ Key, Value string }

// FactRow is one fact of the detail below a list.
func FactRow(v *View, w int, f Fact) string {
	return part.NewLine(v.Theme, w).Gap(1).Field(part.As(themes.Dim, f.Key), 8, part.Words).Cells(part.Plain(f.Value)).String()
}

// FactRows are facts whose values take as many rows as they need.
func FactRows(v *View, w int, facts []Fact) []string {
	var rows []string
	for _, l := range factSource(facts, w-10).Items {
		rows = append(rows, FactRow(v, w, l.text))
	}
	return rows
}

// keyWidth is how wide keys are drawn.
const keyWidth = 14

// factLine is a row of a fact: a long value takes several.
type factLine struct {
	id   string
	text Fact
}

// factSource breaks values into rows of w cells.
func factSource(facts []Fact, w int) part.Slice[factLine] {
	var lines []factLine
	for i, f := range facts {
		if len(f.Value) > maxValue {
			f.Value = f.Value[:maxValue]
		}
		for n, text := range part.Wrap(strings.ReplaceAll(f.Value, "\n", " "), max(w, 10)) {
			line := factLine{strconv.Itoa(i) + "." + strconv.Itoa(n), Fact{f.Key, text}}
			if n > 0 {
				line.text.Key = ""
			}
			lines = append(lines, line)
		}
	}
	return part.Slice[factLine]{Items: lines, Key: func(l factLine) string { return l.id }, Cells: func(l factLine, cells []part.Cell) []part.Cell {
		return append(cells, part.As(themes.Dim, l.text.Key), part.Plain(l.text.Value))
	}}
}

var factColumns = []part.Column{
	{Title: "KEY", Kind: part.Words, Min: keyWidth, Width: keyWidth},
	{Title: "VALUE", Kind: part.Words, Min: 10, Width: 40, Flex: 1},
}

// LabelledRows are lines behind one label.
func LabelledRows(v *View, w int, label string, lines []string) []string {
	var rows []string
	place := DetailLabel - 1
	if label == "" {
		place = 0
	}
	for _, line := range lines {
		rows = append(rows, part.NewLine(v.Theme, w).Gap(1).Field(part.As(themes.Dim, label), place, part.Words).Cells(part.Plain(line)).String())
		label = ""
	}
	return rows
}

// DetailLabel is what a label of an alert's detail takes.
const DetailLabel = 10
