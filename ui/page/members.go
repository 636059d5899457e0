package page

import (
	"errors"
	"time"

	"github.com/farsight-console/farsight/engine"
	"github.com/farsight-console/farsight/engine/columns"
	"github.com/farsight-console/farsight/engine/human"
	"github.com/farsight-console/farsight/themes"
	"github.com/farsight-console/farsight/ui/part"
)

// Members lists the processes that share a database: who leads, what each does, and who has led.
type Members struct {
	listPage[engine.MemberRow]
	answer
	page engine.MembersPage
	foot foot
}

// NewMembers makes the screen.
func NewMembers() *Members {
	p := &Members{foot: newFoot()}
	p.list = newList(columns.Members, columns.MemberList.Drawn("minute", byView(minuteCell)), func(r *engine.MemberRow) string { return r.ID })
	p.is = screenOf[engine.MemberRow]{
		screen: ScreenMembers, crumb: "Members", file: "members", row: "member",
		fill: func(v *View) { p.put(v, madeOf{came: p.came}, func() []engine.MemberRow { return p.page.Members }) },
		cannot: func(_ *View, a Action, _ engine.MemberRow) string {
			if a == Open {
				return "a member has no screen of its own: all of it stands here"
			}
			return ""
		},
	}
	return p
}

// Want implements Page: members give signs of life whether anything changes or not.
// The second as the version makes it ask again and again.
func (p *Members) Want(v *View) engine.Query {
	if !p.due(v, uint64(v.Now.Unix())) {
		return p.foot.want(v)
	}
	return engine.MembersQuery{}
}

// Got implements Page.
func (p *Members) Got(v *View, q engine.Query, a engine.Answer, err error) {
	p.foot.got(q, a, err)
	receive[engine.MembersQuery](&p.answer, v, q, a, err, &p.page)
}

// Draw implements Page.
func (p *Members) Draw(v *View) []string {
	p.refresh(v)
	p.fit(v)
	w := v.inner(v.W)
	if !p.have && errors.Is(p.err, engine.ErrNotFound) {
		return p.alone(v, w)
	}
	r, ok := p.selected()
	facts := memberFacts(v, &r)
	h := min(max(p.all, len(p.shown))+1, max(v.H/3, 2))
	list := p.section(v, w, h, p.empty(v), part.Section{Title: "MEMBERS", Note: p.note(v), Tail: p.told(v)})
	selected := func(w, _ int) part.Section {
		return part.Section{Title: "SELECTED", Note: r.ID, Rows: factRows(v, w, facts), Height: len(facts)}
	}
	switch {
	case !ok:
		return v.whole(list)
	case v.Size == S:
		return v.whole(list, selected(w, 0), p.led(v, w, v.H-h-len(facts)-5))
	}
	rows := append(v.sections(0, 0, v.W, h+1, list), v.row(v.W))
	rows = append(rows, v.abreast(len(rows), min(ledRows+1, v.H-len(rows)), []func(w, h int) part.Section{
		selected, func(w, h int) part.Section { return p.led(v, w, h) },
	})...)
	if tall := min(2+loadRows*len(p.page.Members), v.H-len(rows)-1); tall > loadRows+1 {
		rows = append(rows, v.row(v.W))
		rows = append(rows, v.sections(0, len(rows), v.W, tall, p.minute(v, w, tall-1))...)
	}
	left := v.H - len(rows)
	if v.Size == L && left > leastFoot {
		return p.foot.fill(v, rows, func(w, h int) part.Section { return logPanel(v, w, h) })
	}
	if left > 2 {
		rows = append(rows, v.row(v.W))
		rows = append(rows, v.sections(0, len(rows), v.W, left-1, logPanel(v, w, left-2))...)
	}
	return rows
}

// ledRows is what the last terms take beside the facts of a member.
const ledRows = 7

// alone says that there are no members, and what would make some.
func (p *Members) alone(v *View, w int) []string {
	said := v.said(w, Sentence(p.err))
	own := part.Section{Title: "MEMBERS", Rows: said, Height: len(said)}
	switch v.Size {
	case S:
		return v.whole(own, logPanel(v, w, v.H-own.Height-3))
	case L:
		return p.foot.withLog(v, v.H-own.Height-3, own)
	}
	b, _ := v.Limits.Pacing()
	return v.above([]part.Section{own}, []func(w, h int) part.Section{
		func(w, h int) part.Section { return v.limitsBlock(b.Host, w, h) },
		func(w, h int) part.Section { return logPanel(v, w, h) },
	}, &p.foot)
}

// fit keeps the notes whole where there is room: the past minute has a chart of its own there.
func (p *Members) fit(v *View) {
	for i := range p.fields {
		switch head := &p.fields[i].Head; p.fields[i].Name {
		case "note":
			head.Min = map[Size]int{S: 10, M: wholeNote, L: wholeNote}[v.Size]
		case "minute":
			head.Priority = map[Size]int{S: 1, M: 9, L: 1}[v.Size]
		}
	}
}

