package page

import (
	"strconv"
	"strings"

	"github.com/farsight-console/farsight/engine"
	"github.com/farsight-console/farsight/themes"
	"github.com/farsight-console/farsight/ui/part"
)

// maxValue bounds how much of a value a screen shows: 4 KiB.
const maxValue = 4 << 10

// recordPage is one record of the log as keys and values.
type recordPage struct {
	quiet
	pane
	record
}

// newRecord makes the screen of a record.
func newRecord(r record) *recordPage { return &recordPage{record: r} }

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
		return Effect{Open: toJob(p.Job)}
	}
	p.pane.act(p.source(v), a)
	return Effect{}
}

// fact is a key and its value.
type fact struct{ key, value string }

// factRow is one fact of the detail below a list.
func factRow(v *View, w int, f fact) string {
	return part.NewLine(v.Theme, w).Gap(1).Field(part.As(themes.Dim, f.key), 8, part.Words).Cells(part.Plain(f.value)).String()
}

// factRows are facts whose values take as many rows as they need.
func factRows(v *View, w int, facts []fact) []string {
	var rows []string
	for _, l := range factSource(facts, w-10).Items {
		rows = append(rows, factRow(v, w, l.text))
	}
	return rows
}

func (p *recordPage) facts(v *View) []fact {
	at := p.At.In(v.Now.Location())
	out := []fact{
		{"time", at.Format("2006-01-02 15:04:05.000 -07:00") + "  (" + v.ago(p.At) + ")"}, {"level", p.Level}, {"area", p.Area}, {"text", p.Text},
	}
	if p.Job != "" {
		out = append(out, fact{"job", string(p.Job)})
	}
	for _, f := range p.Fields {
		if f.Key != "job" || f.Value != string(p.Job) {
			out = append(out, fact{f.Key, f.Value})
		}
	}
	return out
}

// keyWidth is how wide keys are drawn.
const keyWidth = 14

func (p *recordPage) source(v *View) part.Slice[factLine] {
	return factSource(p.facts(v), v.W-keyWidth-9)
}

// factLine is a row of a fact: a long value takes several.
type factLine struct {
	id   string
	text fact
}

// factSource breaks values into rows of w cells.
func factSource(facts []fact, w int) part.Slice[factLine] {
	var lines []factLine
	for i, f := range facts {
		if len(f.value) > maxValue {
			f.value = f.value[:maxValue]
		}
		for n, text := range part.Wrap(strings.ReplaceAll(f.value, "\n", " "), max(w, 10)) {
			line := factLine{strconv.Itoa(i) + "." + strconv.Itoa(n), fact{f.key, text}}
			if n > 0 {
				line.text.key = ""
			}
			lines = append(lines, line)
		}
	}
	return part.Slice[factLine]{Items: lines, Key: func(l factLine) string { return l.id }, Cells: func(l factLine, cells []part.Cell) []part.Cell {
		return append(cells, part.As(themes.Dim, l.text.key), part.Plain(l.text.value))
	}}
}

var factColumns = []part.Column{
	{Title: "KEY", Kind: part.Words, Min: keyWidth, Width: keyWidth},
	{Title: "VALUE", Kind: part.Words, Min: 10, Width: 40, Flex: 1},
}

// Draw implements Page.
func (p *recordPage) Draw(v *View) []string {
	tail := v.keyed("{open} opens its job")
	if p.Job == "" {
		tail = v.keyed("{back} goes back")
	}
	src, w, h := p.source(v), v.inner(v.W), v.H-1
	around := logAround(v, w, h-src.Len()-3, p.Seq)
	if len(around) > 0 {
		h = src.Len() + 1
	}
	panels := []part.Section{p.section(v, part.Table{Columns: factColumns}, w, h, src, part.Section{
		Title: "RECORD", Note: strconv.FormatUint(p.Seq, 10), Tail: tail,
	})}
	if len(around) > 0 {
		panels = append(panels, part.Section{Title: "LOG", Note: "around it, newest first", Rows: around, Height: v.H - h - 3})
	}
	return v.whole(panels...)
}
