package page

import (
	"slices"
	"strings"
)

// ListState is what an operator chose of a list: it is kept from one start to the
// next. Columns are named, so that it outlives a new column.
type ListState struct {
	Sort   string   `json:"sort,omitempty"` // column; "" = as it comes
	Down   bool     `json:"down,omitempty"`
	Hidden []string `json:"hidden,omitempty"`
	Shown  []string `json:"shown,omitempty"` // of those that are not unless asked for
	Wide   bool     `json:"wide,omitempty"`
}

// Plain reports whether nothing was chosen.
func (s ListState) Plain() bool {
	return s.Sort == "" && !s.Down && len(s.Hidden)+len(s.Shown) == 0 && !s.Wide
}

// Equal reports whether the same was chosen.
func (s ListState) Equal(other ListState) bool {
	return s.Sort == other.Sort && s.Down == other.Down && s.Wide == other.Wide && slices.Equal(s.Hidden, other.Hidden) && slices.Equal(s.Shown, other.Shown)
}

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
			s.Sort = columnName(f.Head.Title)
		}
		if l.hidden[i] {
			s.Hidden = append(s.Hidden, columnName(f.Head.Title))
		}
		if l.spare.on[i] {
			s.Shown = append(s.Shown, columnName(f.Head.Title))
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
		switch {
		case c.Pinned:
		case slices.Contains(s.Hidden, name):
			l.hidden = with(l.hidden, i)
		case l.spare.is[i] && slices.Contains(s.Shown, name):
			l.spare.on = with(l.spare.on, i)
		}
	}
	l.wide = s.Wide
}
