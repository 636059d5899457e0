package page

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
	"github.com/farsight-console/farsight/ui/part"
)

// Audit lists who did what, when, and what came of it (I-11).
type Audit struct {
	ListPage[engine.AuditEntry]
	Answer
	entries []engine.AuditEntry
	older   bool            // there are older ones than those read
	undone  map[uint64]bool // commands that were taken back
	foot    Foot
	below   *Entry // the selected one, summed up below a short list; nil = there is no room
}

// NewAudit makes the screen.
func NewAudit() *Audit {
	p := &Audit{foot: NewFoot()}
	p.List = NewList(columns.Audit, columns.AuditList.Drawn("undo", ByView(p.undoWord)), func(e *engine.AuditEntry) string { return strconv.FormatUint(e.Seq, 10) })
	p.Is = ScreenOf[engine.AuditEntry]{
		Screen: ScreenAudit, Crumb: "Audit", File: "audit", Row: "command",
		Fill: func(v *View) { p.Put(v, MadeOf{Came: p.Came}, func() []engine.AuditEntry { return p.entries }) },
		Does: map[Action]func(*View, engine.AuditEntry) Effect{
			Open:     func(_ *View, e engine.AuditEntry) Effect { return Effect{Open: &Target{Screen: ScreenEntry, Row: e}} },
			TakeBack: takeBack,
		},
		Cannot: func(_ *View, a Action, e engine.AuditEntry) string {
			if a == TakeBack {
				return p.cannotUndo(&e)
			}
			return ""
		},
	}
	return p
}

// Want implements Page: commands move with the database.
func (p *Audit) Want(v *View) engine.Query {
	switch {
	case p.Due(v, v.Seq):
		return engine.AuditQuery{Page: engine.Page{Limit: listMost}}
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
func (p *Audit) Got(v *View, q engine.Query, a engine.Answer, err error) {
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
	return "the newest " + Count(len(p.entries)) + ", farsight audit has more"
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
func (p *Audit) undoWord(v *View, e *engine.AuditEntry) part.Cell {
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
func takeBack(v *View, e engine.AuditEntry) Effect {
	f := do(engine.Command{Op: engine.OpUndo, Audit: e.Seq})
	f.Try = true
	f.Confirm = &Confirm{
		Question: "Take back " + string(e.Op) + " of " + e.Target + "?",
		Lines:    []string{columns.Who(e.By) + " did it " + v.Ago(e.At) + ": " + e.Result, "Only what nothing has happened to since is put back."},
		Yes:      "take it back",
	}
	return f
}

// Draw implements Page.
// Below the list the selected command stands in full, and where there is room who gave commands
// when, and what they changed.
func (p *Audit) Draw(v *View) []string {
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
		rows := timeRows(v, v.Inner(v.W), left, v.Now.Sub(first), 0, acts[:min(len(acts), left-1)])
		sections[1].Height = len(below)
		done, undone := v.Theme.State("DONE").Glyph, v.Theme.State("CANCELLED").Glyph
		sections = append(sections, part.Section{Title: "WHO", Note: "when each gave commands, " + done + " stands, " + undone + " was taken back", Rows: rows, Height: len(rows)})
	}
	return p.drawSummed(v, sections)
}

// drawSummed has below the sections of a short list what the selected command changed, and
// which commands are given how often.
func (p *Audit) drawSummed(v *View, sections []part.Section) []string {
	e, ok := p.Selected()
	if !ok || v.leaves(sections) < leastBlocks {
		p.below = nil
		return v.Whole(sections...)
	}
	if p.below == nil || p.below.entry.Seq != e.Seq {
		p.below = NewEntry(e)
		p.below.still = true
	}
	return v.Above(sections, []func(w, h int) part.Section{
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
func (p *Audit) byCommand(v *View) func(w, h int) part.Section {
	all := tallied(p.Shown, func(e **engine.AuditEntry) string { return string((*e).Op) })
	return func(w, h int) part.Section {
		return part.Section{Title: "COMMANDS", Note: "on the list", Rows: bars(v, all, themes.Run, w), Height: h}
	}
}

func earliest(a, b time.Time) time.Time {
	if b.Before(a) {
		return b
	}
	return a
}

// byActor are the commands on the list by who gave them, the busiest first.
func (p *Audit) byActor(v *View) []timeRow {
	var rows []timeRow
	for _, e := range p.Shown {
		who := columns.Who(e.By)
		i := slices.IndexFunc(rows, func(r timeRow) bool { return r.name == who })
		if i < 0 {
			i = len(rows)
			rows = append(rows, timeRow{name: who})
		}
		sign := v.Theme.State("DONE")
		if p.undone[e.Seq] {
			sign = v.Theme.State("CANCELLED")
		}
		rows[i].signs = append(rows[i].signs, timeSign{at: e.At, sign: sign})
	}
	slices.SortStableFunc(rows, func(a, b timeRow) int { return cmp.Compare(len(b.signs), len(a.signs)) })
	for i := range rows {
		rows[i].name = Count(len(rows[i].signs)) + " " + rows[i].name
	}
	return rows
}

// auditRows is how many rows the selected command has at least.
const auditRows = 3

// detail tells all of the selected command: a list has room for the start of it.
func (p *Audit) detail(v *View, w, h int) []string {
	e, ok := p.Selected()
	if !ok {
		return []string{v.Row(w, part.As(themes.Dim, " no command is selected"))}
	}
	rows := []string{v.Row(w, append([]part.Cell{part.As(themes.Dim, " by      ")},
		v.Join(part.Plain(columns.Who(e.By)), part.As(themes.Dim, v.Ago(e.At)), part.Plain(why(&e)))...)...)}
	label := " result  "
	for _, line := range part.Wrap(Or(e.Result, part.None), max(w-len(label)-1, 10)) {
		rows = append(rows, v.Row(w, part.As(themes.Dim, label), part.Plain(line)))
		label = strings.Repeat(" ", len(label))
	}
	for _, f := range []Fact{{"changed", columns.Changed(&e)}, {"at", e.At.In(v.Now.Location()).Format("Mon 02 Jan 15:04:05 -07:00")}} {
		rows = append(rows, factRow(v, w, f))
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
func (p *Audit) empty(v *View) string {
	return Or(p.Absent(v, "the audit", "the audit"), Or(p.List.Empty(v), "no command has been given yet: every one is written down here"))
}
