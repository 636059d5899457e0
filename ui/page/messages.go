package page

import (
	"strconv"

	"github.com/farsight-console/farsight/engine"
	"github.com/farsight-console/farsight/engine/columns"
	"github.com/farsight-console/farsight/themes"
	"github.com/farsight-console/farsight/ui/part"
)

// Messages lists what the message line has said, the newest first.
type Messages struct {
	quiet
	list[columns.Message]
}

// NewMessages makes the screen.
func NewMessages() *Messages {
	return &Messages{list: newList(columns.Messages, columns.MessageList, func(m *columns.Message) string { return strconv.Itoa(m.Number) })}
}

// Screen implements Page.
func (p *Messages) Screen() Screen { return ScreenMessages }

// Crumb implements Page.
func (p *Messages) Crumb(*View) string { return "Messages" }

func (p *Messages) refresh(v *View) {
	p.put(v, v.Noted, func() []columns.Message {
		rows := make([]columns.Message, 0, len(v.Notes))
		for i := len(v.Notes) - 1; i >= 0; i-- {
			rows = append(rows, columns.Message{Note: v.Notes[i], Number: v.Noted - len(v.Notes) + i})
		}
		return rows
	})
}

// SelectedJob implements Jobber.
func (p *Messages) SelectedJob(v *View) (engine.JobID, string) {
	p.refresh(v)
	m, _ := p.selected()
	return m.Job, string(m.Job)
}

// Cannot implements Page.
func (p *Messages) Cannot(v *View, a Action) string {
	p.refresh(v)
	if m, _ := p.selected(); a == Open && m.Job == "" {
		return or(p.missing("message"), "this message is about no job")
	}
	return ""
}

// Act implements Page.
func (p *Messages) Act(v *View, a Action) Effect {
	p.refresh(v)
	if p.list.act(v, a) {
		return Effect{}
	}
	m, ok := p.selected()
	switch {
	case a == Trigger:
		return Effect{Ask: AskSync}
	case a == Open && ok:
		return Effect{Open: toJob(m.Job)}
	}
	return Effect{}
}

// Export implements Exporter.
func (p *Messages) Export(v *View, only bool) (string, [][]string) {
	p.refresh(v)
	return "messages", p.export(v, only)
}

// below is the whole text of the selected message: a list cuts it.
func (p *Messages) below(v *View) []string {
	m, _ := p.selected()
	var rows []string
	if len(p.shown) == 0 {
		return []string{v.row(v.W-2, part.As(themes.Dim, " no message is selected"))}
	}
	for _, line := range part.Wrap(m.Text, max(v.W-4, 10)) {
		rows = append(rows, v.row(v.W-2, part.Plain(" "+line)))
	}
	return rows
}

// wholeRows is how many rows the whole text of a message gets at least.
const wholeRows = 3

// Draw implements Page.
func (p *Messages) Draw(v *View) []string {
	p.refresh(v)
	h, below := p.parts(v, wholeRows)
	rows := p.draw(v, v.W-2, h, or(p.list.empty(v), "no message yet"))
	return part.Box(v.Theme, v.W, v.H,
		part.Panel{Title: p.title(v, "Messages"), Focus: true, Tail: p.about(v.keyed("{open} opens the job")), Rows: rows, Height: h},
		part.Panel{Title: "Whole message", Rows: p.below(v), Height: below})
}
