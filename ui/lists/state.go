package lists

import (
	"slices"
	"strings"

	"github.com/farsight-console/farsight/ui/page"
)

// columnName is how a column is named in the file that is kept: "last-sync" of LAST SYNC. It is not
// the column's number, since columns come and go with versions.
func columnName(title string) string {
	return strings.ReplaceAll(strings.ToLower(title), " ", "-")
}

// State implements Keeper.
func (l *List[T]) State() page.ListState {
	s := page.ListState{Down: l.down, Wide: l.wide}
	for i, f := range l.Fields {
		if l.By == i+1 {
			s.Sort = columnName(f.Head.Title)
		}
		if l.hidden[i] {
			s.Hidden = append(s.Hidden, columnName(f.Head.Title))
		}
		if l.Spare.On[i] {
			s.Shown = append(s.Shown, columnName(f.Head.Title))
		}
	}
	return s
}

// Restore implements Keeper. Columns that are not there any more, or may not be
// hidden, are left out.
func (l *List[T]) Restore(s page.ListState) {
	for i, c := range l.Columns() {
		name := columnName(c.Name)
		if name == s.Sort && c.Sortable {
			l.By, l.down = i+1, s.Down
		}
		switch {
		case c.Pinned:
		case slices.Contains(s.Hidden, name):
			l.hidden = with(l.hidden, i)
		case l.Spare.is[i] && slices.Contains(s.Shown, name):
			l.Spare.On = with(l.Spare.On, i)
		}
	}
	l.wide = s.Wide
}
