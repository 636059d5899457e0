package lists

import (
	"slices"
	"strings"
	"time"

	"github.com/farsight-console/farsight/engine/columns"
	"github.com/farsight-console/farsight/engine/human"
	"github.com/farsight-console/farsight/themes"
	"github.com/farsight-console/farsight/ui/page"
	"github.com/farsight-console/farsight/ui/part"
)

// List is a table that can be filtered, sorted, narrowed to some columns and
// marked. Rows come in screen order from whoever owns the list.
type List[T any] struct {
	Pane
	Query[T]
	Fields columns.List[T]
	key    func(*T) string

	hidden map[int]bool // columns the operator took away
	Spare  spares       // those that are shown when asked for
	wide   bool         // nothing is dropped: columns are reached by panning
	Still  bool         // it is a summary: no cursor stands in it
	By     int          // column that is sorted by, from 1; 0 = screen order
	down   bool

	Shown  []*T             // of all, filtered and sorted
	All    int              // how many there are without the filter
	Of     int              // the same where the rows are some of them; 0 = the rows are all
	at     map[string]int32 // where the row of an id is shown
	Made   Recipe
	placed bool      // something was made
	begun  time.Time // when

	// Laid is the list with lines between its rows; nil = it has none.
	Laid func(v *page.View) LaidOut
}

// LaidOut is a source that has lines which are no rows.
type LaidOut interface {
	part.Source
	// Line draws line i where it is no row; nil = it is one.
	Line(i int) func(l *part.Line)
	// Layer is what line i lies on.
	Layer(i int) themes.Layer
}

// Recipe names the versions of what the shown rows were made of.
type Recipe struct {
	rows   any
	gen    int
	by     int
	down   bool
	moment time.Time // what a filter says of ages moves on with time
}

// New returns a list of the columns shown, which are of the catalogue all. key is a row's identity,
// which stays the same while the row changes.
func New[T any](all *columns.Catalogue[T], shown columns.List[T], key func(*T) string) List[T] {
	l := List[T]{Query: Query[T]{Schema: all.Schema}, key: key}
	l.Choose(shown)
	return l
}

// Choose gives the list other columns; what was chosen of them is given up.
func (l *List[T]) Choose(shown columns.List[T]) {
	l.Fields, l.hidden, l.Spare, l.By, l.down = shown, nil, spares{}, 0, false
	for i, c := range shown {
		if c.Spare {
			l.Spare.is = with(l.Spare.is, i)
		}
	}
}

// SetFilter implements Filterer.
func (l *List[T]) SetFilter(text string) error {
	l.Asked = true
	return l.Query.SetFilter(text)
}

// Fit implements Filterer.
func (l *List[T]) Fit() (shown, all int) {
	if all = max(l.All, l.Of); !l.On() { // all fit, though not all have been read
		return all, all
	}
	return len(l.Shown), all
}

// Put gives the list its rows. They are looked at again only if version or what
// was asked for has changed; rows is called only then.
func (l *List[T]) Put(v *page.View, version any, rows func() []T) {
	now := Recipe{version, l.Gen, l.By, l.down, time.Time{}}
	if l.fit.Moves() {
		every := time.Second
		if l.All > slowList {
			every *= 10
		}
		now.moment = v.Now.Truncate(every)
	}
	if now == l.Made && l.placed || l.waits(v, now) {
		return
	}
	l.build(rows(), now, v.Now)
}

// id is the identity of row i as it is shown, and find its place; both ways are needed by the
// cursor for each frame.
func (l *List[T]) id(i int) string { return l.key(l.Shown[i]) }
func (l *List[T]) find(id string) (place int, ok bool) {
	at, ok := l.at[id]
	return int(at), ok
}

// Rows is the list as a table's source.
func (l *List[T]) Rows(v *page.View) part.Source {
	if l.Laid != nil {
		return l.Laid(v)
	}
	return rowSource[T]{l, v}
}

type rowSource[T any] struct {
	l *List[T]
	v *page.View
}

// Len implements part.Source.
func (s rowSource[T]) Len() int { return len(s.l.Shown) }

// ID implements part.Source.
func (s rowSource[T]) ID(i int) string { return s.l.id(i) }

// Find implements part.Source.
func (s rowSource[T]) Find(id string) (int, bool) {
	return s.l.find(id)
}

// Row implements part.Source: the cells of the columns that are not hidden.
func (s rowSource[T]) Row(i int, cells []part.Cell) []part.Cell {
	return s.l.Cells(s.v, s.l.Shown[i], cells, s.l.Shows)
}

// Cells are those of a row in the columns that are asked for.
func (l *List[T]) Cells(v *page.View, row *T, cells []part.Cell, of func(column int) bool) []part.Cell {
	for i := range l.Fields {
		if of(i) {
			cells = append(cells, l.Fields[i].Cell(page.Pen{View: v}, row))
		}
	}
	return cells
}

