// Package chaospanel is the screen of the demo with what the simulated Riot does wrong, and what
// the engine made of it.
package chaospanel

import (
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/farsight-console/farsight/engine"
	"github.com/farsight-console/farsight/engine/human"
	"github.com/farsight-console/farsight/themes"
	"github.com/farsight-console/farsight/ui/block"
	"github.com/farsight-console/farsight/ui/chaos"
	"github.com/farsight-console/farsight/ui/lists"
	"github.com/farsight-console/farsight/ui/page"
	"github.com/farsight-console/farsight/ui/part"
)

// Chaos is the panel of the demo: what the simulated Riot does wrong beside what
// the engine did about it.
type Chaos struct {
	block.Footed
	lists.Pane
}

// New makes the screen. It draws View.Chaos, which only the demo has.
func New() *Chaos { return &Chaos{Footed: block.Footed{Foot: block.NewFoot()}} }

// Screen implements Page.
func (p *Chaos) Screen() page.Screen { return page.ScreenChaos }

// Crumb implements Page.
func (p *Chaos) Crumb(*page.View) string { return "Chaos" }

func (p *Chaos) source(v *page.View) part.Slice[chaos.Row] {
	var rows []chaos.Row
	if v.Chaos != nil {
		rows = v.Chaos.Rows
	}
	return part.Slice[chaos.Row]{Items: rows, Key: func(r chaos.Row) string { return r.Name }, Cells: func(r chaos.Row, cells []part.Cell) []part.Cell { return chaosCells(v, r, cells) }}
}

// Cannot implements Page.
func (p *Chaos) Cannot(v *page.View, a page.Action) string {
	r, ok := lists.Selected(&p.Pane, p.source(v))
	switch {
	case a == page.More && ok && r.Preset:
		return v.Keyed("{inject} starts ") + r.Name + ": it takes no rate"
	case a == page.Less && ok && r.Preset:
		return v.Keyed("{inject} ends ") + r.Name + v.Keyed(", {clear chaos} ends all: it takes no rate")
	case a == page.Less && ok && r.Rate == 0:
		return r.Name + v.Keyed(" has no rate: {more often} gives it one")
	}
	return ""
}

// Act implements Page.
func (p *Chaos) Act(v *page.View, a page.Action) page.Effect {
	r, ok := lists.Selected(&p.Pane, p.source(v))
	switch {
	case a == page.ClearChaos:
		return page.Effect{Chaos: &chaos.Ask{Off: true}}
	case !ok:
		return page.Effect{}
	case a == page.Inject:
		return inject(&r)
	case a == page.More, a == page.Less:
		ask := r.Step(a == page.More)
		return page.Effect{Chaos: &ask}
	}
	p.Steer(p.source(v), a)
	return page.Effect{}
}

// inject strikes once, or starts a preset that does not run and ends one that does.
func inject(r *chaos.Row) page.Effect {
	if r.Preset && r.On {
		return page.Effect{Chaos: &chaos.Ask{Name: r.Name, Off: true}}
	}
	return page.Effect{Chaos: &chaos.Ask{Name: r.Name, Once: true}, Confirm: sure(r)}
}

// InjectNamed is what an ask of the palette amounts to: a row that wants to be sure
// is asked about here too.
func InjectNamed(s *chaos.State, ask chaos.Ask) page.Effect {
	e := page.Effect{Chaos: &ask}
	if r, ok := s.Row(ask.Name); ok && !ask.Off {
		e.Confirm = sure(r)
	}
	return e
}

// sure is the question before a row starts; nil = there is none.
func sure(r *chaos.Row) *page.Confirm {
	if r.Sure == nil {
		return nil
	}
	return &page.Confirm{Question: r.Sure.Text, Lines: r.Sure.Lines, Yes: r.Sure.Yes}
}

var chaosColumns = []part.Column{
	{Title: "FAULT", Kind: part.Words, Min: 18, Width: 18},
	{Title: "INJECTED", Kind: part.State, Min: 12, Width: 13},
	{Title: "HITS", Kind: part.Number, Min: 4, Width: 5},
	{Title: "WHAT IT DOES, OR DID", Kind: part.Words, Min: 20, Width: 30, Flex: 1},
}

// chaosLeft is what the columns before the last one take of a narrow screen.
const chaosLeft = 45

// chaosWide tells what is to be expected beside what the engine did.
var chaosWide = append(slices.Clone(chaosColumns[:3]),
	part.Column{Title: "WHAT IS TO BE EXPECTED", Kind: part.Words, Min: 32, Width: 32},
	part.Column{Title: "WHAT THE ENGINE DID", Kind: part.Words, Min: 20, Width: 30, Flex: 1})

