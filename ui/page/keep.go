package page

import "strings"

// ListState is what an operator chose of a list: it is kept from one start to the
// next. Columns are named, so that it outlives a new column.
type ListState struct {
	Sort   string   `json:"sort,omitempty"` // column; "" = as it comes
	Down   bool     `json:"down,omitempty"`
	Hidden []string `json:"hidden,omitempty"`
	Wide   bool     `json:"wide,omitempty"`
}

// Plain reports whether nothing was chosen.
func (s ListState) Plain() bool { return s.Sort == "" && !s.Down && len(s.Hidden) == 0 && !s.Wide }

// Keeper is a page whose list is remembered.
type Keeper interface {
	State() ListState
	Restore(s ListState)
}

// columnName is how a column is named in what is kept.
func columnName(title string) string {
	return strings.ReplaceAll(strings.ToLower(title), " ", "-")
}

// State implements Keeper.
func (l *list[T]) State() ListState {
	s := ListState{Down: l.down, Wide: l.wide}
	for i, f := range l.fields {
		if l.by == i+1 {
			s.Sort = columnName(f.Title)
		}
		if l.hidden[i] {
			s.Hidden = append(s.Hidden, columnName(f.Title))
		}
	}
	return s
}

// Restore implements Keeper. Columns that are not there any more, or may not be
// hidden, are left out.
func (l *list[T]) Restore(s ListState) {
	for i, c := range l.Columns() {
		name := columnName(c.Name)
		if name == s.Sort && c.Sortable {
			l.by, l.down = i+1, s.Down
		}
		for _, h := range s.Hidden {
			if h == name && !c.Hidden {
				l.ToggleColumn(i)
			}
		}
	}
	l.wide = s.Wide
}