// columns are those that are not hidden, the sorted one with its arrow.
func (l *List[T]) columns(v *page.View) []part.Column {
	out := make([]part.Column, 0, len(l.Fields))
	l.Spare.roomy = v.Size == page.L
	for i, f := range l.Fields {
		if !l.Shows(i) {
			continue
		}
		c := l.preferred(v, i, f.Head)
		c.Title += human.If(l.By == i+1, " "+l.arrow(v))
		if l.wide {
			c.Priority = min(c.Priority, 1)
			c.Min = max(c.Min, min(c.Width, c.Min+8))
		}
		out = append(out, c)
	}
	return out
}

func (l *List[T]) arrow(v *page.View) string {
	return human.Either(l.down, v.Theme.Glyphs.Down, v.Theme.Glyphs.Up)
}

// Draw draws the list with its header.
func (l *List[T]) Draw(v *page.View, w, h int, empty string) []string {
	t := part.Table{
		Columns: l.columns(v), Empty: empty, Failed: v.Unread(empty),
		Pan: l.Pan, Fades: l.Laid == nil, Still: l.Still,
	}
	if l.Laid != nil {
		laid := l.Laid(v)
		t.Line, t.Layer = laid.Line, laid.Layer
	}
	l.keep(t, w)
	return l.Table(v, t, w, h, l.Rows(v))
}

// Parts shares a screen between the list and the detail of its selected row: a
// short list takes what its rows need, also while a filter leaves fewer of them,
// and the detail gets at least as many rows as asked for.
func (l *List[T]) Parts(v *page.View, detail int) (rows, below int) {
	room := max(v.H-3, 2)
	rows = max(min(max(l.All, len(l.Shown), shortList)+1, room-detail), 1)
	return rows, max(room-rows, 0)
}

// shortList is how many rows the shortest list keeps, so that the first few that
// come do not move what is below.
const shortList = 6

// Selected is the row under the cursor.
func (l *List[T]) Selected() (row T, ok bool) {
	if l.Laid == nil && !l.Cur.Held() && len(l.Shown) > 0 { // at rest it is the first, whichever that is by now
		return *l.Shown[0], true
	}
	id, ok := l.Cur.Selected()
	if !ok && len(l.Shown) > 0 {
		if _, left := l.Cur.Left(); !left {
			return *l.Shown[0], true
		}
	}
	i, found := l.find(id)
	if !ok || !found {
		return row, false
	}
	return *l.Shown[i], true
}

// ToOpen is the id of the row that enter opens. One that left the list can still
// be looked at: no other key acts on it.
func (l *List[T]) ToOpen() (id string, ok bool) {
	if row, ok := l.Selected(); ok {
		return l.key(&row), true
	}
	return l.Cur.Left()
}

// CannotOpen says that there is nothing to open; "" = there is.
func (l *List[T]) CannotOpen(what string) string {
	if _, ok := l.ToOpen(); ok {
		return ""
	}
	return l.Missing(what)
}

// About is a hint on what a key does with the selected row; "" = there is none.
func (l *List[T]) About(hint string) string {
	if _, ok := l.Selected(); !ok {
		return ""
	}
	return hint
}

// Missing says that no row is under the cursor; "" = there is one.
func (l *List[T]) Missing(what string) string {
	if _, ok := l.Selected(); !ok {
		return None(&l.Pane, what)
	}
	return ""
}

// Act carries out the keys that every list has; false when the key means
// something else.
func (l *List[T]) Act(v *page.View, a page.Action) bool {
	src := l.Rows(v)
	switch a {
	case page.Mark:
		l.Cur.Sync(src, l.Height)
		l.Cur.Toggle()
		l.Cur.Move(src, 1, l.Height)
	case page.MarkRange:
		l.Cur.Sync(src, l.Height)
		l.Cur.MarkRange(src)
	case page.MarkAll:
		for i := range l.Shown {
			l.Cur.Mark(l.id(i))
		}
	case page.Unmark:
		l.Cur.Unmark()
	case page.Invert:
		l.down = !l.down
		if l.By == 0 {
			l.By = l.firstSortable()
		}
	case page.Wide:
		l.wide, l.Pan = !l.wide, 0
	default:
		return l.Pane.Steer(src, a)
	}
	return true
}

func (l *List[T]) firstSortable() int {
	return 1 + slices.IndexFunc(l.Fields, func(c columns.Column[T]) bool { return c.Order != nil })
}

// Marked are the marked rows that are still there, and how many of them the
// filter hides.
func (l *List[T]) Marked(all []T) (rows []T, hidden int) {
	for i := range all {
		id := l.key(&all[i])
		if !l.Cur.Marked(id) {
			continue
		}
		rows = append(rows, all[i])
		if _, ok := l.find(id); !ok {
			hidden++
		}
	}
	return rows, hidden
}

