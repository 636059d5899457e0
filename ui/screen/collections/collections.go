// Package collections is the screen of what is collected, and of one collection in depth.
package collections

import (
	"cmp"

	"github.com/farsight-console/farsight/engine"
	"github.com/farsight-console/farsight/engine/columns"
	"github.com/farsight-console/farsight/themes"
	"github.com/farsight-console/farsight/ui/lists"
	"github.com/farsight-console/farsight/ui/page"
	"github.com/farsight-console/farsight/ui/part"
)

// screen lists the collections; below a list that is short stands the screen of the selected one.
type screen struct {
	lists.Page[engine.CollectionRow]
	page.Collections
	below *One // nil = there is no room
}

// New makes the screen.
func New() page.Page {
	p := &screen{}
	p.List = lists.New(columns.Collections, p.columns(), func(r *engine.CollectionRow) string { return r.Name })
	does := map[page.Action]func(*page.View, engine.CollectionRow) page.Effect{
		page.Open: func(_ *page.View, r engine.CollectionRow) page.Effect {
			return page.Effect{Open: page.ToCollection(r.Name)}
		},
	}
	for a := range steers {
		does[a] = func(v *page.View, r engine.CollectionRow) page.Effect { return steer(v, a, &r) }
	}
	p.Is = lists.Declaration[engine.CollectionRow]{
		Screen: page.ScreenCollections, Crumb: "Collections", File: "collections", Row: "collection",
		Fill: func(v *page.View) {
			p.Put(v, page.MadeOf{Came: p.Came, Version: v.Version}, p.Rows)
		},
		Does:   does,
		Cannot: func(_ *page.View, a page.Action, r engine.CollectionRow) string { return cannot(a, &r) },
	}
	return p
}

// columns are those of the list; some tell of the queue, and when the round ends.
func (p *screen) columns() columns.List[engine.CollectionRow] {
	return columns.CollectionList.
		Drawn("state", page.ByView(func(v *page.View, r *engine.CollectionRow) part.Cell { return v.State(v.CollectionWord(r)) })).
		Drawn("pace", page.ByView(func(v *page.View, r *engine.CollectionRow) part.Cell {
			return part.As(themes.Dim, p.PaceText(v, r))
		})).
		Drawn("done", page.ByView(func(v *page.View, r *engine.CollectionRow) part.Cell { return part.Plain(p.DoneText(v, r)) }))
}

// Want implements Page.
func (p *screen) Want(v *page.View) engine.Query {
	if q := p.Collections.Want(v); q != nil || p.below == nil {
		return q
	}
	return p.below.Want(v)
}

// Got implements Page.
func (p *screen) Got(v *page.View, q engine.Query, a engine.Answer, err error) {
	if !p.Collections.Got(v, q, a, err) && p.below != nil {
		p.below.Got(v, q, a, err)
	}
}

// leastBelow is what the screen of a collection takes below the list.
const leastBelow = 8

// Draw implements Page.
func (p *screen) Draw(v *page.View) []string {
	p.Refresh(v)
	list := len(p.Shown) + 2
	row, ok := p.Selected()
	if len(p.Shown) == 0 {
		return v.Whole(p.panel(v, list))
	}
	if !ok || v.H-list-1 < leastBelow {
		p.below = nil
		return v.Whole(p.panel(v, v.H-1))
	}
	if p.below == nil || p.below.Name != row.Name {
		p.below = NewOne(row.Name)
	}
	p.below.instead = row
	under := *v
	under.Y, under.H, under.Hits = v.Y+list+1, v.H-list-1, nil
	rows := part.Stack(v.Sections(0, 0, v.W, list, p.panel(v, list-1)), part.Height(v.Theme, v.W, 1, nil), p.below.Draw(&under))
	v.Ticks = v.Ticks || under.Ticks
	return rows
}

func (p *screen) panel(v *page.View, h int) part.Section {
	return p.Section(v, v.Inner(v.W), h, p.empty(v), part.Section{Title: "COLLECTIONS", Note: p.Note(v), Tail: p.Told(v)})
}

// empty says why there are no rows.
func (p *screen) empty(v *page.View) string {
	return cmp.Or(p.Absent(v, "the collections", "collections"), p.List.Empty(v),
		v.Start("nothing is collected yet", "{:collect} master+ --platform kr begins"))
}
