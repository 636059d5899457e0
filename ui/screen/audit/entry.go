package audit

import (
	"cmp"
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

// entry is one command of the audit with what it has changed, before and after.
// The list of commands comes without the jobs that each has changed: those are asked for here.
type entry struct {
	lists.Page[engine.JobMove]
	page.Answer
	entry engine.AuditEntry
}

// NewEntry makes the screen of a command.
func NewEntry(e engine.AuditEntry) page.Page {
	p := &entry{entry: e}
	p.List = lists.New(columns.Moves, columns.MoveList.Drawn("else", page.ByView(diff)),
		func(m *engine.JobMove) string { return string(m.Job) })
	number := strconv.FormatUint(e.Seq, 10)
	p.Is = lists.Declaration[engine.JobMove]{
		Screen: page.ScreenEntry, Crumb: string(e.Op) + " #" + number, File: "command-" + number, Row: "job",
		Fill: func(v *page.View) {
			p.Put(v, page.MadeOf{Came: p.Came}, func() []engine.JobMove { return p.entry.Moves })
		},
		Does: map[page.Action]func(*page.View, engine.JobMove) page.Effect{
			page.Open: func(_ *page.View, m engine.JobMove) page.Effect { return page.Effect{Open: page.ToJob(m.Job)} },
		},
	}
	return p
}

// Want implements Page: a command that was carried out never changes.
func (p *entry) Want(v *page.View) engine.Query {
	return p.Ask(v, p.entry.Seq, engine.AuditQuery{Seq: p.entry.Seq})
}

// Got implements Page.
// The entry that the screen was opened with stays until the answer holds the same number.
func (p *entry) Got(v *page.View, q engine.Query, a engine.Answer, err error) {
	asked, ok := q.(engine.AuditQuery)
	if !ok || asked.Seq != p.entry.Seq || !p.Take(v, err) {
		return
	}
	page, _ := a.(engine.AuditPage)
	for _, e := range page.Entries {
		if e.Seq == p.entry.Seq {
			p.entry = e
		}
	}
}

// diff is what else has changed besides the state.
// Such as "due 12:31:47 → 12:30:50, tries 2 → 0". The state has a column of its own.
func diff(v *page.View, m *engine.JobMove) part.Cell {
	a, b := m.Before, m.After
	counted := func(name string, before, after int) string {
		return human.If(before != after, name+" "+strconv.Itoa(before)+" "+v.Theme.Glyphs.Next+" "+strconv.Itoa(after))
	}
	due := human.If(!a.Due.Equal(b.Due), "due "+v.Clock(a.Due)+" "+v.Theme.Glyphs.Next+" "+v.Clock(b.Due))
	return part.As(themes.Dim, human.List(due, counted("round", a.Round, b.Round), counted("tries", a.Tries, b.Tries),
		counted("phase", a.Phase, b.Phase), counted("crashes", a.Crashes, b.Crashes), human.If(!a.Front && b.Front, "first in its line")))
}

// SelectedJob implements Jobber.
// "" when the command has changed no job.
func (p *entry) SelectedJob(v *page.View) (engine.JobID, string) {
	p.Refresh(v)
	m, _ := p.Selected()
	return m.Job, string(m.Job)
}

// Draw implements Page.
// The facts have half of the screen at most, the jobs the rest, and a log stands below a short
// list.
func (p *entry) Draw(v *page.View) []string {
	p.Refresh(v)
	e, w := &p.entry, v.Inner(v.W)
	facts := []block.Fact{
		{Key: "who", Value: whoFull(e.By)},
		{Key: "when", Value: e.At.In(v.Now.Location()).Format("2006-01-02 15:04:05 -07:00") + "  (" +
			v.Ago(e.At) + ")"},
		{Key: "what", Value: string(e.Op) + ": " + e.Target}, {Key: "why", Value: cmp.Or(e.Reason, part.None)},
		{Key: "result", Value: e.Result},
	}
	if e.Queue != nil {
		facts = append(facts, block.Fact{Key: "queue", Value: queueMove(v, e.Queue)})
	}
	if e.Schedule != nil {
		facts = append(facts, block.Fact{Key: "plan", Value: scheduleMove(v, e.Schedule)})
	}
	head := block.FactRows(v, w, facts)
	// A long result may not push the list of jobs off the screen.
	head = head[:min(len(head), max(v.H/2, 1))]
	h, log := block.BeforeLog(v, max(v.H-len(head)-3, 1), len(p.Shown))
	return block.WithLog(v, log,
		part.Section{Title: "COMMAND", Note: "#" + strconv.FormatUint(e.Seq, 10), Tail: p.Told(v), Rows: head,
			Height: len(head)},
		p.Section(v, w, h, p.empty(v),
			part.Section{Title: "CHANGED JOBS", Note: p.Note(v), Tail: p.About(v.Keyed("{open} opens the job"))}))
}

// whoFull names the session too.
// A person with two consoles open has two sessions.
func whoFull(a engine.Actor) string {
	return columns.Who(a) + human.If(a.Session != "", ", session "+a.Session)
}

// queueMove is "report.weekly: open → paused".
func queueMove(v *page.View, m *engine.QueueMove) string {
	word := map[bool]string{true: "paused", false: "open"}
	return string(m.After.Name) + ": " + word[m.Before.Paused] + " " + v.Theme.Glyphs.Next + " " + word[m.After.Paused]
}

// scheduleMove is latest: 0 */1 * * * UTC → 0 */2 * * * Asia/Seoul.
func scheduleMove(v *page.View, m *engine.ScheduleMove) string {
	words := func(s engine.ScheduleStand) string {
		return s.Expr + " " + s.Zone + human.If(s.Edit.Expr != "", " (edited"+columns.ByUser(s.Edit.By)+")") + human.If(s.Paused, ", paused")
	}
	return m.Name + ": " + words(m.Before) + " " + v.Theme.Glyphs.Next + " " + words(m.After)
}

// empty says why no job is listed. A command on a queue or a schedule changes no job, which is told
// apart from one that found nothing to do.
func (p *entry) empty(v *page.View) string {
	switch {
	case p.Loading() && len(p.entry.Moves) == 0:
		return "loading what it changed…"
	case p.entry.Queue != nil:
		return "it turned the switch of a queue, and changed no job"
	case p.entry.Schedule != nil:
		return "it changed a schedule, and no job"
	}
	if none := p.List.Empty(v); none != "" || p.entry.Applied == 0 {
		return cmp.Or(none, "it changed nothing")
	}
	return "no job that was here before: see the result"
}