// Section is a section that holds the list, h rows of w cells with the header.
func (l *List[T]) Section(v *page.View, w, h int, empty string, s part.Section) part.Section {
	s.Rows, s.Height = l.Draw(v, w, h, empty), h
	s.Click = func(x, y int) string {
		if y == 0 {
			l.SortAt(v, w, x)
			return ""
		}
		return l.Clicked(l.Rows(v), y-1)
	}
	return s
}

// SortAt orders the list by the column whose title stands at a cell of its header.
func (l *List[T]) SortAt(v *page.View, w, x int) {
	at := part.Table{Columns: l.columns(v), Pan: l.Pan}.ColumnAt(w, x)
	for i := range l.Fields {
		if !l.Shows(i) {
			continue
		}
		if at == 0 {
			l.SortBy(i)
			return
		}
		at--
	}
}

// Note is how many rows the list has, the filter, the order and the marks.
func (l *List[T]) Note(v *page.View, more ...string) string {
	text := page.Count(len(l.Shown)) + human.If(l.text != "", " of "+page.Count(max(l.All, l.Of)))
	return l.Noted(v, text, more...)
}

// Noted is what a list says of itself, behind how many rows it has.
func (l *List[T]) Noted(v *page.View, text string, more ...string) string {
	more = append(more, l.sortText(v))
	more = append(more, l.Told())
	if n := l.Cur.MarkCount(); n > 0 {
		more = append(more, page.Count(n)+" marked")
	}
	return page.Joined(v, append([]string{text}, more...)...)
}

// Empty says that the filter leaves nothing; "" = it does not.
func (l *List[T]) Empty(v *page.View) string {
	if all := max(l.All, l.Of); l.On() && all > 0 {
		return "0 of " + page.Count(all) + " " + v.Theme.Glyphs.Sep + v.Keyed(" {back} clears ") + l.Used
	}
	return ""
}

// Lister is a page with one list that can be sorted and narrowed.
type Lister interface {
	// Columns names the list's columns in order, and what is chosen of each.
	Columns() []ColumnChoice
	// SortBy orders the list by a column; the same one again turns the order.
	SortBy(column int)
	// ToggleColumn shows or hides a column.
	ToggleColumn(column int)
}

// ColumnChoice is one column in the menus of a list.
type ColumnChoice struct {
	Name     string
	Sortable bool
	Sorted   bool
	Hidden   bool
	Pinned   bool // may not be hidden
}

// Columns implements Lister.
func (l *List[T]) Columns() []ColumnChoice {
	out := make([]ColumnChoice, len(l.Fields))
	for i, f := range l.Fields {
		out[i] = ColumnChoice{
			Name: f.Head.Title, Sortable: f.Order != nil, Sorted: l.By == i+1, Hidden: !l.seen(i),
			Pinned: f.Head.Kind == part.State || i == 0,
		}
	}
	return out
}

// SortBy implements Lister.
func (l *List[T]) SortBy(column int) {
	if column < 0 || column >= len(l.Fields) || l.Fields[column].Order == nil {
		return
	}
	l.By, l.down = column+1, l.By == column+1 && !l.down
}

// ToggleColumn implements Lister.
func (l *List[T]) ToggleColumn(column int) {
	choices := l.Columns()
	if column < 0 || column >= len(choices) || choices[column].Pinned {
		return
	}
	l.toggle(column)
}

// Exporter is a page whose list can be copied and written to a file.
type Exporter interface {
	// Export gives the rows as text, columns separated by tabs, a header first; only
	// selected gives the row under the cursor or the marked ones.
	Export(v *page.View, only bool) (name string, rows [][]string)
}

// ExportRows gives all rows that are shown, or only the marked ones or the one under
// the cursor.
func (l *List[T]) ExportRows(v *page.View, only bool) [][]string {
	rows := l.Shown
	if only {
		chosen := l.Chosen()
		rows = rows[:0:0]
		for i := range chosen {
			rows = append(rows, &chosen[i])
		}
	}
	head := make([]string, len(l.Fields))
	for i, f := range l.Fields {
		head[i] = f.Head.Title
	}
	out := [][]string{head}
	var cells []part.Cell
	for _, row := range rows {
		cells = l.Cells(v, row, cells[:0], func(int) bool { return true })
		texts := make([]string, len(cells))
		for n, c := range cells {
			texts[n] = strings.TrimSpace(c.Text)
		}
		out = append(out, texts)
	}
	return out
}

// Chosen are the marked rows that are shown, else the one under the cursor.
func (l *List[T]) Chosen() []T {
	var rows []T
	for i, row := range l.Shown {
		if l.Cur.Marked(l.id(i)) {
			rows = append(rows, *row)
		}
	}
	if len(rows) > 0 {
		return rows
	}
	if row, ok := l.Selected(); ok {
		return []T{row}
	}
	return nil
}

// Copies implements Copier.
func (l *List[T]) Copies(v *page.View) []page.Copy {
	rows := l.Chosen()
	things := make([]any, len(rows))
	for i := range rows {
		things[i] = rows[i]
	}
	return page.CopiesOf(v, things, func(i int) string { return l.key(&rows[i]) })
}
