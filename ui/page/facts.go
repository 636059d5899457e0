package page

import (
	"strconv"
	"strings"

	"github.com/farsight-console/farsight/themes"
	"github.com/farsight-console/farsight/ui/part"
)

// maxValue bounds how much of a value a screen shows: 4 KiB.
const maxValue = 4 << 10

// fact is a key and its value.
type fact struct{ key, value string }

// factRow is one fact of the detail below a list.
func factRow(v *View, w int, f fact) string {
	return part.NewLine(v.Theme, w).Gap(1).Field(part.As(themes.Dim, f.key), 8, part.Words).Cells(part.Plain(f.value)).String()
}

// factRows are facts whose values take as many rows as they need.
func factRows(v *View, w int, facts []fact) []string {
	var rows []string
	for _, l := range factSource(facts, w-10).Items {
		rows = append(rows, factRow(v, w, l.text))
	}
	return rows
}

// keyWidth is how wide keys are drawn.
const keyWidth = 14

// factLine is a row of a fact: a long value takes several.
type factLine struct {
	id   string
	text fact
}

// factSource breaks values into rows of w cells.
func factSource(facts []fact, w int) part.Slice[factLine] {
	var lines []factLine
	for i, f := range facts {
		if len(f.value) > maxValue {
			f.value = f.value[:maxValue]
		}
		for n, text := range part.Wrap(strings.ReplaceAll(f.value, "\n", " "), max(w, 10)) {
			line := factLine{strconv.Itoa(i) + "." + strconv.Itoa(n), fact{f.key, text}}
			if n > 0 {
				line.text.key = ""
			}
			lines = append(lines, line)
		}
	}
	return part.Slice[factLine]{Items: lines, Key: func(l factLine) string { return l.id }, Cells: func(l factLine, cells []part.Cell) []part.Cell {
		return append(cells, part.As(themes.Dim, l.text.key), part.Plain(l.text.value))
	}}
}

var factColumns = []part.Column{
	{Title: "KEY", Kind: part.Words, Min: keyWidth, Width: keyWidth},
	{Title: "VALUE", Kind: part.Words, Min: 10, Width: 40, Flex: 1},
}

// labelledRows are lines behind one label.
func labelledRows(v *View, w int, label string, lines []string) []string {
	var rows []string
	place := detailLabel - 1
	if label == "" {
		place = 0
	}
	for _, line := range lines {
		rows = append(rows, part.NewLine(v.Theme, w).Gap(1).Field(part.As(themes.Dim, label), place, part.Words).Cells(part.Plain(line)).String())
		label = ""
	}
	return rows
}

// detailLabel is what a label of an alert's detail takes.
const detailLabel = 10
