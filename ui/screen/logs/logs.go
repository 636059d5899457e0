// Package logs is the screen of the engine's log, of a job's log, and of one record.
package logs

import (
	"github.com/farsight-console/farsight/engine"
	"github.com/farsight-console/farsight/engine/columns"
	"github.com/farsight-console/farsight/ui/block"
	"github.com/farsight-console/farsight/ui/lists"
	"github.com/farsight-console/farsight/ui/page"
	"github.com/farsight-console/farsight/ui/part"
)

// Logs is the engine's log, the newest record last, without a border: what a
// terminal selects is clean text. It follows until the cursor leaves the last
// record.
type Logs struct {
	job  engine.JobID // "" = all records
	name string       // of the job
	lists.Query[Record]
	page.Answer
	logBook
	lists.Pane
	foot  block.Foot
	level int  // of block.LogLevels: this one and above
	off   bool // the cursor was taken off the newest record
	wrap  bool
	ago   bool // times are told as ages

	open  map[uint64]bool // folds that were opened, by their first record
	lines []logLine
	at    map[string]int
	made  logRecipe
}

// logAsk is how many records one question asks for.
const logAsk = 500

// New makes the log of one job, named name; "" is the numbered screen with all.
func New(job engine.JobID, name string) *Logs {
	p := &Logs{foot: block.NewFoot(), job: job, name: name, Query: lists.Query[Record]{Schema: columns.Logs.Schema}, level: block.UsualLevel}
	if job != "" {
		p.level = 0
	}
	return p
}

// Screen implements Page.
func (p *Logs) Screen() page.Screen { return page.ScreenLogs }

// Crumb implements Page.
func (p *Logs) Crumb(*page.View) string {
	if p.job == "" {
		return ""
	}
	return "Logs of " + p.name
}

// Want implements Page: what came before this console, once; what comes later is
// told by Watch. Older records are asked for when the cursor has come to the first.
func (p *Logs) Want(v *page.View) engine.Query {
	q := engine.LogsQuery{Page: engine.Page{Limit: logAsk}, Level: block.LogLevels[p.level], Job: p.job}
	if p.Have && p.older && p.next != "" && !p.Pending && !v.Frozen {
		p.Pending, p.older = true, false
		q.After = p.next
		return q
	}
	if !p.Due(v, p.version(v)) {
		return p.foot.Want(v)
	}
	return q
}

// version is of what an answer holds. Watch tells what is graver than debug; debug
// records are read again while the log is followed and the engine moves.
func (p *Logs) version(v *page.View) uint64 {
	switch {
	case p.level > 0:
		return v.Restarts
	case p.off && p.Have:
		return p.Seq
	}
	return v.Restarts + v.Version
}

// Got implements Page.
func (p *Logs) Got(v *page.View, q engine.Query, a engine.Answer, err error) {
	p.foot.Got(q, a, err)
	asked, ok := q.(engine.LogsQuery)
	if !ok || asked.Job != p.job || !p.Take(v, err) {
		return
	}
	page, _ := a.(engine.LogsPage)
	p.read(page, asked.After != "")
}

// SetFilter implements Filterer.
func (p *Logs) SetFilter(text string) error { return p.Query.SetFilter(text) }

// Fit implements Filterer.
func (p *Logs) Fit() (shown, all int) { return p.fitting, max(len(p.records), p.kept) }

// Reload reads the log again and folds bursts.
func (p *Logs) Reload() {
	p.open = nil
	p.Forget()
}

// refresh brings the lines up to date.
func (p *Logs) refresh(v *page.View) {
	p.collect(v)
	now := logRecipe{last: p.last, n: len(p.records), gen: p.Gen, level: p.level, open: len(p.open)}
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

// logRecipe names the versions of what the lines were made of.
type logRecipe struct {
	last   uint64
	n, gen int
	level  int
	open   int
	second int64 // what a filter says of ages moves on with time
}

// Cannot implements Page.
func (p *Logs) Cannot(v *page.View, a page.Action) string {
	p.refresh(v)
	if a == page.Open && len(p.lines) == 0 {
		return "there is no record here"
	}
	return ""
}

// Act implements Page.
func (p *Logs) Act(v *page.View, a page.Action) page.Effect {
	p.refresh(v)
	p.settle()
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

// settle puts the cursor on the newest record while the log is followed, and on a
// line that is there in any case: a record that was folded takes it along.
func (p *Logs) settle() {
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
func (p *Logs) enter() page.Effect {
	l, ok := p.line()
	switch {
	case !ok:
		return page.Effect{}
	case l.more > 0:
		opened := map[uint64]bool{l.first: true}
		for seq := range p.open {
			opened[seq] = true
		}
		p.open, p.off = opened, true
		p.Cur.Go(p, p.Cur.At(), p.Height)
		return page.Effect{}
	}
	return page.Effect{Open: &page.Target{Screen: page.ScreenRecord, Row: p.seen[l.at]}}
}

func (p *Logs) line() (logLine, bool) {
	id, _ := p.Cur.Selected()
	i, ok := p.at[id]
	if !ok {
		return logLine{}, false
	}
	return p.lines[i], true
}

// step goes to the next match of the filter, or without one to the next warning
// or error, and round at the end.
func (p *Logs) step(v *page.View, by int) page.Effect {
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
func (p *Logs) SelectedJob(v *page.View) (engine.JobID, string) {
	p.refresh(v)
	p.settle()
	l, ok := p.line()
	if !ok {
		return "", ""
	}
	job := p.seen[l.at].Job
	return job, string(job)
}

// Export implements Exporter.
func (p *Logs) Export(v *page.View, only bool) (string, [][]string) {
	p.refresh(v)
	p.settle()
	rows := p.seen
	if only {
		rows = nil
		if l, ok := p.line(); ok {
			rows = p.seen[l.at : l.at+1]
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
func (p *Logs) Len() int { return len(p.lines) }

// ID implements part.Source.
func (p *Logs) ID(i int) string { return p.lines[i].id }

// Find implements part.Source.
func (p *Logs) Find(id string) (int, bool) {
	i, ok := p.at[id]
	return i, ok
}

// Row implements part.Source; lines are drawn by draw.
func (p *Logs) Row(_ int, cells []part.Cell) []part.Cell { return cells }
