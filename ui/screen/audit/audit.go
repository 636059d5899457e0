// Package audit is the screen of who did what, and of one command with what it changed.
package audit

import (
	"cmp"
	"slices"
	"strconv"
	"strings"

	"github.com/farsight-console/farsight/engine"
	"github.com/farsight-console/farsight/engine/columns"
	"github.com/farsight-console/farsight/engine/human"
	"github.com/farsight-console/farsight/engine/operation"
	"github.com/farsight-console/farsight/themes"
	"github.com/farsight-console/farsight/ui/block"
	"github.com/farsight-console/farsight/ui/charts"
	"github.com/farsight-console/farsight/ui/lists"
	"github.com/farsight-console/farsight/ui/page"
	"github.com/farsight-console/farsight/ui/part"
)

// screen lists who did what, when, and what came of it. Every command has an entry, whether it came
// from this console, another one, the command line or the API, and whether it was carried out or
// refused.
type screen struct {
	lists.Page[engine.AuditEntry]
	page.Answer
	entries []engine.AuditEntry
	older   bool // there are older ones than those read
	// The keys are the numbers of those commands.
	undone map[uint64]bool // commands that were taken back
	below  *entry          // the selected one, summed up below a short list; nil = there is no room
}

// New makes the screen.
func New() page.Page {
	p := &screen{}
	p.List = lists.New(columns.Audit, columns.AuditList.Drawn("undo", page.ByView(p.undoWord)),
		func(e *engine.AuditEntry) string { return strconv.FormatUint(e.Seq, 10) })
	p.Is = lists.Declaration[engine.AuditEntry]{
		Screen: page.ScreenAudit, Crumb: "Audit", File: "audit", Row: "command",
		Fill: func(v *page.View) {
			p.Put(v, page.MadeOf{Came: p.Came}, func() []engine.AuditEntry { return p.entries })
		},
		Does: map[page.Action]func(*page.View, engine.AuditEntry) page.Effect{
			page.Open: func(_ *page.View, e engine.AuditEntry) page.Effect {
				return page.Effect{Open: &page.Target{Screen: page.ScreenEntry, Row: e}}
			},
			page.TakeBack: takeBack,
		},
		Cannot: func(_ *page.View, a page.Action, e engine.AuditEntry) string {
			if a == page.TakeBack {
				return p.cannotUndo(&e)
			}
			return ""
		},
	}
	return p
}

// Want implements Page: commands move with the database.
// The list is asked for first, then the jobs of the selected command.
func (p *screen) Want(v *page.View) engine.Query {
	switch {
	case p.Due(v, v.Seq):
		return engine.AuditQuery{Page: engine.Page{Limit: page.ListMost}}
	case p.below != nil:
		if q := p.below.Want(v); q != nil {
			return q
		}
	}
	return nil
}

// Got implements Page. The list asks with Seq 0, the summary below it with the number of its
// command: that tells their answers apart. Whether a command was taken back is told by the undo
// that did so, as an entry of the audit is never changed. An undo that found nothing left to put
// back (Applied 0) took nothing back.
func (p *screen) Got(v *page.View, q engine.Query, a engine.Answer, err error) {
	asked, ok := q.(engine.AuditQuery)
	// The summary's own question comes back by the same way as the list's.
	if ok && asked.Seq != 0 && p.below != nil {
		p.below.Got(v, q, a, err)
	}
	if !ok || asked.Seq != 0 || !p.Take(v, err) {
		return
	}
	page, _ := a.(engine.AuditPage)
	p.entries, p.older, p.undone = page.Entries, page.Next != "", map[uint64]bool{}
	for i := range p.entries {
		if e := &p.entries[i]; e.Op == engine.OpUndo && e.Applied > 0 {
			p.undone[targetOf(e.Target)] = true
		}
	}
}

// cut says that the list ends before the first command that was given; "" = it does not.
// A page holds [page.ListMost] entries; the audit itself goes back as far as the database.
func (p *screen) cut() string {
	return human.If(p.older, "the newest "+page.Count(len(p.entries))+", farsight audit has more")
}