// wholeNote is what the longest usual note takes.
const wholeNote = 31

// minuteCell draws the calls of the past minute.
// Each has its own scale here; the chart below has one for all of them.
func minuteCell(v *View, r *engine.MemberRow) part.Cell {
	values := make([]float64, len(r.Calls))
	for i, n := range r.Calls {
		values[i] = float64(n)
	}
	return part.As(themes.Run, sparkText(v, values, 1))
}

// memberFacts are what a list has no room for.
func memberFacts(v *View, r *engine.MemberRow) []fact {
	is := string(r.Role)
	if r.Here {
		is += ", and shows you this"
	}
	return []fact{
		{"role", is},
		{"runs", "since " + v.Clock(r.Since) + ", on " + r.Host},
		{"API key", or(r.Key, "none")},
		{"clock", columns.ClockOff(r.Ahead) + " to the database's"},
		{"note", or(columns.NoteOf(r), "nothing is wrong")},
	}
}

// loadRows is how many rows a member's chart takes with the gap to the next.
const loadRows = 3

// minute is the past minute of each member on one scale.
func (p *Members) minute(v *View, w, h int) part.Section {
	s := part.Section{Title: "PAST MINUTE", Note: "calls per 5 s", Height: h}
	wide := (w - 3 - memberName - 6) / engine.ForecastPast // of a step
	rows := (h - 1) / loadRows
	if wide < 1 || rows < 1 {
		return s
	}
	cells := wide * engine.ForecastPast
	c := part.NewChart(v.Theme, part.NewAxis(p.page.At, engine.ForecastStep/time.Duration(wide), cells, cells+1), h)
	c.Words(0)
	shown := p.shown[:min(len(p.shown), rows)]
	high := 1
	for _, m := range shown {
		for _, n := range m.Calls {
			high = max(high, n)
		}
	}
	labels := make([]engine.MemberRow, h)
	for i, m := range shown {
		values := make([]float64, cells)
		for x := range values {
			values[x] = float64(m.Calls[x/wide])
		}
		y := 1 + i*loadRows
		c.Run(y+1, 0, cells, themes.Tick, v.Theme.Glyphs.Dot)
		c.Area(y, loadRows-1, part.Series{Values: values, Top: float64(high)})
		labels[y+1] = *m
	}
	c.Seam(1, loadRows*len(shown))
	l := part.NewLine(v.Theme, w)
	for y := range min(h, 1+loadRows*len(shown)) {
		l.Reset(w, false)
		sum := ""
		if labels[y].ID != "" {
			sum = count(labels[y].Minute())
		}
		l.Gap(1).Field(part.Plain(labels[y].ID), memberName-1, part.Words).Field(part.As(themes.Figure, sum), 5, part.Number).Gap(2)
		s.Rows = append(s.Rows, c.Row(l, y).String())
	}
	return s
}

// memberName is what the id of a member takes before its chart.
const memberName = 13

// led says who leads, and who did, the latest first.
func (p *Members) led(v *View, w, h int) part.Section {
	s := part.Section{Title: "WHO HAS LED", Height: h}
	for _, line := range part.Wrap(columns.Led(&p.page), w-2) {
		s.Rows = append(s.Rows, v.row(w, part.Plain(" "+line)))
	}
	for i, t := range p.page.Terms {
		cells := []part.Cell{part.As(themes.Dim, " "+v.Clock(t.Since)+"  "), part.Plain(t.Leader + " on " + t.Host)}
		before := ""
		if i+1 < len(p.page.Terms) {
			before = tookOver(&t, &p.page.Terms[i+1])
		}
		if w >= wideTerms {
			cells = append(cells, part.As(themes.Dim, "  "+before))
		}
		s.Rows = append(s.Rows, v.row(w, cells...))
		if w < wideTerms && before != "" {
			s.Rows = append(s.Rows, v.row(w, part.As(themes.Dim, "   "+before)))
		}
	}
	s.Rows = s.Rows[:min(len(s.Rows), max(h, 0))]
	return s
}

// wideTerms is from which width on a term has one row.
const wideTerms = 90

// tookOver is how one came to lead after another.
func tookOver(t, before *engine.TermRow) string {
	ended := " stopped; "
	if before.Lapsed {
		ended = " fell silent; "
	}
	return "after " + before.Leader + ended + human.Span(max(t.Since.Sub(before.Until), 0)) + " without a leader"
}

// empty says why there is nobody to see.
func (p *Members) empty(v *View) string {
	return or(p.absent(v, "the members", "members"), or(p.list.empty(v), "nobody works on the database"))
}
