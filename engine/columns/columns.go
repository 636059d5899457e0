// Package columns says once what a row of each kind shows: the name of a column, how it is
// asked for in a filter, what orders it, how it stands in a list on a screen, in what a
// command prints and in an export. Screens, commands, the filter language and its
// completion all read the same entries, so that a new column is one entry:
//
//	number("worker", "that has its running or last attempt in hand", func(r *job) int { return r.Worker }).
//		head("WORKER", table.Number, 6, 6).drop(4).rising()
//
// To read an entry: the kind (kinds.go) says what the value is and how it is asked for, written,
// compared and exported; head puts it on a screen, line into what a command prints, export into an
// export; what stands behind them changes one of these. Which columns a surface shows, and in which
// order, is said by the catalogue's Pick lists below it.
//
// Catalogues are made when the program starts and only read after that, so that any goroutine may use
// them. An entry with a mistake in it, such as a name that is there twice, panics then and not later.
// The package draws nothing and asks nobody: what depends on the moment or on a screen comes by [Pen].
package columns

import (
	"cmp"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/farsight-console/farsight/engine"
	"github.com/farsight-console/farsight/engine/filter"
	"github.com/farsight-console/farsight/engine/table"
	"github.com/farsight-console/farsight/themes"
)

// Pen writes what depends on the moment, or on what a screen knows besides the row. The zero instant is
// written as human.None by all of its methods.
type Pen interface {
	Now() time.Time
	Clock(at time.Time) string // 12:31:02
	Age(at time.Time) string   // 5 min
	Ago(at time.Time) string   // 5 min ago
	In(at time.Time) string    // 41 s, without a sign
	Until(at time.Time) string // 41 s, or since when it is overdue
	Why(reason string) string  // a limiter's reason in the words of a list
	State(word string) table.Cell
	Sign(state, text string) table.Cell // a text with the sign of a state
}

// Column is one thing that is told of a row. Its Name is the one that a filter asks for.
type Column[T any] struct {
	filter.Field[T]
	// Head is how it stands in a list on a screen; one without a title is on none.
	Head table.Column
	// Order compares two rows by it; nil = a list cannot be sorted by it.
	Order func(a, b *T) int
	// Spare columns are shown when they are asked for, or when there is room to spare.
	Spare bool
	// Line is how it stands in what a command prints, Print what stands there.
	Line  table.Column
	Print func(row *T, now time.Time) string
	// Export is its name in an export, "" = Name; JSON its value there: null where there is none.
	Export string
	JSON   func(row *T) any

	// What screens draw with; set by the functions of kinds.go.
	token       themes.Token
	text        func(p Pen, row *T) string
	draw        func(p Pen, row *T) table.Cell // nil = text, in the colour of token
	up, falling func(a, b *T) int
}

// declaration is a column while it is declared. What declares it is no method of a column: each package that knows one would
// compile it for each kind of rows.
type declaration[T any] Column[T]

// Cell is what a screen shows. The empty cell of a column that the screen draws itself is replaced by
// it.
func (c *Column[T]) Cell(p Pen, row *T) table.Cell {
	switch {
	case c.draw != nil:
		return c.draw(p, row)
	case c.text == nil: // the screen itself draws it, see Drawn
		return table.Cell{}
	}
	return table.As(c.token, c.text(p, row))
}

// Catalogue is all that is told of rows of one kind, and what can be asked of them.
type Catalogue[T any] struct {
	*filter.Schema[T]
	all []Column[T]
}

// catalogue makes a catalogue. It panics where names collide, or an option names no column:
// that is an error in the program. A column that has neither a value nor others to stand for is asked
// for by no filter.
func catalogue[T any](o filter.Options, declared ...*declaration[T]) *Catalogue[T] {
	all := listed(declared...)
	fields := make([]filter.Field[T], 0, len(all))
	for _, c := range all {
		if c.Value != nil || c.Of != nil {
			fields = append(fields, c.Field)
		}
	}
	return &Catalogue[T]{filter.New(o, fields...), all}
}

// List is some columns in the order in which they are shown.
type List[T any] []Column[T]

// listed are columns as they are declared.
func listed[T any](declared ...*declaration[T]) List[T] {
	l := make(List[T], 0, len(declared))
	for _, c := range declared {
		l = append(l, Column[T](*c))
	}
	return l
}

