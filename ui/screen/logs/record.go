package logs

import (
	"strconv"

	"github.com/farsight-console/farsight/engine"
	"github.com/farsight-console/farsight/engine/columns"
	"github.com/farsight-console/farsight/engine/human"
	"github.com/farsight-console/farsight/ui/block"
	"github.com/farsight-console/farsight/ui/lists"
	"github.com/farsight-console/farsight/ui/page"
	"github.com/farsight-console/farsight/ui/part"
)

// Record is the screen of one record of the log as keys and values. A record never changes, so it
// asks nothing.
type Record struct {
	page.Quiet
	lists.Pane
	columns.Record
}

// NewRecord makes the screen of a record.
func NewRecord(r columns.Record) *Record { return &Record{Record: r} }

// Screen implements Page.
func (p *Record) Screen() page.Screen { return page.ScreenRecord }

// Crumb implements Page.
func (p *Record) Crumb(*page.View) string { return "record " + strconv.FormatUint(p.Seq, 10) }

// SelectedJob implements Jobber.
func (p *Record) SelectedJob(*page.View) (engine.JobID, string) { return p.Job, string(p.Job) }

// Cannot implements Page.
func (p *Record) Cannot(_ *page.View, a page.Action) string {
	return human.If(a == page.Open && p.Job == "", "this record belongs to no job")
}

// Act implements Page.
func (p *Record) Act(v *page.View, a page.Action) page.Effect {
	switch {
	case a == page.Trigger:
		return page.Effect{Ask: page.AskSync}
	case a == page.Open:
		return page.Effect{Open: page.ToJob(p.Job)}
	}
	p.Pane.Steer(p.source(v), a)
	return page.Effect{}
}

// facts are the record's own, then its fields in the order in which they were logged. The job
// stands once, although most records carry it as a field too.
func (p *Record) facts(v *page.View) []block.Fact {
	at := p.At.In(v.Now.Location())
	out := []block.Fact{
		{Key: "time", Value: page.Whole(at) + "  (" + v.Ago(p.At) + ")"},
		{Key: "level", Value: p.Level}, {Key: "area", Value: p.Area}, {Key: "text", Value: p.Text},
	}
	if p.Job != "" {
		out = append(out, block.Fact{Key: "job", Value: string(p.Job)})
	}
	for _, f := range p.Fields {
		if f.Key != "job" || f.Value != string(p.Job) {
			out = append(out, block.Fact{Key: f.Key, Value: page.Dated(f.Value, at.Location())})
		}
	}
	return out
}

// source breaks long values into lines of the width that is left beside the keys.
func (p *Record) source(v *page.View) part.Slice[block.FactLine] {
	return block.FactSource(p.facts(v), v.W-block.KeyWidth-9)
}

// Draw implements Page.
func (p *Record) Draw(v *page.View) []string {
	tail := human.Either(p.Job == "", v.Keyed("{back} goes back"), v.Keyed("{open} opens its job"))
	src, w, h := p.source(v), v.Inner(v.W), v.H-1
	// Where rows are left, what was logged right before and after it.
	around := block.LogAround(v, w, h-src.Len()-3, p.Seq)
	if len(around) > 0 {
		h = src.Len() + 1
	}
	panels := []part.Section{p.Section(v, part.Table{Columns: block.FactColumns}, w, h, src, part.Section{
		Title: "RECORD", Note: strconv.FormatUint(p.Seq, 10), Tail: tail,
	})}
	if len(around) > 0 {
		panels = append(panels, part.Section{Title: "LOG", Note: "around it, newest first", Rows: around,
			Height: v.H - h - 3})
	}
	return v.Whole(panels...)
}
