package part

import (
	"strings"

	"github.com/farsight-console/farsight/engine/safe"
	"github.com/farsight-console/farsight/themes"
)

// digitRows is how tall a figure in digits is.
const digitRows = 3

// digits are drawn in three rows of three cells; what is not in the table stands in the
// lowest row.
var digits = map[rune][digitRows]string{
	'0': {"┏━┓", "┃ ┃", "┗━┛"}, '1': {"╺┓ ", " ┃ ", "╺┻╸"}, '2': {"╺━┓", "┏━┛", "┗━╸"}, '3': {"╺━┓", "╺━┫", "╺━┛"},
	'4': {"╻ ╻", "┗━┫", "  ╹"}, '5': {"┏━╸", "┗━┓", "╺━┛"}, '6': {"┏━╸", "┣━┓", "┗━┛"}, '7': {"╺━┓", "  ┃", "  ╹"},
	'8': {"┏━┓", "┣━┫", "┗━┛"}, '9': {"┏━┓", "┗━┫", "╺━┛"},
}

// Digits writes row y of 0 to 2 of a figure drawn tall. In ASCII it is the number, in
// the middle row.
func (l *Line) Digits(y int, figure string) *Line {
	w := DigitsWidth(l.th, figure)
	if y < 0 || y >= digitRows || w > l.Room() {
		return l
	}
	if l.th.ASCII() {
		if y != 1 {
			return l.Gap(w)
		}
		return l.Put(themes.Figure, figure)
	}
	var row strings.Builder
	for _, r := range figure {
		if d, ok := digits[r]; ok {
			row.WriteString(d[y])
		} else if y == digitRows-1 {
			row.WriteRune(r)
		} else {
			row.WriteByte(' ')
		}
	}
	return l.Put(themes.Figure, row.String())
}

// DigitsWidth is how many cells a figure takes in digits.
func DigitsWidth(th *themes.Theme, figure string) int {
	w := safe.Width(figure)
	if th.ASCII() {
		return w
	}
	for _, r := range figure {
		if _, ok := digits[r]; ok {
			w += 2
		}
	}
	return w
}