func chaosCells(v *page.View, r chaos.Row, cells []part.Cell) []part.Cell {
	name := part.Plain(r.Name)
	if r.Preset {
		name.Token = themes.Accent
	}
	did := part.Plain(r.Did)
	hits := part.Plain(page.Count(r.Hits))
	if r.Hits == 0 {
		hits.Token = themes.Dim
	}
	cells = append(cells, name, injectedCell(v, &r), hits)
	switch {
	case v.Size != page.S:
		cells = append(cells, part.As(themes.Dim, r.Expect))
		if r.Did == "" {
			did = part.As(themes.Dim, part.None)
		}
	case r.Did == "":
		did = part.As(themes.Dim, r.Expect)
	default:
		did.Text = page.Or(part.Clause(r.Did, v.W-chaosLeft), r.Did)
	}
	return append(cells, did)
}

// injectedCell is how often the row strikes now.
func injectedCell(v *page.View, r *chaos.Row) part.Cell {
	if !r.On {
		return part.As(themes.Dim, "off")
	}
	sign := v.Theme.State("WARN")
	text := sign.Glyph + " " + r.Told
	if left := v.In(r.Until); left != part.None {
		text += " " + left
	}
	return part.As(sign.Token, text)
}

// Draw implements Page.
func (p *Chaos) Draw(v *page.View) []string {
	v.Ticks = true // counts move without the engine telling
	w := v.Inner(v.W)
	src := p.source(v)
	columns := chaosColumns
	if v.Size != page.S {
		columns = chaosWide
	}
	table := part.Table{Columns: columns, Title: p.title(v), Empty: "only the demo has a simulated Riot to break"}
	now := p.now(v, w)
	rows := min(src.Len(), max(v.H-len(now)-3, 1))
	panels := []part.Section{
		{Head: table.Header(v.Theme, w), Rows: p.Body(v, table, w, rows, src), Height: rows, Click: func(_, y int) string { return p.Clicked(src, y) }},
		{Title: "NOW", Tail: v.Keyed("{clear chaos} clears all"), Rows: now, Height: len(now)},
	}
	if left := v.H - rows - len(now) - 5; left > 0 {
		story := chaosStory(v, w, left)
		return p.Foot.Below(v, len(story), append(panels, part.Section{Title: "WHAT HAPPENED", Tail: "newest first", Rows: story, Height: left})...)
	}
	return v.Whole(panels...)
}

func (p *Chaos) title(v *page.View) string {
	if v.Chaos == nil {
		return "Chaos"
	}
	title := "CHAOS, seed " + strconv.FormatUint(v.Chaos.Seed, 10)
	if v.Chaos.Speed != 1 {
		title += ", " + strconv.FormatFloat(v.Chaos.Speed, 'g', 4, 64) + "x"
	}
	return title
}

// now is how the engine stands; where there is room, what the selected row is and
// what the simulator counted too.
func (p *Chaos) now(v *page.View, w int) []string {
	rows := []string{v.Row(w, append([]part.Cell{part.Plain(" ")}, v.Fitting(w-2, engineNow(v)...)...)...)}
	if v.Tall == page.Short || v.Chaos == nil {
		return rows
	}
	c := v.Chaos
	violations := part.As(themes.Dim, "0 over the limits")
	if c.Violations > 0 {
		violations = part.As(themes.Err, page.Count(c.Violations)+" over the limits")
	}
	sums := v.Join(part.As(themes.Dim, "simulator: "+human.Counted(c.Calls, "call", "calls")), violations,
		part.As(themes.Dim, page.Count(c.Early)+" before a Retry-After had passed"), part.As(themes.Dim, page.Count(c.Repeated)+" for a match delivered before"))
	rows = append(rows, v.Row(w, append([]part.Cell{part.Plain(" ")}, sums...)...))
	if r, ok := lists.Selected(&p.Pane, p.source(v)); ok {
		rows = append([]string{v.Row(w, part.As(themes.Accent, " "+r.Name), part.Plain(": "+r.About))}, rows...)
	}
	return rows
}

// engineNow is the engine's state, what is held and until when.
func engineNow(v *page.View) []part.Cell {
	e := &v.Engine
	state := v.State(string(e.State))
	if e.Why != "" {
		state.Text += ": " + e.Why
	}
	held, why, until := 0, "", time.Time{}
	for i := range v.Queues {
		q := &v.Queues[i]
		held += q.Held
		if q.Why != "" && why == "" {
			why, until = q.Why, q.Until
		}
	}
	cells := []part.Cell{state, part.Plain(page.Count(held) + " held"), part.Plain(page.Count(e.Retrying) + " retrying")}
	if why == "" {
		return cells
	}
	if strings.Contains(e.Why, why) { // the state says it already
		if left := v.In(until); left != part.None {
			cells = slices.Insert(cells, 1, part.As(themes.Held, "next try in "+left))
		}
		return cells
	}
	next, left := part.As(themes.Dim, "next waits for "+why), v.In(until)
	switch {
	case left == part.None && v.Size == page.S:
		return cells
	case v.Size == page.S:
		next.Text = "next call in " + left
	case left != part.None:
		next.Text += ", " + left
	}
	if e.State != engine.EngineLive {
		next.Token = themes.Held
	}
	return append(cells, next)
}
