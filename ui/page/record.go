package page

import (
	"strconv"

	"github.com/farsight-console/farsight/engine"
	"github.com/farsight-console/farsight/ui/part"
)

// recordPage is one record of the log as keys and values.
type recordPage struct {
	quiet
	Pane
	Record
}

// NewRecord makes the screen of a record.
func NewRecord(r Record) *recordPage { return &recordPage{Record: r} }

// Screen implements Page.
func (p *recordPage) Screen() Screen { return ScreenRecord }

// Crumb implements Page.
func (p *recordPage) Crumb(*View) string { return "record " + strconv.FormatUint(p.Seq, 10) }

// SelectedJob implements Jobber.
func (p *recordPage) SelectedJob(*View) (engine.JobID, string) { return p.Job, string(p.Job) }

// Cannot implements Page.
func (p *recordPage) Cannot(_ *View, a Action) string {
	if a == Open && p.Job == "" {
		return "this record belongs to no job"
	}
	return ""
}

// Act implements Page.
func (p *recordPage) Act(v *View, a Action) Effect {
	switch {
	case a == Trigger:
		return Effect{Ask: AskSync}
	case a == Open:
		return Effect{Open: ToJob(p.Job)}
	}
	p.Pane.Steer(p.source(v), a)
	return Effect{}
}

func (p *recordPage) facts(v *View) []Fact {
	at := p.At.In(v.Now.Location())
	out := []Fact{
		{"time", at.Format("2006-01-02 15:04:05.000 -07:00") + "  (" + v.Ago(p.At) + ")"}, {"level", p.Level}, {"area", p.Area}, {"text", p.Text},
	}
	if p.Job != "" {
		out = append(out, Fact{"job", string(p.Job)})
	}
	for _, f := range p.Fields {
		if f.Key != "job" || f.Value != string(p.Job) {
			out = append(out, Fact{f.Key, f.Value})
		}
	}
	return out
}

func (p *recordPage) source(v *View) part.Slice[factLine] {
	return factSource(p.facts(v), v.W-keyWidth-9)
}

// Draw implements Page.
func (p *recordPage) Draw(v *View) []string {
	tail := v.Keyed("{open} opens its job")
	if p.Job == "" {
		tail = v.Keyed("{back} goes back")
	}
	src, w, h := p.source(v), v.Inner(v.W), v.H-1
	around := logAround(v, w, h-src.Len()-3, p.Seq)
	if len(around) > 0 {
		h = src.Len() + 1
	}
	panels := []part.Section{p.Section(v, part.Table{Columns: factColumns}, w, h, src, part.Section{
		Title: "RECORD", Note: strconv.FormatUint(p.Seq, 10), Tail: tail,
	})}
	if len(around) > 0 {
		panels = append(panels, part.Section{Title: "LOG", Note: "around it, newest first", Rows: around, Height: v.H - h - 3})
	}
	return v.Whole(panels...)
}