// targetOf reads the number of a command that an undo names: "command #12".
// 0 is no command's number.
// A target of another form gives 0 as well.
func targetOf(target string) uint64 {
	_, number, _ := strings.Cut(target, "#")
	n, err := strconv.ParseUint(number, 10, 64)
	if err != nil {
		return 0
	}
	return n
}

// cannotUndo says why a command cannot be taken back; "" = it may be.
// It says what can be seen from here; whether its jobs have moved on the engine finds out when it is
// asked.
func (p *screen) cannotUndo(e *engine.AuditEntry) string {
	switch {
	case p.undone[e.Seq]:
		return "#" + strconv.FormatUint(e.Seq, 10) + " has been taken back already"
	case !operation.Of(e.Op).Undo:
		return "only " + operation.UndoWords("and") + " can be taken back"
	// To pause a queue changes no job, and so counts none, but can be taken back.
	case e.Applied == 0 && e.Queue == nil:
		return "it has changed nothing"
	}
	return ""
}

// undoWord says in the list whether a command can be taken back.
func (p *screen) undoWord(v *page.View, e *engine.AuditEntry) part.Cell {
	switch {
	case p.undone[e.Seq]:
		return part.As(themes.Dim, "undone")
	case p.cannotUndo(e) == "":
		return part.As(themes.Accent, v.Keyed("{take back} undo"))
	}
	return part.As(themes.Dim, part.None)
}

// takeBack undoes a command after a question: it may be long ago, so the engine
// counts first what still stands as the command left it.
// Try makes the engine count before the question is put, so that the question names the number.
func takeBack(v *page.View, e engine.AuditEntry) page.Effect {
	f := page.Do(engine.Command{Op: engine.OpUndo, Audit: e.Seq})
	f.Try = true
	f.Confirm = &page.Confirm{
		Question: "Take back " + string(e.Op) + " of " + e.Target + "?",
		Lines: []string{columns.Who(e.By) + " did it " + v.Ago(e.At) + ": " + e.Result,
			"Only what nothing has happened to since is put back."},
		Yes: "take it back",
	}
	return f
}

// Draw implements Page.
// Below the list the selected command stands in full, and where there is room who gave commands
// when, and what they changed.
// The axis of who gave commands begins with the oldest command on the list, whatever its order.
func (p *screen) Draw(v *page.View) []string {
	p.Refresh(v)
	h, room := p.Parts(v, leastDetail)
	below := p.detail(v, v.Inner(v.W), room)
	list := p.Section(v, v.Inner(v.W), h, p.empty(v),
		part.Section{Title: "AUDIT", Note: p.Note(v, p.cut()), Tail: p.Told(v)})
	// Without a row under the cursor the section stays, so that nothing moves when the first
	// command comes.
	title, note := "SELECTED", ""
	if e, ok := p.Selected(); ok {
		title, note = "#"+strconv.FormatUint(e.Seq, 10), string(e.Op)+": "+e.Target
	}
	sections := []part.Section{list,
		{Title: title, Note: note, Tail: p.About(v.Keyed("{open} shows what it changed")), Rows: below, Height: room}}
	if left, acts := room-len(below)-2, p.byActor(v); left > 1 && len(acts) > 0 {
		first := slices.MinFunc(p.Shown, func(a, b *engine.AuditEntry) int { return a.At.Compare(b.At) })
		rows := charts.TimeRows(v, v.Inner(v.W), left, v.Now.Sub(first.At), 0, acts[:min(len(acts), left-1)])
		// The detail gives the rows that it leaves empty to the section below it.
		sections[1].Height = len(below)
		done, undone := v.Theme.State("DONE").Glyph, v.Theme.State("CANCELLED").Glyph
		sections = append(sections, part.Section{Title: "WHO",
			Note: "when each gave commands, " + done + " stands, " + undone + " was taken back", Rows: rows, Height: len(rows)})
	}
	return p.drawSummed(v, sections)
}

