// Package columns says once what a row of each kind shows: the name of a column, how it is
// asked for in a filter, what orders it, how it stands in a list on a screen, in what a
// command prints and in an export. Screens, commands, the filter language and its
// completion all read the same entries, so that a new column is one entry:
//
//	number("worker", "that has its running or last attempt in hand", func(r *job) int { return r.Worker }).
//		head("WORKER", table.Number, 6, 6).drop(4).rising()
package columns

import (
	"cmp"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/farsight-console/farsight/engine/filter"
	"github.com/farsight-console/farsight/engine/table"
	"github.com/farsight-console/farsight/themes"
)

// Pen writes what depends on the moment, or on what a screen knows besides the row.
type Pen interface {
	Now() time.Time
	Clock(at time.Time) string // 12:31:02
	Age(at time.Time) string   // 5 m
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

	token       themes.Token
	text        func(p Pen, row *T) string
	draw        func(p Pen, row *T) table.Cell // nil = text, in the colour of token
	up, falling func(a, b *T) int
}

// Cell is what a screen shows.
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

// New makes a catalogue. It panics where names collide, or an option names no column:
// that is an error in the program.
func New[T any](o filter.Options, all ...Column[T]) *Catalogue[T] {
	var fields []filter.Field[T]
	for _, c := range all {
		if c.Value != nil || c.Of != nil {
			fields = append(fields, c.Field)
		}
	}
	return &Catalogue[T]{filter.New(o, fields...), all}
}

// List is some columns in the order in which they are shown.
type List[T any] []Column[T]

// Pick gives columns by their names, parted by spaces. It panics where there is none of a
// name.
func (c *Catalogue[T]) Pick(names string) List[T] {
	var picked List[T]
	for _, name := range strings.Fields(names) {
		i := slices.IndexFunc(c.all, func(c Column[T]) bool { return c.Name == name })
		if i < 0 {
			panic(fmt.Sprintf("columns: there is no %q", name))
		}
		picked = append(picked, c.all[i])
	}
	return picked
}

// fit gives a column of the list another width, and another place among those that give
// way.
func (l List[T]) fit(name string, least, width, priority int) List[T] {
	i := slices.IndexFunc(l, func(c Column[T]) bool { return c.Name == name })
	l[i].Head.Min, l[i].Head.Width, l[i].Head.Priority = least, width, priority
	return l
}

// Drawn is the list with a column as a screen draws it that knows more than the row.
func (l List[T]) Drawn(name string, draw func(p Pen, row *T) table.Cell) List[T] {
	l = slices.Clone(l)
	i := slices.IndexFunc(l, func(c Column[T]) bool { return c.Name == name })
	l[i].draw = draw
	return l
}

// Exported is the column's name in an export.
func (c *Column[T]) Exported() string { return cmp.Or(c.Export, c.Name) }

// Printed is how the column stands in what a command prints.
func (c *Column[T]) Printed() table.Column {
	line := c.Line
	line.Title = cmp.Or(line.Title, c.Head.Title)
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
