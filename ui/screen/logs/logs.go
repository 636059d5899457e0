// Package logs is the screen of the engine's log, of a job's log, and of one record.
package logs

import (
	"github.com/farsight-console/farsight/engine"
	"github.com/farsight-console/farsight/engine/columns"
	"github.com/farsight-console/farsight/engine/human"
	"github.com/farsight-console/farsight/ui/block"
	"github.com/farsight-console/farsight/ui/lists"
	"github.com/farsight-console/farsight/ui/page"
	"github.com/farsight-console/farsight/ui/part"
)

// Screen is the engine's log, the newest record last, without a border: what a terminal selects is
// clean text. It follows until the cursor leaves the last record.
type Screen struct {
	job  engine.JobID // "" = all records
	name string       // of the job
	lists.Query[columns.Record]
	page.Answer
	book
	lists.Pane
	level int  // of block.LogLevels: this one and above
	off   bool // the cursor was taken off the newest record
	wrap  bool
	ago   bool // times are told as ages

	// They are kept until the log is read anew.
	open  map[uint64]bool // folds that were opened, by their first record
	lines []line
	at    map[string]int
	made  recipe
}

// perAsk is how many records one question asks for: ten screens of them.
const perAsk = 500

// New makes the log of one job, named name; "" is the numbered screen with all.
// The log of a job begins with all levels: it has few records, and whoever opens it wants each.
func New(job engine.JobID, name string) *Screen {
	p := &Screen{job: job, name: name,
		Query: lists.Query[columns.Record]{Schema: columns.Logs.Schema}, level: block.UsualLevel}
	if job != "" {
		p.level = 0
	}
	return p
}

// Screen implements Page.
func (p *Screen) Screen() page.Screen { return page.ScreenLogs }

// Crumb implements Page.
func (p *Screen) Crumb(*page.View) string { return human.If(p.job != "", "Logs of "+p.name) }

// Want implements Page: what came before this console, once; what comes later is
// told by Watch. Older records are asked for when the cursor has come to the first.
// A frozen view asks for no older ones.
func (p *Screen) Want(v *page.View) engine.Query {
	q := engine.LogsQuery{Page: engine.Page{Limit: perAsk}, Level: block.LogLevels[p.level], Job: p.job}
	if p.Have && p.older && p.next != "" && !p.Pending && !v.Frozen {
		p.Pending, p.older = true, false
		q.After = p.next
		return q
	}
	return p.Ask(v, p.version(v), q)
}

// version is of what an answer holds. Watch tells what is graver than debug; debug
// records are read again while the log is followed and the engine moves.
// With debug records on the screen, a cursor that was taken off the newest one stops the reading:
// the lines would move under it.
func (p *Screen) version(v *page.View) uint64 {
	switch {
	case p.level > 0:
		return v.Restarts
	case p.off && p.Have:
		return p.Seq
	}
	return v.Restarts + v.Version
}

// Got implements Page.
func (p *Screen) Got(v *page.View, q engine.Query, a engine.Answer, err error) {
	asked, ok := q.(engine.LogsQuery)
	if !ok || asked.Job != p.job || !p.Take(v, err) {
		return
	}
	page, _ := a.(engine.LogsPage)
	p.read(page, asked.After != "")
}

// Fit implements Filterer.
// All are those that the engine has in memory, also when fewer were read.
func (p *Screen) Fit() (shown, all int) { return p.fitting, max(len(p.records), p.kept) }

// Reload reads the log again and folds bursts.
// The records stay until the answer is here.
func (p *Screen) Reload() {
	p.open = nil
	p.Forget()
}

// refresh brings the lines up to date.
// It is called before everything that looks at the lines; without a change it costs a comparison.
func (p *Screen) refresh(v *page.View) {
	p.collect(v)
	now := recipe{last: p.last, n: len(p.records), gen: p.Gen, level: p.level, open: len(p.open)}
	if p.On() {
		now.second = v.Now.Unix()
	}
	if now == p.made && p.at != nil {
		return
	}
	p.made = now
	p.seen = p.Pick(p.leveled(p.level, p.job), v.Now)
	p.fitting = len(p.seen)
	p.lines = foldLines(p.seen, p.open)
	p.at = make(map[string]int, len(p.lines))
	for i, l := range p.lines {
		p.at[l.id] = i
	}
}

// recipe names the versions of what the lines were made of.
type recipe struct {
	last   uint64
	n, gen int
	level  int
	open   int
	second int64 // what a filter says of ages moves on with time
}

// Cannot implements Page.
// What a record opens is the record's own screen, so that every line has something.
func (p *Screen) Cannot(v *page.View, a page.Action) string {
	p.refresh(v)
	if a == page.Open && len(p.lines) == 0 {
		return "there is no record here"
	}
	return ""
}

