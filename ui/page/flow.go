package page

import (
	"github.com/farsight-console/farsight/engine/safe"
	"github.com/farsight-console/farsight/ui/part"
)

// Flow writes facts in one row of w cells, and goes on in the next where they do not
// fit; none is cut that would fit into a row of its own.
func (v *View) Flow(w int, facts ...part.Cell) []string {
	var rows []string
	var line []part.Cell
	sep, used := safe.Width(v.sep().Text), 0
	for _, f := range facts {
		if f.Text == "" {
			continue
		}
		need := safe.Width(safe.Text(f.Text))
		if used > 0 && 1+used+sep+need > w {
			rows = append(rows, v.fact(w, line))
			line, used = nil, 0
		}
		if used > 0 {
			used += sep
		}
		line, used = append(line, f), used+need
	}
	if used == 0 {
		return rows
	}
	return append(rows, v.fact(w, line))
}

func (v *View) fact(w int, facts []part.Cell) string {
	return v.Row(w, append([]part.Cell{part.Plain(" ")}, v.Join(facts...)...)...)
}
