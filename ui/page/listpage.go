package page

// listPage is a screen that is one list, declared: what it is called, what each key does
// with the row under the cursor, and why it cannot.
type listPage[T any] struct {
	list[T]
	is screenOf[T]
}

// screenOf declares a screen of rows.
type screenOf[T any] struct {
	screen Screen
	crumb  string // behind the screen's name in the title
	file   string // that its rows are exported to
	row    string // what a row is called: alert
	// fill brings the list up to date.
	fill func(v *View)
	// does are the actions on a row; each is refused where no row is selected.
	does map[Action]func(v *View, row T) Effect
	// cannot says why an action has nothing to act on; "" = it can. Nil refuses nothing.
	cannot func(v *View, a Action, row T) string
}

// Screen implements Page.
func (p *listPage[T]) Screen() Screen { return p.is.screen }

// Crumb implements Page.
func (p *listPage[T]) Crumb(*View) string { return p.is.crumb }

func (p *listPage[T]) refresh(v *View) { p.is.fill(v) }

// Cannot implements Page.
func (p *listPage[T]) Cannot(v *View, a Action) string {
	p.refresh(v)
	if p.is.does[a] != nil {
		if why := p.missing(p.is.row); why != "" {
			return why
		}
	}
	if p.is.cannot == nil {
		return ""
	}
	row, _ := p.selected()
	return p.is.cannot(v, a, row)
}

// Act implements Page.
func (p *listPage[T]) Act(v *View, a Action) Effect {
	p.refresh(v)
	if p.list.act(v, a) {
		return Effect{}
	}
	row, ok := p.selected()
	switch does := p.is.does[a]; {
	case a == Trigger:
		return Effect{Ask: AskSync}
	case ok && does != nil:
		return does(v, row)
	}
	return Effect{}
}

// Export implements Exporter.
func (p *listPage[T]) Export(v *View, only bool) (string, [][]string) {
	p.refresh(v)
	return p.is.file, p.exportRows(v, only)
}