// Act implements Page.
// Panning does not leave the newest record, other moves may.
func (p *Screen) Act(v *page.View, a page.Action) page.Effect {
	p.refresh(v)
	p.placeCursor()
	switch a {
	case page.Trigger:
		return page.Effect{Ask: page.AskSync}
	case page.States:
		p.level = (p.level + 1) % len(block.LogLevels)
		p.Forget()
	case page.Wide:
		p.wrap = !p.wrap
	case page.Clock:
		p.ago = !p.ago
	case page.Next:
		return p.step(v, 1)
	case page.Previous:
		return p.step(v, -1)
	case page.Open:
		return p.enter()
	default:
		if p.Pane.Steer(p, a) && a != page.Left && a != page.Right {
			p.off = p.Cur.At() < len(p.lines)-1
			p.older = p.older || p.Cur.At() == 0
		}
	}
	return page.Effect{}
}

// placeCursor puts the cursor on the newest record while the log is followed, and on a
// line that is there in any case: a record that was folded takes it along.
func (p *Screen) placeCursor() {
	if !p.off {
		p.Cur.End(p, p.Height)
		return
	}
	p.Cur.Sync(p, p.Height)
	if _, left := p.Cur.Left(); left {
		p.Cur.Go(p, p.Cur.At(), p.Height)
	}
}

// enter opens a fold, or the record under the cursor.
func (p *Screen) enter() page.Effect {
	l, ok := p.line()
	switch {
	case !ok:
		return page.Effect{}
	// The cursor stays at its row, where the second record of the burst comes to stand.
	case l.more > 0:
		if p.open == nil {
			p.open = map[uint64]bool{}
		}
		p.open[l.first], p.off = true, true
		p.Cur.Go(p, p.Cur.At(), p.Height)
		return page.Effect{}
	}
	return page.Effect{Open: &page.Target{Screen: page.ScreenRecord, Row: p.seen[l.at]}}
}

// line is the line under the cursor; false = there is none.
func (p *Screen) line() (line, bool) {
	id, _ := p.Cur.Selected()
	i, ok := p.at[id]
	if !ok {
		return line{}, false
	}
	return p.lines[i], true
}

// step goes to the next match of the filter, or without one to the next warning
// or error, and round at the end.
// A fold is skipped: its first record stands above it.
func (p *Screen) step(v *page.View, by int) page.Effect {
	n := len(p.lines)
	for i := 1; i <= n; i++ {
		at := ((p.Cur.At()+by*i)%n + n) % n
		r := p.seen[p.lines[at].at]
		if p.lines[at].more > 0 || !p.On() && r.Level != "warn" && r.Level != "error" {
			continue
		}
		p.Cur.Go(p, at, p.Height)
		p.off = at < n-1
		return page.Effect{}
	}
	return page.Say(v.Keyed("there is no warning and no error here: {filter} looks for something else"))
}

// SelectedJob implements Jobber.
// "" when the record is about no job.
func (p *Screen) SelectedJob(v *page.View) (engine.JobID, string) {
	r, _ := p.record(v)
	return r.Job, string(r.Job)
}

// record is the record under the cursor; the zero record and false = there is none.
func (p *Screen) record(v *page.View) (r columns.Record, ok bool) {
	p.refresh(v)
	p.placeCursor()
	l, ok := p.line()
	if ok {
		r = p.seen[l.at]
	}
	return r, ok
}

// Export implements Exporter.
// Folded records are exported as well: a file needs no folds.
func (p *Screen) Export(v *page.View, only bool) (string, [][]string) {
	r, ok := p.record(v)
	rows := p.seen
	if only {
		rows = nil
		if ok {
			rows = []columns.Record{r}
		}
	}
	out := make([][]string, len(rows)+1)
	for _, c := range columns.LogExport {
		out[0] = append(out[0], c.Head.Title)
		for i := range rows {
			out[i+1] = append(out[i+1], c.Cell(page.Pen{View: v}, &rows[i]).Text)
		}
	}
	return "logs", out
}

// Len implements part.Source.
func (p *Screen) Len() int { return len(p.lines) }

// ID implements part.Source.
func (p *Screen) ID(i int) string { return p.lines[i].id }

// Find implements part.Source.
func (p *Screen) Find(id string) (int, bool) {
	i, ok := p.at[id]
	return i, ok
}

// Row implements part.Source; lines are drawn by draw.
// The cursor only needs to know how many lines there are and what they are called.
func (p *Screen) Row(_ int, cells []part.Cell) []part.Cell { return cells }
