package block

import (
	"slices"
	"strings"

	"github.com/charmbracelet/x/ansi"

	"github.com/farsight-console/farsight/engine"
	"github.com/farsight-console/farsight/engine/human"
	"github.com/farsight-console/farsight/ui/charts"
	"github.com/farsight-console/farsight/ui/page"
	"github.com/farsight-console/farsight/ui/part"
)

// LeastFoot is how many rows the foot needs: the charts of the day, their title, and the empty row
// before them. With fewer a page ends with empty rows.
const LeastFoot = charts.DayRows + 2

// Shorter is the height of a list of so many rows and a header, of at most h: one that leaves room for the foot gives
// it up, in steps, as that moves what is below.
func Shorter(h, rows int) int {
	if spare := h - 1 - max(rows, 1); spare > LeastFoot {
		h -= spare / 4 * 4
	}
	return h
}

// Rest puts the foot below the rows of a whole page, where something is known that it could tell.
func Rest(v *page.View, rows []string) []string {
	if rows = Trim(rows); !footKnown(v) {
		return part.Height(v.Theme, v.W, v.H, rows)
	}
	return Fill(v, rows, nil)
}

// footKnown reports whether the foot has something to tell.
func footKnown(v *page.View) bool { return len(v.Limits.Buckets)+len(v.Foot.Day) > 0 }

// Trim leaves out the empty rows at the end of a page.
func Trim(rows []string) []string {
	for n := len(rows) - 1; n >= 0 && strings.TrimSpace(ansi.Strip(rows[n])) == ""; n-- {
		rows = rows[:n]
	}
	return rows
}

// Fill puts the foot below the rows of a page, and the empty rows that are left. own is a block of
// the page's own, which stands before the limits and the day, and in their place where three have no room;
// nil = there is none.
func Fill(v *page.View, rows []string, own func(w, h int) part.Section) []string {
	left := v.H - len(rows) - 1
	if left < LeastFoot {
		return part.Height(v.Theme, v.W, v.H, rows)
	}
	rows = append(rows, v.Row(v.W))
	blocks := []func(w, h int) part.Section{
		func(w, h int) part.Section { return Limits(v, w, h) },
		func(w, h int) part.Section { return charts.Day(v, w, h) },
	}
	if own != nil {
		blocks = slices.Insert(blocks, 0, own)
		if v.Size != page.L { // a log has the whole width
			blocks = blocks[:1]
		}
	}
	// The calls take their title, the ribbon, and what is left for calls in words. Few leave their rows to the
	// blocks, in steps, as they become more: so no room is left for a second foot, see Rest.
	calls, w, tall := v.Foot.Calls(v), v.Inner(v.W), charts.DayRows
	if spare := left - LeastFoot - 1 - CallRows - charts.CallLines(len(calls), w); spare > 0 && footKnown(v) {
		tall += spare / charts.DayRows * charts.DayRows
	}
	rows = append(rows, v.Abreast(len(rows), tall+1, blocks)...)
	if left -= tall + 2; left > CallRows {
		rows = append(rows, v.Row(v.W))
		rows = append(rows, v.Sections(0, len(rows), v.W, left, CallsSection(v, calls, w, CallRows, left-1-CallRows))...)
	}
	return part.Height(v.Theme, v.W, v.H, rows)
}

// Limits are those of the host that paces, or one window of each host.
func Limits(v *page.View, w, h int) part.Section {
	b, _ := v.Limits.Pacing("")
	return LimitsBlock(v, b.Host, w, h)
}

// Below draws sections that fill the page, of which the last is a log with so many records. On a
// large screen a short log leaves its free rows to the foot. It is counted in steps of six rows, so
// that the foot moves down with every sixth record, and not with each.
func Below(v *page.View, log int, sections ...part.Section) []string {
	last := &sections[len(sections)-1]
	room := last.Height - (log+5)/6*6
	if v.Size != page.L || room <= LeastFoot {
		return v.Whole(sections...)
	}
	last.Height -= room
	return Fill(v, v.Sections(0, 0, v.W, v.H-room, sections...), nil)
}

// WithLog draws sections, and so many rows of the log below them; 0 = none. On a large screen with
// room for it the foot stands there, with the log as its first block.
func WithLog(v *page.View, log int, sections ...part.Section) []string {
	switch {
	case log == 0:
		return v.Whole(sections...)
	case v.Size == page.L && log > LeastFoot:
		rows := v.Sections(0, 0, v.W, v.H-log-2, sections...)
		return Fill(v, rows, func(w, h int) part.Section { return LogPanel(v, w, h) })
	}
	return v.Whole(append(sections, LogPanel(v, v.Inner(v.W), log))...)
}

// Aside puts the limits, where they do not stand elsewhere, and the newest calls at the foot of a column of h rows whose
// panels leave room for them, or the limits alone. They stand where lines has them while that leaves few rows empty: panels that grow by some rows move
// neither.
func Aside(v *page.View, panels []part.Section, w, h int, limited bool, lines *charts.CallsInPlace) []part.Section {
	const limits, spare = 7, 5
	for i := range panels {
		h -= panels[i].Height + 2
	}
	// Both have a title and an empty row before it.
	calls := h - 2
	if limited {
		calls -= limits + 2
	}
	if calls < -2 || !limited && calls < 2 {
		return panels
	}
	over := calls - len(lines.On)
	if over < 0 || over >= mostBlank || len(lines.On) == 0 {
		over = human.Either(calls > 2*spare, spare, 0)
	}
	panels[len(panels)-1].Height += over
	calls -= over
	if limited {
		panels = append(panels, Limits(v, w, limits))
	}
	if calls < 2 {
		return panels
	}
	s := part.Section{Title: "CALLS", Note: "the newest first", Tail: charts.Median(v), Height: calls}
	if all := page.UpTo(v.Calls, v.Now); len(all) < calls {
		s.Rows = charts.CallColumns(v, all, w, max(len(all), 1))
	} else {
		s.Note, s.Rows = "at most 2 new a second; "+v.Theme.Glyphs.Crumb+" the newest", lines.Draw(v, all, w, calls)
	}
	return append(panels, s)
}

// CallRows is how many rows high the ribbon of the foot is.
const CallRows = 3

// CallsSection is calls, the oldest first, as a ribbon of so many rows, and the newest of them in
// words below it. The ribbon has a cell for each call and a margin of one at either side.
func CallsSection(v *page.View, calls []engine.CallRow, w, ribbon, rows int) part.Section {
	cells := w - 2
	s := part.Section{Title: "CALLS", Tail: charts.Median(v)}
	if n := min(len(calls), cells); n > 0 {
		s.Note = "last " + page.Count(n) + "; height and ms = Riot, s = our limiter"
		if rows == 0 {
			s.Note = human.Either(n == 1, "the last answer", "the last "+page.Count(n)+" answers") +
				": height = ms, " + v.Theme.State("FAILED").Glyph + " failed, " + v.Theme.State("WARN").Glyph + " 429" // read without colour, too
		}
		if v.Size == page.S {
			s.Note = "last " + page.Count(n) + ", height = Riot's answer"
		}
	}
	for _, row := range charts.Ribbon(v, calls, cells, ribbon, false) {
		s.Rows = append(s.Rows, " "+row)
	}
	s.Rows = append(s.Rows, charts.CallColumns(v, calls, w, rows)...)
	return s
}
