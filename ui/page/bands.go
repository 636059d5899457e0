package page

import (
	"github.com/farsight-console/farsight/engine/human"
	"github.com/farsight-console/farsight/ui/part"
)

// Band is a block of a screen as wide as its area. Bands stand one below the other with
// an empty row between two.
type Band struct {
	Least, Most int // rows
	Keep        int // bands with the smaller number stay longer where not all have room
	Draw        func(y, h int) []string
}

// If is the band where something is so; elsewhere it is left out.
func (b Band) If(is bool) Band { return human.Either(is, b, Band{}) }

// Bands draws those that have room, each with as many rows as it gets: the least that it
// needs, then what is left from the first one on, up to the most that it can use.
func (v *View) Bands(all ...Band) []string { return part.Height(v.Theme, v.W, v.H, v.Stacked(all...)) }

// Stacked are bands without the empty rows below the last one.
func (v *View) Stacked(all ...Band) []string {
	heights, gap := shareRows(v.H, all, v.Size == S)
	var rows []string
	for i, b := range all {
		if heights[i] == 0 {
			continue
		}
		if len(rows) > 0 {
			rows = append(rows, part.Height(v.Theme, v.W, gap, nil)...)
		}
		rows = append(rows, part.Height(v.Theme, v.W, heights[i], b.Draw(len(rows), heights[i]))...)
	}
	return rows
}

// shareRows gives each band its rows, 0 = it is left out, and the empty rows between two:
// none on a small screen where that makes room for another band.
func shareRows(h int, all []Band, small bool) (heights []int, gap int) {
	heights = make([]int, len(all))
	for i, b := range all {
		heights[i] = b.Least
	}
	for gap = 1; ; {
		left, last := h+gap, -1
		for i, b := range all {
			if heights[i] == 0 {
				continue
			}
			left -= heights[i] + gap
			if last < 0 || b.Keep > all[last].Keep {
				last = i
			}
		}
		switch {
		case left >= 0:
			for i, b := range all {
				if more := min(b.Most-heights[i], left); heights[i] > 0 && more > 0 {
					heights[i], left = heights[i]+more, left-more
				}
			}
			return heights, gap
		case gap > 0 && small:
			gap = 0
		case last < 0:
			return heights, gap
		default:
			heights[last], gap = 0, 1
		}
	}
}

// Padded puts rows beside the margin that sections have.
func (v *View) Padded(rows []string) []string {
	pad := v.Row(v.pad())
	for i := range rows {
		rows[i] = pad + rows[i] + pad
	}
	return rows
}

// ColumnWidth is how many cells a block takes of which three stand side by side in 120 cells, with
// the gap before the next one.
const ColumnWidth = 40
