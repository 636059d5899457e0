package ui

import (
	"cmp"
	"strconv"

	"github.com/farsight-console/farsight/engine/human"
	"github.com/farsight-console/farsight/themes"
	"github.com/farsight-console/farsight/ui/page"
	"github.com/farsight-console/farsight/ui/part"
)

// tinyRows are one fact a line, for a window of w x h cells that has no room for a screen. Keys
// work as ever, so what they ask stands right behind the state.
func tinyRows(v *page.View, w, h int, state string, asked []string, note string) []string {
	rows := append([]string{state}, asked...)
	for _, c := range tinyFacts(v, w, note) {
		rows = append(rows, part.Row(v.Theme, w, part.Plain(" "), c))
	}
	size := "needs " + strconv.Itoa(leastW) + "x" + strconv.Itoa(leastH) + ", is " + strconv.Itoa(w) + "x" + strconv.Itoa(h)
	rows = append(rows, part.Row(v.Theme, w, part.As(themes.Warn, " "+size)))
	if over := len(rows) - h; over > 0 && h > 1 { // the size stays: it says what to do
		rows = append(rows[:h-1], rows[len(rows)-1])
	}
	return rows
}

// tinyFacts are what the engine does, and what the message line would say.
func tinyFacts(v *page.View, w int, note string) []part.Cell {
	var cells []part.Cell
	// The limit that sets the pace says more than any other.
	if b, ok := v.Limits.Pacing(""); ok {
		cells = append(cells, part.Plain("tightest limit "+b.Host+" "+strconv.Itoa(b.Counted(v.Now))+"/"+strconv.Itoa(b.Limit)+v.Theme.Glyphs.Sep+human.Tight(b.Window)))
	}
	cells = append(cells,
		part.Plain("running "+strconv.Itoa(v.Engine.InFlight)),
		part.Plain("retrying "+strconv.Itoa(v.Engine.Retrying)),
		part.Plain("alerts "+cmp.Or(v.Firing(), "0")),
	)
	for _, line := range part.Wrap(note, max(w-2, 1)) {
		cells = append(cells, part.Plain(line))
	}
	return cells
}
