package page

// ListPage is a screen that is one list, declared: what it is called, what each key does
// with the row under the cursor, and why it cannot.
type ListPage[T any] struct {
	List[T]
	Is ScreenOf[T]
}

// ScreenOf declares a screen of rows.
type ScreenOf[T any] struct {
	Screen Screen
	Crumb  string // behind the screen's name in the title
	File   string // that its rows are exported to
	Row    string // what a row is called: alert
	// Fill brings the list up to date.
	Fill func(v *View)
	// Does are the actions on a row; each is refused where no row is selected.
	Does map[Action]func(v *View, row T) Effect
	// Cannot says why an action has nothing to act on; "" = it can. Nil refuses nothing.
	Cannot func(v *View, a Action, row T) string
}

// Screen implements Page.
func (p *ListPage[T]) Screen() Screen { return p.Is.Screen }

// Crumb implements Page.
func (p *ListPage[T]) Crumb(*View) string { return p.Is.Crumb }

func (p *ListPage[T]) Refresh(v *View) { p.Is.Fill(v) }

// Cannot implements Page.
func (p *ListPage[T]) Cannot(v *View, a Action) string {
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
func (p *ListPage[T]) Act(v *View, a Action) Effect {
	p.Refresh(v)
	if p.List.Act(v, a) {
		return Effect{}
	}
	row, ok := p.Selected()
	switch does := p.Is.Does[a]; {
	case a == Trigger:
		return Effect{Ask: AskSync}
	case ok && does != nil:
		return does(v, row)
	}
	return Effect{}
}

// Export implements Exporter.
func (p *ListPage[T]) Export(v *View, only bool) (string, [][]string) {
	p.Refresh(v)
	return p.Is.File, p.ExportRows(v, only)
}
