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
	footed
	listPage[columns.Message]
}

// NewMessages makes the screen.
func NewMessages() *Messages {
	p := &Messages{footed: footed{newFoot()}}
	p.list = newList(columns.Messages, columns.MessageList, func(m *columns.Message) string { return strconv.Itoa(m.Number) })
	p.is = screenOf[columns.Message]{
		screen: ScreenMessages, crumb: "Messages", file: "messages", row: "message", fill: p.fill,
		does: map[Action]func(*View, columns.Message) Effect{
			Open: func(_ *View, m columns.Message) Effect { return Effect{Open: toJob(m.Job)} },
		},
		cannot: func(_ *View, a Action, m columns.Message) string {
			if a == Open && m.Job == "" {
				return "this message is about no job"
			}
			return ""
		},
	}
	return p
}

func (p *Messages) fill(v *View) {
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

// below is the whole text of the selected message: a list cuts it.
func (p *Messages) below(v *View) []string {
	m, _ := p.selected()
	var rows []string
	if len(p.shown) == 0 {
		return []string{v.row(v.inner(v.W), part.As(themes.Dim, " no message is selected"))}
	}
	for _, line := range part.Wrap(m.Text, max(v.W-4, 10)) {
		rows = append(rows, v.row(v.inner(v.W), part.Plain(" "+line)))
	}
	return rows
}

// wholeRows is how many rows the whole text of a message gets at least.
const wholeRows = 3

// Draw implements Page.
func (p *Messages) Draw(v *View) []string {
	p.refresh(v)
	h, below := p.parts(v, wholeRows)
	list := p.section(v, v.inner(v.W), h, or(p.list.empty(v), "no message yet"), part.Section{Title: "MESSAGES", Note: p.note(v), Tail: p.about(v.keyed("{open} opens the job"))})
	whole := part.Section{Title: "WHOLE MESSAGE", Rows: p.below(v), Height: below}
	const least = 3 // rows of a log
	if rest := below - len(whole.Rows) - 2; rest >= least {
		whole.Height = len(whole.Rows)
		log := logRows(v, v.inner(v.W), rest, "")
		return p.foot.below(v, len(log), list, whole, part.Section{Title: "LOG", Note: "newest first", Rows: log, Height: rest})
	}
	return v.whole(list, whole)
}
