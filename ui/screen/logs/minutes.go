package logs

import (
	"slices"
	"time"

	"github.com/farsight-console/farsight/themes"
	"github.com/farsight-console/farsight/ui/block"
	"github.com/farsight-console/farsight/ui/page"
	"github.com/farsight-console/farsight/ui/part"
)

// minuteLevels are the rows of the log by the minute, the gravest first.
// Debug is left out: only a part of it is read, and it would dwarf all others.
var minuteLevels = []struct {
	level string
	token themes.Token
}{{"error", themes.Err}, {"warn", themes.Warn}, {"info", themes.Run}}

// minuteRows is how many rows the log by the minute takes, with its axis.
const minuteRows = 4

// minutes are the records that are read, counted by level and minute, on an axis that
// ends now. Before the oldest of them nothing is known, and nothing is drawn.
// Of a screen that is too narrow for ten minutes only the empty rows are left.
func (p *Screen) minutes(v *page.View, w int) part.Section {
	const label = 13
	wide := max((w-label-1)/60, 1) // cells of a minute: a wide screen shows an hour of them
	if len(p.records) > 0 {
		wide = max(wide, widest(w-label-1, v.Now.Sub(p.records[0].At)))
	}
	cells := (w - label - 1) / wide * wide
	if cells < 10 {
		return part.Section{Height: minuteRows}
	}
	last := v.Now.Truncate(time.Minute)
	counts, sums := map[string][]float64{}, map[string]int{}
	for _, l := range minuteLevels {
		counts[l.level] = make([]float64, cells)
	}
	known := 0 // cells that are known, from the right
	for i := range p.records {
		r := &p.records[i]
		if p.job != "" && r.Job != p.job {
			continue
		}
		ago := max(int(last.Sub(r.At.Truncate(time.Minute))/time.Minute), 0)
		known = max(known, min((ago+1)*wide, cells))
		if of := counts[r.Level]; of != nil {
			sums[r.Level]++
			for i := ago * wide; i < min((ago+1)*wide, cells); i++ {
				of[cells-1-i]++
			}
		}
	}
	rows := make([]string, 0, minuteRows)
	for _, l := range minuteLevels {
		of := counts[l.level]
		line := part.NewLine(v.Theme, w).Gap(1).Field(block.LevelSign(l.level), 3, part.Words)
		line.Field(part.Plain(page.Count(sums[l.level])), label-6, part.Number).To(label + cells - known)
		c := part.PastChart(v.Theme, known, 1)
		c.Area(0, 1, part.Series{Values: of[cells-known:], Top: max(slices.Max(of), 1), Token: l.token})
		rows = append(rows, c.Row(line, 0).String())
	}
	axis := part.NewLine(v.Theme, w)
	// A word each quarter of an hour, or minute, as far as it does not touch the one before.
	every := 15
	if cells/wide <= 30 {
		every = 1 + cells/wide/10
	}
	for back := (cells/wide - 1) / every * every; back > 0; back -= every {
		text := v.Theme.Glyphs.Minus + page.Count(back) + " min"
		if at := label + cells - 1 - back*wide; at >= axis.At()+2 && at+len(text) < label+cells-len("now") {
			axis.To(at).Cells(part.As(themes.Dim, text))
		}
	}
	axis.To(label + cells - len("now")).Cells(part.As(themes.Figure, "now"))
	s := part.Section{Title: "LEVELS", Note: "records per minute", Rows: append(rows, axis.String()),
		Height: minuteRows}
	if len(p.records) > 0 {
		s.Tail = "read since " + v.Clock(p.records[0].At)
	}
	return s
}

// widest is how many cells a minute has where the log is young: the axis reaches as far back as an hour, half, a
// quarter or a tenth of one, whichever holds all that there is.
func widest(cells int, age time.Duration) int {
	for _, minutes := range []int{10, 15, 30} {
		if age < time.Duration(minutes-1)*time.Minute {
			return cells / minutes
		}
	}
	return 1
}
