// Package audit is the screen of who did what, and of one command with what it changed.
package audit

import (
	"cmp"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/farsight-console/farsight/engine"
	"github.com/farsight-console/farsight/engine/columns"
	"github.com/farsight-console/farsight/engine/operation"
	"github.com/farsight-console/farsight/themes"
	"github.com/farsight-console/farsight/ui/block"
	"github.com/farsight-console/farsight/ui/charts"
	"github.com/farsight-console/farsight/ui/lists"
	"github.com/farsight-console/farsight/ui/page"
	"github.com/farsight-console/farsight/ui/part"
)

// Audit lists who did what, when, and what came of it (I-11).
type Audit struct {
	lists.Page[engine.AuditEntry]
	page.Answer
	entries []engine.AuditEntry
	older   bool            // there are older ones than those read
	undone  map[uint64]bool // commands that were taken back
	foot    block.Foot
	below   *Entry // the selected one, summed up below a short list; nil = there is no room
}

// New makes the screen.
func New() *Audit {
	p := &Audit{foot: block.NewFoot()}
	p.List = lists.New(columns.Audit, columns.AuditList.Drawn("undo", page.ByView(p.undoWord)), func(e *engine.AuditEntry) string { return strconv.FormatUint(e.Seq, 10) })
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
func (p *Audit) Want(v *page.View) engine.Query {
	switch {
	case p.Due(v, v.Seq):
		return engine.AuditQuery{Page: engine.Page{Limit: page.ListMost}}
	case p.below != nil:
		if q := p.below.Want(v); q != nil {
			return q
		}
	}
	return p.foot.Want(v)
}

// Got implements Page.
// Whether a command was taken back is told by the undo that did so: an entry of the audit is never
// changed.
func (p *Audit) Got(v *page.View, q engine.Query, a engine.Answer, err error) {
	p.foot.Got(q, a, err)
	asked, ok := q.(engine.AuditQuery)
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
func (p *Audit) cut() string {
	if !p.older {
		return ""
	}
	return "the newest " + page.Count(len(p.entries)) + ", farsight audit has more"
}

// targetOf reads the number of a command that an undo names: "command #12".
// 0 is no command's number.
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
func (p *Audit) cannotUndo(e *engine.AuditEntry) string {
	switch {
	case p.undone[e.Seq]:
		return "#" + strconv.FormatUint(e.Seq, 10) + " has been taken back already"
	case !operation.Of(e.Op).Undo:
		return "only " + operation.UndoWords("and") + " can be taken back"
	case e.Applied == 0 && e.Queue == nil:
		return "it has changed nothing"
	}
	return ""
}

// undoWord says in the list whether a command can be taken back.
func (p *Audit) undoWord(v *page.View, e *engine.AuditEntry) part.Cell {
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
func takeBack(v *page.View, e engine.AuditEntry) page.Effect {
	f := page.Do(engine.Command{Op: engine.OpUndo, Audit: e.Seq})
	f.Try = true
	f.Confirm = &page.Confirm{
		Question: "Take back " + string(e.Op) + " of " + e.Target + "?",
		Lines:    []string{columns.Who(e.By) + " did it " + v.Ago(e.At) + ": " + e.Result, "Only what nothing has happened to since is put back."},
		Yes:      "take it back",
	}
	return f
}

// Draw implements Page.
// Below the list the selected command stands in full, and where there is room who gave commands
// when, and what they changed.
func (p *Audit) Draw(v *page.View) []string {
	p.Refresh(v)
	h, room := p.Parts(v, auditRows)
	below := p.detail(v, v.Inner(v.W), room)
	list := p.Section(v, v.Inner(v.W), h, p.empty(v), part.Section{Title: "AUDIT", Note: p.Note(v, p.cut()), Tail: p.Told(v)})
	title, note := "SELECTED", ""
	if e, ok := p.Selected(); ok {
		title, note = "#"+strconv.FormatUint(e.Seq, 10), string(e.Op)+" of "+e.Target
	}
	sections := []part.Section{list, {Title: title, Note: note, Tail: p.About(v.Keyed("{open} shows what it changed")), Rows: below, Height: room}}
	if left, acts := room-len(below)-2, p.byActor(v); left > 1 && len(acts) > 0 {
		first := p.Shown[0].At
		for _, e := range p.Shown {
			first = earliest(first, e.At)
		}
		rows := charts.TimeRows(v, v.Inner(v.W), left, v.Now.Sub(first), 0, acts[:min(len(acts), left-1)])
		sections[1].Height = len(below)
		done, undone := v.Theme.State("DONE").Glyph, v.Theme.State("CANCELLED").Glyph
		sections = append(sections, part.Section{Title: "WHO", Note: "when each gave commands, " + done + " stands, " + undone + " was taken back", Rows: rows, Height: len(rows)})
	}
	return p.drawSummed(v, sections)
}

// drawSummed has below the sections of a short list what the selected command changed, and
// which commands are given how often.
func (p *Audit) drawSummed(v *page.View, sections []part.Section) []string {
	e, ok := p.Selected()
	if !ok || v.Leaves(sections) < block.LeastBlocks {
		p.below = nil
		return v.Whole(sections...)
	}
	if p.below == nil || p.below.entry.Seq != e.Seq {
		p.below = NewEntry(e)
		p.below.Still = true
	}
	return block.Above(v, sections, []func(w, h int) part.Section{
		func(w, h int) part.Section {
			p.below.Refresh(v)
			s := p.below.Section(v, w, h, p.below.empty(v), part.Section{Title: "CHANGED JOBS", Note: "of #" + strconv.FormatUint(e.Seq, 10)})
			s.Click = nil
			return s
		},
		p.byCommand(v),
	}, &p.foot)
}

// byCommand counts the commands on the list, the most frequent first.
func (p *Audit) byCommand(v *page.View) func(w, h int) part.Section {
	all := block.Tallied(p.Shown, func(e **engine.AuditEntry) string { return string((*e).Op) })
	return func(w, h int) part.Section {
		return part.Section{Title: "COMMANDS", Note: "on the list", Rows: block.Bars(v, all, themes.Run, w), Height: h}
	}
}

func earliest(a, b time.Time) time.Time {
	if b.Before(a) {
		return b
	}
	return a
}

// byActor are the commands on the list by who gave them, the busiest first.
func (p *Audit) byActor(v *page.View) []charts.TimeRow {
	var rows []charts.TimeRow
	for _, e := range p.Shown {
		who := columns.Who(e.By)
		i := slices.IndexFunc(rows, func(r charts.TimeRow) bool { return r.Name == who })
		if i < 0 {
			i = len(rows)
			rows = append(rows, charts.TimeRow{Name: who})
		}
		sign := v.Theme.State("DONE")
		if p.undone[e.Seq] {
			sign = v.Theme.State("CANCELLED")
		}
		rows[i].Signs = append(rows[i].Signs, charts.TimeSign{At: e.At, Sign: sign})
	}
	slices.SortStableFunc(rows, func(a, b charts.TimeRow) int { return cmp.Compare(len(b.Signs), len(a.Signs)) })
	for i := range rows {
		rows[i].Name = page.Count(len(rows[i].Signs)) + " " + rows[i].Name
	}
	return rows
}

// auditRows is how many rows the selected command has at least.
const auditRows = 3

// detail tells all of the selected command: a list has room for the start of it.
func (p *Audit) detail(v *page.View, w, h int) []string {
	e, ok := p.Selected()
	if !ok {
		return []string{v.Row(w, part.As(themes.Dim, " no command is selected"))}
	}
	rows := []string{v.Row(w, append([]part.Cell{part.As(themes.Dim, " by      ")},
		v.Join(part.Plain(columns.Who(e.By)), part.As(themes.Dim, v.Ago(e.At)), part.Plain(why(&e)))...)...)}
	label := " result  "
	for _, line := range part.Wrap(page.Or(e.Result, part.None), max(w-len(label)-1, 10)) {
		rows = append(rows, v.Row(w, part.As(themes.Dim, label), part.Plain(line)))
		label = strings.Repeat(" ", len(label))
	}
	for _, f := range []block.Fact{{Key: "changed", Value: columns.Changed(&e)}, {Key: "at", Value: e.At.In(v.Now.Location()).Format("Mon 02 Jan 15:04:05 -07:00")}} {
		rows = append(rows, block.FactRow(v, w, f))
	}
	return rows[:min(len(rows), h)]
}

func why(e *engine.AuditEntry) string {
	if e.Reason == "" {
		return ""
	}
	return "because: " + e.Reason
}

// empty says why there are no rows.
func (p *Audit) empty(v *page.View) string {
	return page.Or(p.Absent(v, "the audit", "the audit"), page.Or(p.List.Empty(v), "no command has been given yet: every one is written down here"))
}
