// Package members is the screen of the processes that share a database.
package members

import (
	"cmp"
	"errors"
	"time"

	"github.com/farsight-console/farsight/engine"
	"github.com/farsight-console/farsight/engine/columns"
	"github.com/farsight-console/farsight/engine/human"
	"github.com/farsight-console/farsight/themes"
	"github.com/farsight-console/farsight/ui/block"
	"github.com/farsight-console/farsight/ui/lists"
	"github.com/farsight-console/farsight/ui/page"
	"github.com/farsight-console/farsight/ui/part"
)

// screen lists the processes that share a database: who leads, what each does, and who has led. The
// database of one process has no members.
type screen struct {
	lists.Page[engine.MemberRow]
	page.Answer
	// It holds the members, the terms of leaders, and the instant of the answer.
	page engine.MembersPage
}

// New makes the screen.
func New() page.Page {
	p := &screen{}
	p.List = lists.New(columns.Members, columns.MemberList.Drawn("minute", page.ByView(minuteCell)),
		func(r *engine.MemberRow) string { return r.ID })
	p.Is = lists.Declaration[engine.MemberRow]{
		Screen: page.ScreenMembers, Crumb: "Members", File: "members", Row: "member",
		Fill: func(v *page.View) {
			p.Put(v, page.MadeOf{Came: p.Came}, func() []engine.MemberRow { return p.page.Members })
		},
		Cannot: func(_ *page.View, a page.Action, _ engine.MemberRow) string {
			return human.If(a == page.Open, "a member has no screen of its own: all of it stands here")
		},
	}
	return p
}

// Want implements Page: members give signs of life whether anything changes or not.
// The second as the version makes it ask again and again.
// One that fell silent has to be seen, although nothing else has changed.
func (p *screen) Want(v *page.View) engine.Query {
	return p.Ask(v, uint64(v.Now.Unix()), engine.MembersQuery{})
}

// Got implements Page.
func (p *screen) Got(v *page.View, q engine.Query, a engine.Answer, err error) {
	page.Receive[engine.MembersQuery](&p.Answer, v, q, a, err, &p.page)
}

// Draw implements Page.
// An engine that shares its database with nobody answers that members are not found, which is no
// fault and has a screen of its own.
func (p *screen) Draw(v *page.View) []string {
	p.Refresh(v)
	p.fit(v)
	w := v.Inner(v.W)
	if !p.Have && errors.Is(p.Err, engine.ErrNotFound) {
		return p.alone(v, w)
	}
	r, ok := p.Selected()
	facts := factsOf(v, &r)
	// The list has all its rows, up to a third of the screen.
	h := min(max(p.All, len(p.Shown))+1, max(v.H/3, 2))
	list := p.Section(v, w, h, p.empty(v), part.Section{Title: "MEMBERS", Note: human.If(p.Have, p.Note(v)), Tail: p.Told(v)})
	selected := func(w, _ int) part.Section {
		return part.Section{Title: "SELECTED", Note: r.ID, Rows: block.FactRows(v, w, facts), Height: len(facts)}
	}
	switch {
	case !ok:
		return v.Whole(list)
	case v.Size == page.S:
		return v.Whole(list, selected(w, 0), p.led(v, w, v.H-h-len(facts)-5))
	}
	rows := append(v.Sections(0, 0, v.W, h+1, list), v.Row(v.W))
	rows = append(rows, v.Abreast(len(rows), min(ledRows+1, v.H-len(rows)), []func(w, h int) part.Section{
		selected, func(w, h int) part.Section { return p.led(v, w, h) },
	})...)
	if tall := min(2+loadRows*len(p.page.Members), v.H-len(rows)-1); tall > loadRows+1 {
		rows = append(rows, v.Row(v.W))
		rows = append(rows, v.Sections(0, len(rows), v.W, tall, p.minute(v, w, tall-1))...)
	}
	left := v.H - len(rows)
	if v.Size == page.L && left > block.LeastFoot {
		return block.Fill(v, rows, func(w, h int) part.Section { return block.LogPanel(v, w, h) })
	}
	if left > 2 {
		rows = append(rows, v.Row(v.W))
		rows = append(rows, v.Sections(0, len(rows), v.W, left-1, block.LogPanel(v, w, left-2))...)
	}
	return rows
}

// ledRows is what the last terms take beside the facts of a member: a title, the sentence on who
// leads, and a handful of terms.
const ledRows = 7

// alone says that there are no members, and what would make some.
func (p *screen) alone(v *page.View, w int) []string {
	said := v.Said(w, page.Sentence(p.Err))
	own := part.Section{Title: "MEMBERS", Rows: said, Height: len(said)}
	return v.Whole(own)
}

// fit keeps the notes whole where there is room: the past minute has a chart of its own there.
// Of three sizes: a small screen has short notes and the minute in the list, a middle one the whole
// note and the chart below, a wide one both.
func (p *screen) fit(v *page.View) {
	for i := range p.Fields {
		switch head := &p.Fields[i].Head; p.Fields[i].Name {
		case "note":
			head.Min = map[page.Size]int{page.S: 10, page.M: wholeNote, page.L: wholeNote}[v.Size]
		case "minute":
			head.Priority = map[page.Size]int{page.S: 1, page.M: 9, page.L: 1}[v.Size]
		}
	}
}