// Pick gives columns by their names, separated by spaces. It panics where there is none of a
// name.
func (c *Catalogue[T]) Pick(names string) List[T] {
	wanted := strings.Fields(names)
	picked := make(List[T], 0, len(wanted))
	for _, name := range wanted {
		i := slices.IndexFunc(c.all, func(c Column[T]) bool { return c.Name == name })
		if i < 0 {
			// A list is declared beside its catalogue: no user's word comes here.
			panic(fmt.Sprintf("columns: there is no %q", name))
		}
		picked = append(picked, c.all[i])
	}
	return picked
}

// fit gives a column of the list another width, and another place among those that give
// way. Widths are in cells. It changes the list itself: only where lists are declared.
func (l List[T]) fit(name string, least, width, priority int) List[T] {
	i := slices.IndexFunc(l, func(c Column[T]) bool { return c.Name == name })
	l[i].Head.Min, l[i].Head.Width, l[i].Head.Priority = least, width, priority
	return l
}

// asked makes columns of the list spare ones. It changes the list itself, as fit does.
func (l List[T]) asked(names string) List[T] {
	for i := range l {
		l[i].Spare = l[i].Spare || slices.Contains(strings.Fields(names), l[i].Name)
	}
	return l
}

// Drawn is the list with a column as a screen draws it that knows more than the row. The list itself
// stays as it is: screens of several consoles share it.
func (l List[T]) Drawn(name string, draw func(p Pen, row *T) table.Cell) List[T] {
	l = slices.Clone(l)
	i := slices.IndexFunc(l, func(c Column[T]) bool { return c.Name == name })
	l[i].draw = draw
	return l
}

// About is a column as somebody asks for it by its name.
type About struct {
	Name, Help string
	aliases    []string
}

// printable are the columns that a command can print and sort by.
func (c *Catalogue[T]) printable() List[T] {
	return slices.DeleteFunc(slices.Clone(c.all), func(c Column[T]) bool { return c.Print == nil })
}

// Printable tells of the columns that a command can print and sort by.
func (c *Catalogue[T]) Printable() (all []About) {
	for _, c := range c.printable() {
		all = append(all, About{c.Name, cmp.Or(c.Help, strings.ToLower(c.Printed().Title)), c.Aliases})
	}
	return all
}

// Named gives a column that a command can print by its name or another word for it.
// The error of another name tells those that there are. Case and spaces around it do not matter. A name
// goes before another column's alias. The error is an *engine.Problem with engine.ErrInvalid.
func (c *Catalogue[T]) Named(name string) (Column[T], error) {
	i, err := named(name, c.Printable())
	if err != nil {
		return Column[T]{}, err
	}
	return c.printable()[i], nil
}

// named is the place of the column of that name.
func named(name string, all []About) (int, error) {
	is := func(word string) bool { return strings.EqualFold(word, strings.TrimSpace(name)) }
	i := slices.IndexFunc(all, func(a About) bool { return is(a.Name) })
	if i < 0 {
		i = slices.IndexFunc(all, func(a About) bool { return slices.ContainsFunc(a.aliases, is) })
	}
	if i >= 0 {
		return i, nil
	}
	var names, words []string
	for _, a := range all {
		names, words = append(names, a.Name), append(append(words, a.Name), a.aliases...)
	}
	do := "use one of " + strings.Join(names, ", ")
	if near := filter.Nearest(name, words); near != "" && name != "" {
		do = "did you mean " + near + "? There are " + strings.Join(names, ", ")
	}
	return 0, engine.Problemf(engine.ErrInvalid, do, "there is no column %q", name)
}

// Rising orders rows by the column, the least first; nil = nothing orders them.
func (c *Column[T]) Rising() func(a, b *T) int { return c.up }

// Falling orders rows by the column, the greatest first. Instants that are not known come
// last in either order.
func (c *Column[T]) Falling() func(a, b *T) int {
	if c.falling != nil || c.up == nil {
		return c.falling
	}
	return func(a, b *T) int { return c.up(b, a) }
}

// Told is the column's value for a program: what an export has, else what is printed. It is what
// `--json` writes; the column must have one of the two.
func (c *Column[T]) Told(row *T, now time.Time) any {
	if c.JSON == nil {
		return c.Print(row, now)
	}
	return c.JSON(row)
}

// Exported is the column's name in an export.
func (c *Column[T]) Exported() string { return cmp.Or(c.Export, c.Name) }

// Printed is how the column stands in what a command prints.
func (c *Column[T]) Printed() table.Column {
	line := c.Line
	line.Title = cmp.Or(line.Title, c.Head.Title, strings.ToUpper(c.Name))
	return line
}

// Heads are the columns as a screen stands them.
func (l List[T]) Heads() []table.Column {
	heads := make([]table.Column, len(l))
	for i := range l {
		heads[i] = l[i].Head
	}
	return heads
}
