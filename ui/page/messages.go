package page

import (
	"strconv"
	"strings"

	"github.com/farsight-console/farsight/engine"
	"github.com/farsight-console/farsight/engine/filter"
	"github.com/farsight-console/farsight/themes"
	"github.com/farsight-console/farsight/ui/part"
)

// Messages lists what the message line has said, the newest first.
type Messages struct {
	quiet
	list[message]
}

// message is a note with its number: two may say the same.
type message struct {
	engine.Note
	n int
}

var messageSchema = filter.New(filter.Options{Free: []string{"text", "level", "job"}, Fuzzy: []string{"text"}, Age: "age", When: "at"},
	textField("text", filter.Prose, "", func(m *message) string { return m.Text }),
	textField("level", filter.Name, "ok, info, warn, error", func(m *message) string { return string(m.Level) }),
	textField("job", filter.Name, "", func(m *message) string { return string(m.Job) }),
	filter.Field[message]{Name: "at", Kind: filter.Past, Value: func(m *message, _ instant) filter.Value { return filter.At(m.At) }},
	filter.Field[message]{Name: "age", Kind: filter.Duration, Value: func(m *message, now instant) filter.Value { return filter.Since(m.At, now) }},
)

// NewMessages makes the screen.
func NewMessages() *Messages {
	return &Messages{list: newList(messageSchema, func(m message) string { return strconv.Itoa(m.n) }, messageCells, messageFields)}
}

// Screen implements Page.
func (p *Messages) Screen() Screen { return ScreenMessages }

// Crumb implements Page.
func (p *Messages) Crumb(*View) string { return "Messages" }

func (p *Messages) refresh(v *View) {
	p.put(v, v.Noted, func() []message {
		rows := make([]message, 0, len(v.Notes))
		for i := len(v.Notes) - 1; i >= 0; i-- {
			rows = append(rows, message{v.Notes[i], v.Noted - len(v.Notes) + i})
		}
		return rows
	})
}

// LevelWord is the state word of a level.
var LevelWord = map[engine.Level]string{
	engine.LevelOK: "OK", engine.LevelInfo: "INFO", engine.LevelWarn: "WARN", engine.LevelErr: "ERROR",
}

func messageCells(v *View, m message, cells []part.Cell) []part.Cell {
	return append(cells, part.As(themes.Dim, v.clock(m.At)), v.state(LevelWord[m.Level]), part.Plain(m.Text), part.As(themes.Dim, string(m.Job)))
}

var messageFields = []field[message]{
	{part.Column{Title: "WHEN", Kind: part.Words, Min: 12, Width: 12}, func(a, b *message) int { return b.At.Compare(a.At) }},
	{part.Column{Title: "LEVEL", Kind: part.State, Min: 7, Width: 7}, func(a, b *message) int { return strings.Compare(string(a.Level), string(b.Level)) }},
	{part.Column{Title: "MESSAGE", Kind: part.Words, Min: 42, Width: 60, Flex: 4}, nil},
	{part.Column{Title: "JOB", Kind: part.Words, Min: 8, Width: 14, Priority: 1}, func(a, b *message) int { return strings.Compare(string(a.Job), string(b.Job)) }},
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
		return Effect{Open: NewJob(m.Job)}
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