// drawSummed has below the sections of a short list what the selected command changed, and
// which commands are given how often.
// The summary is a page of its own that is never opened: it asks for the command's jobs and draws
// their list, without a cursor.
func (p *screen) drawSummed(v *page.View, sections []part.Section) []string {
	e, ok := p.Selected()
	if !ok || v.Leaves(sections) < block.LeastBlocks {
		p.below = nil
		return v.Whole(sections...)
	}
	if p.below == nil || p.below.entry.Seq != e.Seq {
		p.below = NewEntry(e).(*entry)
		p.below.Still = true
	}
	return block.Above(v, sections, []func(w, h int) part.Section{
		func(w, h int) part.Section {
			p.below.Refresh(v)
			s := p.below.Section(v, w, h, p.below.empty(v),
				part.Section{Title: "CHANGED JOBS", Note: "of #" + strconv.FormatUint(e.Seq, 10)})
			// The keys and the mouse belong to the list above.
			s.Click = nil
			return s
		},
		p.byCommand(v),
	})
}

// byCommand counts the commands on the list, the most frequent first.
// Only those on the list, which a filter may narrow: its note says so.
func (p *screen) byCommand(v *page.View) func(w, h int) part.Section {
	all := block.Tallied(p.Shown, func(e **engine.AuditEntry) string { return string((*e).Op) })
	return func(w, h int) part.Section {
		return part.Section{Title: "COMMANDS", Note: "on the list", Rows: block.Bars(v, all, themes.Run, w), Height: h}
	}
}

// byActor are the commands on the list by who gave them, the busiest first.
func (p *screen) byActor(v *page.View) []charts.TimeRow {
	var rows []charts.TimeRow
	for _, e := range p.Shown {
		who := columns.Who(e.By)
		i := slices.IndexFunc(rows, func(r charts.TimeRow) bool { return r.Name == who })
		if i < 0 {
			i = len(rows)
			rows = append(rows, charts.TimeRow{Name: who})
		}
		sign := human.Either(p.undone[e.Seq], v.Theme.State("CANCELLED"), v.Theme.State("DONE"))
		rows[i].Signs = append(rows[i].Signs, charts.TimeSign{At: e.At, Sign: sign})
	}
	slices.SortStableFunc(rows, func(a, b charts.TimeRow) int { return cmp.Compare(len(b.Signs), len(a.Signs)) })
	for i := range rows {
		rows[i].Name = page.Count(len(rows[i].Signs)) + " " + rows[i].Name
	}
	return rows
}

// leastDetail is how many rows the selected command has at least: who, the result, what changed.
const leastDetail = 3

// detail tells all of the selected command: a list has room for the start of it.
// What has no room is cut from below, the instant first: the list shows it too.
func (p *screen) detail(v *page.View, w, h int) []string {
	e, ok := p.Selected()
	if !ok {
		return []string{v.Row(w, part.As(themes.Dim, " no command is selected"))}
	}
	rows := []string{v.Row(w, append([]part.Cell{part.As(themes.Dim, " by      ")},
		v.Join(part.Plain(columns.Who(e.By)), part.As(themes.Dim, v.Ago(e.At)), part.Plain(why(&e)))...)...)}
	// A result of several lines has its label before the first.
	label := " result  "
	for _, line := range part.Wrap(cmp.Or(e.Result, part.None), max(w-len(label)-1, 10)) {
		rows = append(rows, v.Row(w, part.As(themes.Dim, label), part.Plain(line)))
		label = strings.Repeat(" ", len(label))
	}
	for _, f := range []block.Fact{{Key: "changed", Value: changed(&e)},
		{Key: "at", Value: e.At.In(v.Now.Location()).Format("Mon 02 Jan 15:04:05 -07:00")}} {
		rows = append(rows, block.FactRow(v, w, f))
	}
	return rows[:min(len(rows), h)]
}

// changed says how many a command has changed, and of what where that is no job.
func changed(e *engine.AuditEntry) string {
	word := map[operation.Target]string{operation.Queue: " queue, no job", operation.Schedule: " schedule"}[operation.Of(e.Op).Target]
	return columns.Changed(e) + human.If(e.Applied == 1, word)
}

// why is the reason that was given with a command; few are.
func why(e *engine.AuditEntry) string { return human.If(e.Reason != "", "because: "+e.Reason) }

// empty says why there are no rows.
func (p *screen) empty(v *page.View) string {
	return cmp.Or(p.Absent(v, "the audit", "the audit"),
		cmp.Or(p.List.Empty(v), "no command has been given yet: every one is written down here"))
}
