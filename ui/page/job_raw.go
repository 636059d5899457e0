package page

import (
	"encoding/json"
	"strings"
	"time"

	"github.com/farsight-console/farsight/engine"
	"github.com/farsight-console/farsight/engine/human"
	"github.com/farsight-console/farsight/themes"
	"github.com/farsight-console/farsight/ui/part"
)

// raw is a job as the API gives it: its record, the attempt under the cursor and
// the headers of its last answer.
type raw struct {
	on   bool // instead of the inspector, where there is no room beside it
	top  int
	rows int // that are visible
	made rawOf
	text []string
}

// rawOf names what the text was made of.
type rawOf struct {
	got time.Time
	rev engine.Revision
	at  string
}

// rawWidth is what the raw record takes beside the inspector on a wide screen.
const rawWidth = 66

// rawLines is the text, made anew only when what it is made of has changed.
func (p *Job) rawLines(v *View) []string {
	j := p.row(v)
	r, on := selected(&p.list, p.source(v).Slice)
	on = on && r.Attempt != nil
	at, _ := p.list.cur.Selected()
	if now := (rawOf{p.got, j.Rev, at}); p.raw.text == nil || p.raw.made != now {
		p.raw.made, p.raw.text = now, rawText(j, r.Attempt, on, p.detail.Call)
	}
	return p.raw.text
}

func rawText(j engine.JobRow, a *engine.Attempt, on bool, c *engine.CallRow) []string {
	var out []string
	add := func(title string, value any) {
		doc, err := json.MarshalIndent(value, "", "  ")
		if err != nil { // arguments that are no JSON are told as they are
			doc = []byte(err.Error())
		}
		out = append(append(out, title), strings.Split(string(doc), "\n")...)
	}
	if c != nil {
		out = append(out, headers(*c)...)
	}
	if on {
		add("attempt", a)
	}
	add("job", j)
	return out
}

// headers are those of the last answer.
func headers(c engine.CallRow) []string {
	out := []string{"headers of the last answer"}
	for _, h := range c.Headers {
		out = append(out, "  "+h)
	}
	if len(out) == 1 {
		out = append(out, "  none was kept")
	}
	if c.Body != "" {
		out = append(out, "its body begins", "  "+c.Body)
	}
	return out
}

// rawPanel is the raw record in h rows.
func (p *Job) rawPanel(v *View, w, h int, focus bool) part.Section {
	lines := p.rawLines(v)
	p.raw.rows = max(h, 1)
	p.raw.top = clamp(p.raw.top, 0, max(len(lines)-h, 0))
	rows := make([]string, 0, h)
	for _, text := range lines[p.raw.top:min(len(lines), p.raw.top+h)] {
		token := themes.Text
		if !strings.HasPrefix(text, " ") && !strings.ContainsAny(text, "{}") {
			token = themes.Accent
		}
		rows = append(rows, part.NewLine(v.Theme, w).Gap(1).Put(token, text).String())
	}
	tail := ""
	if more := len(lines) - p.raw.top - h; more > 0 {
		tail = human.Counted(more, "line", "lines") + " more"
	}
	return part.Section{Title: "RAW", Tail: tail, Focus: focus, Rows: rows, Height: h}
}

// act scrolls the raw record while it has the keys; false when the key means
// something else.
func (r *raw) act(a Action) bool {
	if !r.on {
		return false
	}
	switch a {
	case Up:
		r.top--
	case Down:
		r.top++
	case PageUp, HalfUp:
		r.top -= r.rows
	case PageDown, HalfDown:
		r.top += r.rows
	case Home:
		r.top = 0
	case End:
		r.top = len(r.text)
	default:
		return false
	}
	r.top = max(r.top, 0)
	return true
}
