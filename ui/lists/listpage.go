package lists

import (
	"github.com/farsight-console/farsight/ui/page"
)

// Page is a screen that is one list, declared: what it is called, what each key does
// with the row under the cursor, and why it cannot.
type Page[T any] struct {
	List[T]
	Is Declaration[T]
}

// Declaration declares a screen of rows.
type Declaration[T any] struct {
	Screen page.Screen
	Crumb  string // behind the screen's name in the title
	File   string // that its rows are exported to
	Row    string // what a row is called: alert
	// Fill brings the list up to date.
	Fill func(v *page.View)
	// Does are the actions on a row; each is refused where no row is selected.
	Does map[page.Action]func(v *page.View, row T) page.Effect
	// Cannot says why an action has nothing to act on; "" = it can. Nil refuses nothing.
	Cannot func(v *page.View, a page.Action, row T) string
}

// Screen implements Page.
func (p *Page[T]) Screen() page.Screen { return p.Is.Screen }

// Crumb implements Page.
func (p *Page[T]) Crumb(*page.View) string { return p.Is.Crumb }

// Refresh brings the list up to date. Every method that looks at a row calls it first: a key may
// come before the frame that would have done it.
func (p *Page[T]) Refresh(v *page.View) { p.Is.Fill(v) }

// Cannot implements Page.
func (p *Page[T]) Cannot(v *page.View, a page.Action) string {
	p.Refresh(v)
	if p.Is.Does[a] != nil {
		if why := p.Missing(p.Is.Row); why != "" {
			return why
		}
	}
	if p.Is.Cannot == nil {
		return ""
	}
	row, _ := p.Selected()
	return p.Is.Cannot(v, a, row)
}

// Act implements Page.
func (p *Page[T]) Act(v *page.View, a page.Action) page.Effect {
	p.Refresh(v)
	if p.List.Act(v, a) {
		return page.Effect{}
	}
	row, ok := p.Selected()
	switch does := p.Is.Does[a]; {
	case a == page.Trigger:
		return page.Effect{Ask: page.AskSync}
	case ok && does != nil:
		return does(v, row)
	}
	return page.Effect{}
}

// Export implements Exporter.
func (p *Page[T]) Export(v *page.View, only bool) (string, [][]string) {
	p.Refresh(v)
	return p.Is.File, p.ExportRows(v, only)
}