// wholeNote is what the longest usual note takes, in cells.
const wholeNote = 31

// minuteCell draws the calls of the past minute.
// Each has its own scale here; the chart below has one for all of them.
func minuteCell(v *page.View, r *engine.MemberRow) part.Cell {
	return part.As(themes.Run, block.SparkText(v, page.Floats(r.Calls), 1))
}

// factsOf are what a list has no room for.
// The API key is told by its fingerprint: members may have different ones.
func factsOf(v *page.View, r *engine.MemberRow) []block.Fact {
	return []block.Fact{
		{Key: "role", Value: string(r.Role) + human.If(r.Here, ", and shows you this")},
		{Key: "runs", Value: "since " + v.Clock(r.Since) + ", on " + r.Host},
		{Key: "API key", Value: cmp.Or(r.Key, "none")},
		{Key: "clock", Value: columns.ClockOff(r.Ahead) + " to the database's"},
		{Key: "note", Value: cmp.Or(columns.NoteOf(r), "nothing is wrong")},
	}
}

// loadRows is how many rows a member's chart takes with the gap to the next.
const loadRows = 3

// minute is the past minute of each member on one scale.
// Calls of all members go against one limit of one key, so that their heights can be added up by
// eye.
func (p *screen) minute(v *page.View, w, h int) part.Section {
	s := part.Section{Title: "PAST MINUTE", Note: "calls per 5 s", Height: h}
	wide := (w - 3 - nameWidth - 6) / engine.ForecastPast // of a step
	rows := (h - 1) / loadRows
	if wide < 1 || rows < 1 {
		return s
	}
	cells := wide * engine.ForecastPast
	c := part.NewChart(v.Theme, part.NewAxis(p.page.At, engine.ForecastStep/time.Duration(wide), cells, cells+1), h)
	c.Words(0)
	shown := p.Shown[:min(len(p.Shown), rows)]
	high := 1
	for _, m := range shown {
		for _, n := range m.Calls {
			high = max(high, n)
		}
	}
	// Members by the row that names them; empty for the rows between.
	labels := make([]engine.MemberRow, h)
	for i, m := range shown {
		values := make([]float64, cells)
		for x := range values {
			values[x] = float64(m.Calls[x/wide])
		}
		y := 1 + i*loadRows
		// A dotted ground shows that a member is there although it made no call.
		c.Run(y+1, 0, cells, themes.Tick, v.Theme.Glyphs.Dot)
		c.Area(y, loadRows-1, part.Series{Values: values, Top: float64(high)})
		labels[y+1] = *m
	}
	c.Seam(1, loadRows*len(shown))
	l := part.NewLine(v.Theme, w)
	for y := range min(h, 1+loadRows*len(shown)) {
		l.Reset(w, false)
		sum := human.If(labels[y].ID != "", page.Count(labels[y].Minute()))
		l.Gap(1).Field(part.Plain(labels[y].ID), nameWidth-1, part.Words).
			Field(part.As(themes.Figure, sum), 5, part.Number).Gap(2)
		s.Rows = append(s.Rows, c.Row(l, y).String())
	}
	return s
}

// nameWidth is what the id of a member takes before its chart.
const nameWidth = 13

// led says who leads, and who did, the latest first.
// On a narrow screen how the term began has a row of its own below it.
func (p *screen) led(v *page.View, w, h int) part.Section {
	s := part.Section{Title: "WHO HAS LED", Height: h, Rows: v.Paragraph(w, themes.Text, columns.Led(&p.page))}
	for i, t := range p.page.Terms {
		cells := []part.Cell{part.As(themes.Dim, " "+v.Clock(t.Since)+"  "), part.Plain(t.Leader + " on " + t.Host)}
		before := ""
		if i+1 < len(p.page.Terms) {
			before = tookOver(&t, &p.page.Terms[i+1], p.page.Members)
		}
		if w >= wideTerms {
			cells = append(cells, part.As(themes.Dim, "  "+before))
		}
		s.Rows = append(s.Rows, v.Row(w, cells...))
		if w < wideTerms && before != "" {
			s.Rows = append(s.Rows, v.Row(w, part.As(themes.Dim, "   "+before)))
		}
	}
	s.Rows = s.Rows[:min(len(s.Rows), max(h, 0))]
	return s
}

// wideTerms is from which width on a term has one row.
const wideTerms = 90

// tookOver is how one came to lead after another.
// Such as "after m-7f3a fell silent; 12 s without a leader". Lapsed means that it ended without a word: nobody led since its
// last sign of life, though the term ended when another one found out.
func tookOver(t, before *engine.TermRow, members []engine.MemberRow) string {
	ended, until := " stopped; ", before.Until
	if before.Lapsed {
		ended = " fell silent; "
		for i := range members {
			if m := &members[i]; m.ID == before.Leader && m.Seen.Before(until) {
				until = m.Seen
			}
		}
	}
	return "after " + before.Leader + ended + human.Span(max(t.Since.Sub(until), 0)) + " without a leader"
}

// empty says why there is nobody to see.
func (p *screen) empty(v *page.View) string {
	return cmp.Or(p.Absent(v, "the members", "members"), cmp.Or(p.List.Empty(v), "nobody works on the database"))
}
