package part

import (
	"strings"

	"github.com/farsight-console/farsight/themes"
)

// SelectedAt finds the selected row of a painted screen and the cell of its
// cursor sign, where the terminal's own cursor belongs: screen readers and
// magnifiers follow that one. The selected row is the one that is painted in the
// selection's colours, or the one with the cursor's sign where there are none.
func SelectedAt(th *themes.Theme, rows []string) (x, y int, ok bool) {
	if x, y, ok = findIn(rows, th.On(themes.OnSel, themes.Text)); ok {
		return x + 1, y, true
	}
	return findIn(rows, th.Open(themes.Focus)+th.Glyphs.Cursor)
}

// findIn is the cell at which a text begins in a painted screen.
func findIn(rows []string, text string) (x, y int, ok bool) {
	for y, row := range rows {
		if at := strings.Index(row, text); at >= 0 {
			x, _, _ := measure(row[:at], false)
			return x, y, true
		}
	}
	return 0, 0, false
}
