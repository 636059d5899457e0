package block

import (
	"slices"

	"github.com/farsight-console/farsight/engine"
	"github.com/farsight-console/farsight/ui/charts"
	"github.com/farsight-console/farsight/ui/page"
	"github.com/farsight-console/farsight/ui/part"
)

// Foot is what a large screen has below a page that leaves room: the last day beside what
// the page puts there, and the calls that were made last.
type Foot struct {
	day  charts.DayTraffic
	Tape Tape
}

func NewFoot() Foot { return Foot{Tape: Tape{Every: OverviewTape, Then: true}} }

// LeastFoot is the room below which a page ends with empty rows.
const LeastFoot = charts.DayRows + 2

// Want is the question about the day, where it is shown.
func (f *Foot) Want(v *page.View) engine.Query {
	if v.Size != page.L {
		return nil
	}
	return f.day.Want(v)
}

func (f *Foot) Got(q engine.Query, a engine.Answer, err error) { f.day.Got(q, a, err) }

// Fill puts it below the rows of a page, with a block of the page's own, if there is one,
// before the limits and the day.
func (f *Foot) Fill(v *page.View, rows []string, own func(w, h int) part.Section) []string {
	left := v.H - len(rows) - 1
	if v.Size != page.L || left < LeastFoot {
		return part.Height(v.Theme, v.W, v.H, rows)
	}
	rows = append(rows, v.Row(v.W))
	b, _ := v.Limits.Pacing()
	blocks := []func(w, h int) part.Section{
		func(w, h int) part.Section { return LimitsBlock(v, b.Host, w, h) },
		func(w, _ int) part.Section { return f.day.Panel(v, w) },
	}
	if own != nil {
		blocks = slices.Insert(blocks, 0, own)
	}
	rows = append(rows, v.Abreast(len(rows), charts.DayRows+1, blocks)...)
	if left -= charts.DayRows + 2; left > CallRows {
		rows = append(rows, v.Row(v.W))
		rows = append(rows, v.Sections(0, len(rows), v.W, left, CallsSection(v, f.Tape.Take(v), v.Inner(v.W), CallRows, left-1-CallRows))...)
	}
	return part.Height(v.Theme, v.W, v.H, rows)
}

// Below draws sections that fill the page and end in so many rows of a log: on a large screen a
// short one leaves the foot its room, in steps, so that it does not move with each record.
func (f *Foot) Below(v *page.View, log int, sections ...part.Section) []string {
	last := &sections[len(sections)-1]
	room := last.Height - (log+5)/6*6
	if v.Size != page.L || room <= LeastFoot {
		return v.Whole(sections...)
	}
	last.Height -= room
	return f.Fill(v, v.Sections(0, 0, v.W, v.H-room, sections...), nil)
}

// WithLog draws sections and below them so many rows of the log, or of the foot.
func (f *Foot) WithLog(v *page.View, log int, sections ...part.Section) []string {
	switch {
	case log == 0:
		return v.Whole(sections...)
	case v.Size == page.L && log > LeastFoot:
		return f.Fill(v, v.Sections(0, 0, v.W, v.H-log-2, sections...), func(w, h int) part.Section { return LogPanel(v, w, h) })
	}
	return v.Whole(append(sections, LogPanel(v, v.Inner(v.W), log))...)
}

// Footed is a page that asks the engine for what its foot shows alone.
type Footed struct{ Foot Foot }

// Want implements Page.
func (p *Footed) Want(v *page.View) engine.Query { return p.Foot.Want(v) }

// Got implements Page.
func (p *Footed) Got(_ *page.View, q engine.Query, a engine.Answer, err error) { p.Foot.Got(q, a, err) }

// CallRows is how high the ribbon of the foot is.
const CallRows = 3

// CallsSection is calls as a ribbon, and the newest of them in words.
func CallsSection(v *page.View, calls []engine.CallRow, w, ribbon, rows int) part.Section {
	cells := w - 2
	s := part.Section{Title: "CALLS", Tail: charts.Median(v)}
	if n := min(len(calls), cells); n > 0 {
		s.Note = "last " + page.Count(n) + "; height and ms = Riot, s = our limiter"
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
