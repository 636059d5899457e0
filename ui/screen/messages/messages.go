// Package messages is the screen of what the message line has said.
package messages

import (
	"cmp"
	"slices"
	"strconv"

	"github.com/farsight-console/farsight/engine"
	"github.com/farsight-console/farsight/engine/columns"
	"github.com/farsight-console/farsight/engine/human"
	"github.com/farsight-console/farsight/themes"
	"github.com/farsight-console/farsight/ui/block"
	"github.com/farsight-console/farsight/ui/lists"
	"github.com/farsight-console/farsight/ui/page"
	"github.com/farsight-console/farsight/ui/part"
)

// screen lists what the message line has said, the newest first. The line itself shows each message
// for some seconds only.
type screen struct {
	page.Quiet
	lists.Page[columns.Message]
}

// New makes the screen.
// Enter opens the job that a message is about, if there is one.
func New() page.Page {
	p := &screen{}
	p.List = lists.New(columns.Messages, slices.Clone(columns.MessageList),
		func(m *columns.Message) string { return strconv.Itoa(m.Number) })
	p.Is = lists.Declaration[columns.Message]{
		Screen: page.ScreenMessages, Crumb: "Messages", File: "messages", Row: "message", Fill: p.fill,
		Does: map[page.Action]func(*page.View, columns.Message) page.Effect{
			page.Open: func(_ *page.View, m columns.Message) page.Effect {
				return page.Effect{Open: page.ToJob(m.Job)}
			},
		},
		Cannot: func(_ *page.View, a page.Action, m columns.Message) string {
			return human.If(a == page.Open && m.Job == "", "this message is about no job")
		},
	}
	return p
}

// fill numbers the messages over the whole session, for Noted counts them all and Notes holds the
// last ones: a row keeps its identity when older ones are dropped.
func (p *screen) fill(v *page.View) {
	p.Put(v, v.Noted, func() []columns.Message {
		rows := make([]columns.Message, 0, len(v.Notes))
		job := &p.Fields[len(p.Fields)-1].Head
		job.Min, job.Width = len(job.Title), len(job.Title) // while it is empty it would cut texts
		for i := len(v.Notes) - 1; i >= 0; i-- {
			if v.Notes[i].Job != "" {
				*job = columns.MessageList[len(p.Fields)-1].Head
			}
			rows = append(rows, columns.Message{Note: v.Notes[i], Number: v.Noted - len(v.Notes) + i})
		}
		return rows
	})
}

// SelectedJob implements Jobber.
// Most messages are about a command and not about one job: "" then.
func (p *screen) SelectedJob(v *page.View) (engine.JobID, string) {
	p.Refresh(v)
	m, _ := p.Selected()
	return m.Job, string(m.Job)
}

// below is the whole text of the selected message: a list cuts it.
func (p *screen) below(v *page.View) []string {
	m, _ := p.Selected()
	if len(p.Shown) == 0 {
		return []string{v.Row(v.Inner(v.W), part.As(themes.Dim, " no message is selected"))}
	}
	return v.Paragraph(v.Inner(v.W), themes.Text, m.Text)
}

// wholeRows is how many rows the whole text of a message gets at least, which is enough for most.
const wholeRows = 3

// Draw implements Page.
// What the whole text leaves of the room is the log, from three rows on.
func (p *screen) Draw(v *page.View) []string {
	p.Refresh(v)
	h, below := p.Parts(v, wholeRows)
	list := p.Section(v, v.Inner(v.W), h, cmp.Or(p.List.Empty(v), "no message yet"),
		part.Section{Title: "MESSAGES", Note: p.Note(v), Tail: p.About(v.Keyed("{open} opens the job"))})
	// The list has what its rows need, and the text what is left.
	whole := part.Section{Title: "WHOLE MESSAGE", Rows: p.below(v), Height: below}
	const least = 3 // rows of a log
	if rest := below - len(whole.Rows) - 2; rest >= least {
		whole.Height = len(whole.Rows)
		log := block.LogRows(v, v.Inner(v.W), rest, "")
		return block.Below(v, len(log), list, whole,
			part.Section{Title: "LOG", Note: "newest first", Rows: log, Height: rest})
	}
	return v.Whole(list, whole)
}
