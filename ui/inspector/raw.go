package inspector

import (
	"encoding/json"
	"strings"
	"time"

	"github.com/farsight-console/farsight/engine"
	"github.com/farsight-console/farsight/engine/human"
	"github.com/farsight-console/farsight/engine/safe"
	"github.com/farsight-console/farsight/themes"
	"github.com/farsight-console/farsight/ui/lists"
	"github.com/farsight-console/farsight/ui/page"
	"github.com/farsight-console/farsight/ui/part"
)

// raw is a job as the API gives it: its record, the attempt under the cursor and
// the headers of its last answer.
// It scrolls by rows; a cursor has nothing to choose there.
type raw struct {
	on   bool // instead of the inspector, where there is no room beside it
	top  int
	rows int // that are visible
	// nil text = it was not made yet.
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
func (p *Job) rawLines(v *page.View) []string {
	j := p.row(v)
	r, on := lists.Selected(&p.list, p.source(v).Slice)
	on = on && r.Attempt != nil
	at, _ := p.list.Cur.Selected()
	if now := (rawOf{p.Came, j.Rev, at}); p.raw.text == nil || p.raw.made != now {
		p.raw.made, p.raw.text = now, rawText(j, r.Attempt, on, p.Detail.Call)
	}
	return p.raw.text
}

// rawText are the headers, the attempt if one is under the cursor, and the job, as indented JSON.
// Headers come first: they are what is not told elsewhere.
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
// Those that the recorder kept; a body follows them as far as it was kept.
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
// On a wide block the text runs down several columns, like a newspaper, as many as it needs.
func (p *Job) rawPanel(v *page.View, w, h int, focus bool) part.Section {
	columns := max(w/rawColumn, 1)
	lines := wholeLines(p.rawLines(v), w/columns-2)
	columns = page.Clamp((len(lines)+h-1)/max(h, 1), 1, columns)
	p.raw.rows = max(columns*h, 1)
	p.raw.top = page.Clamp(p.raw.top, 0, max(len(lines)-p.raw.rows, 0))
	shown := lines[p.raw.top:min(len(lines), p.raw.top+p.raw.rows)]
	rows := make([]string, 0, h)
	l := part.NewLine(v.Theme, w)
	for y := range min(h, len(shown)) {
		l.Reset(w, false)
		for i := y; i < len(shown); i += h {
			from := i / h * (w / columns)
			rawLine(l.To(from+1), shown[i], min(w/columns-2, w-from-1))
		}
		rows = append(rows, l.String())
	}
	tail := ""
	if more := len(lines) - p.raw.top - len(shown); more > 0 {
		tail = human.Counted(more, "line", "lines") + " more"
	}
	return part.Section{Title: "RAW", Tail: tail, Focus: focus, Rows: rows, Height: h}
}

// rawColumn is what the raw record takes at least in each of several columns.
const rawColumn = 56

// wholeLines breaks what is longer than w cells, such as a body of an answer: none of it is cut.
// What goes on in the next line keeps the indent of the first, unless that is wider than the block.
func wholeLines(lines []string, w int) (out []string) {
	for _, text := range lines {
		indent := text[:len(text)-len(strings.TrimLeft(text, " "))]
		if len(indent) >= w {
			indent = ""
		}
		head, rest := page.CutAt(safe.Text(text), max(w, 1))
		for ; head != "" && rest != ""; head, rest = page.CutAt(indent+rest, max(w, 1)) {
			out = append(out, head)
		}
		out = append(out, head+rest)
	}
	return out
}

// rawLine writes one line of JSON or of headers in w cells: names are dim, what they stand for
// is not.
// A line that begins at the margin is a title.
func rawLine(l *part.Line, text string, w int) {
	if !strings.HasPrefix(text, " ") && !strings.ContainsAny(text, "{}") {
		l.Field(part.As(themes.Accent, text), w, part.Words)
		return
	}
	name, value, named := strings.Cut(text, ": ")
	if !named {
		l.Field(part.Plain(text), w, part.Words)
		return
	}
	name = safe.Cut(name+": ", w)
	l.Cells(part.As(themes.Dim, name)).Field(part.Plain(value), max(w-safe.Width(name), 0), part.Words)
}

// act scrolls the raw record while it has the keys; false when the key means
// something else.
// The lower end is kept when it is drawn, where the number of rows is known.
func (r *raw) act(a page.Action) bool {
	if !r.on {
		return false
	}
	switch a {
	case page.Up:
		r.top--
	case page.Down:
		r.top++
	case page.PageUp, page.HalfUp:
		r.top -= r.rows
	case page.PageDown, page.HalfDown:
		r.top += r.rows
	case page.Home:
		r.top = 0
	case page.End:
		r.top = len(r.text)
	default:
		return false
	}
	r.top = max(r.top, 0)
	return true
}
