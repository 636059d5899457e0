// Package chaospanel is the screen of the demo with what the simulated Riot does wrong, and what
// the engine made of it.
package chaospanel

import (
	"cmp"
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

// Screen is the panel of the demo: what the simulated Riot does wrong beside what the engine did
// about it. It asks the engine nothing: the simulator runs in the same process, and its state comes
// with the view.
type Screen struct {
	page.Quiet
	lists.Pane
}

// New makes the screen. It draws View.Chaos, which only the demo has.
func New() *Screen { return &Screen{} }

// Screen implements Page.
func (p *Screen) Screen() page.Screen { return page.ScreenChaos }

// Crumb implements Page.
// The screen has no other name, as the demo has one simulator.
func (p *Screen) Crumb(*page.View) string { return "Chaos" }

// source lists the faults and presets; empty outside a demo.
func (p *Screen) source(v *page.View) part.Slice[chaos.Row] {
	var rows []chaos.Row
	if v.Chaos != nil {
		rows = v.Chaos.Rows
	}
	return part.Slice[chaos.Row]{Items: rows, Key: func(r chaos.Row) string { return r.Name },
		Cells: func(r chaos.Row, cells []part.Cell) []part.Cell { return rowCells(v, r, cells) }}
}

// Cannot implements Page.
// A preset is a scene of several faults over a time, which has no rate to turn up.
func (p *Screen) Cannot(v *page.View, a page.Action) string {
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
func (p *Screen) Act(v *page.View, a page.Action) page.Effect {
	r, ok := lists.Selected(&p.Pane, p.source(v))
	switch {
	// Works without a row: an operator who is lost wants all of it off.
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
// A name that no row has is passed on: the simulator answers that it knows no such fault.
func InjectNamed(s *chaos.State, ask chaos.Ask) page.Effect {
	e := page.Effect{Chaos: &ask}
	if r, ok := s.Row(ask.Name); ok && !ask.Off {
		e.Confirm = sure(r)
	}
	return e
}

// sure is the question before a row starts; nil = there is none.
// Only what would cost the demo its data asks, such as a scene that has to begin anew.
func sure(r *chaos.Row) *page.Confirm {
	if r.Sure == nil {
		return nil
	}
	return &page.Confirm{Question: r.Sure.Text, Lines: r.Sure.Lines, Yes: r.Sure.Yes}
}

// narrowColumns are those of a small screen: the last one holds what is to be expected until the
// engine did something, then that.
var narrowColumns = []part.Column{
	{Title: "FAULT", Kind: part.Words, Min: 18, Width: 18},
	{Title: "INJECTED", Kind: part.State, Min: 12, Width: 13},
	{Title: "HITS", Kind: part.Number, Min: 4, Width: 5},
	{Title: "WHAT IT DOES, OR DID", Kind: part.Words, Min: 20, Width: 30, Flex: 1},
}

// beforeLast is what the columns before the last one take of a narrow screen, in cells with gaps.
// What the engine did is cut to whole clauses in the rest.
const beforeLast = 45

// wideColumns tells what is to be expected beside what the engine did.
// The first three columns are the same.
var wideColumns = append(slices.Clone(narrowColumns[:3]),
	part.Column{Title: "WHAT IS TO BE EXPECTED", Kind: part.Words, Min: 32, Width: 32},
	part.Column{Title: "WHAT THE ENGINE DID", Kind: part.Words, Min: 20, Width: 30, Flex: 1})

// rowCells are the cells of a fault in either set of columns. Presets stand out by their colour.
func rowCells(v *page.View, r chaos.Row, cells []part.Cell) []part.Cell {
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
		did.Text = cmp.Or(part.Clause(r.Did, v.W-beforeLast), r.Did)
	}
	return append(cells, did)
}

// injectedCell is how often the row strikes now.
// Such as "▲ 5 % 0:40": what strikes, how often, and for how long still.
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
// The table has all of its rows; what is left goes to what happened.
func (p *Screen) Draw(v *page.View) []string {
	v.Ticks = true // counts move without the engine telling
	w := v.Inner(v.W)
	src := p.source(v)
	columns := human.Either(v.Size != page.S, wideColumns, narrowColumns)
	table := part.Table{Columns: columns, Title: p.title(v), Empty: "only the demo has a simulated Riot to break"}
	now := p.now(v, w)
	rows := min(src.Len(), max(v.H-len(now)-3, 1))
	panels := []part.Section{
		{Head: table.Header(v.Theme, w), Rows: p.Body(v, table, w, rows, src), Height: rows,
			Click: func(_, y int) string { return p.Clicked(src, y) }},
		{Title: "NOW", Tail: v.Keyed("{clear chaos} clears all"), Rows: now, Height: len(now)},
	}
	if left := v.H - rows - len(now) - 5; left > 0 {
		story := storyRows(v, w, left)
		return block.Below(v, len(story),
			append(panels, part.Section{Title: "WHAT HAPPENED", Tail: "newest first", Rows: story, Height: left})...)
	}
	return v.Whole(panels...)
}

// title names the seed, by which a run can be repeated, and the pace of the demo's clock where it
// is not 1.
func (p *Screen) title(v *page.View) string {
	if v.Chaos == nil {
		return "Chaos"
	}
	return "CHAOS, seed " + strconv.FormatUint(v.Chaos.Seed, 10) +
		human.If(v.Chaos.Speed != 1, ", "+strconv.FormatFloat(v.Chaos.Speed, 'g', 4, 64)+"x")
}

// now is how the engine stands; where there is room, what the selected row is and
// what the simulator counted too.
// "Over the limits" are calls that a real Riot would have counted against the key: it has to stay
// 0, whatever is injected.
func (p *Screen) now(v *page.View, w int) []string {
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
		part.As(themes.Dim, page.Count(c.Early)+" before a Retry-After had passed"), part.As(themes.Dim,
			page.Count(c.Repeated)+" for a match delivered before"))
	rows = append(rows, v.Row(w, append([]part.Cell{part.Plain(" ")}, sums...)...))
	if r, ok := lists.Selected(&p.Pane, p.source(v)); ok {
		rows = append([]string{v.Row(w, part.As(themes.Accent, " "+r.Name), part.Plain(": "+r.About))}, rows...)
	}
	return rows
}

// engineNow is the engine's state, what is held and until when.
// Of several queues that are held the first tells why: they are most often held by the same thing.
func engineNow(v *page.View) []part.Cell {
	e := &v.Engine
	state := v.State(string(e.State))
	state.Text += human.If(e.Why != "", ": "+e.Why)
	held, why, until := 0, "", time.Time{}
	for i := range v.Queues {
		q := &v.Queues[i]
		held += q.Held
		if q.Why != "" && why == "" {
			why, until = q.Why, q.Until
		}
	}
	cells := []part.Cell{state, part.Plain(page.Count(held) + " held"),
		part.Plain(page.Count(e.Retrying) + " retrying")}
	if why == "" {
		return cells
	}
	if strings.Contains(e.Why, why) { // the state says it already
		if left := v.In(until); left != part.None {
			cells = slices.Insert(cells, 1, part.As(themes.Held, "next try in "+left))
		}
		return cells
	}
	next, left := part.As(themes.Dim, "next waits for "+page.BriefWhy(v, why)), v.In(until)
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
