package columns

import (
	"cmp"
	"slices"
	"strings"
	"time"

	"github.com/farsight-console/farsight/engine/filter"
	"github.com/farsight-console/farsight/engine/human"
	"github.com/farsight-console/farsight/engine/table"
	"github.com/farsight-console/farsight/themes"
)

// The kinds of columns. Each knows how its values are asked for, written, compared and
// exported; what differs is said behind it.

// name is text that names something: a filter's plain value is all of it.
func name[T any, S ~string](name, help string, get func(*T) S) *declaration[T] {
	return &declaration[T]{
		Field: filter.Field[T]{Name: name, Kind: filter.Name, Help: help,
			Value: func(r *T, _ time.Time) filter.Value { return filter.Text(get(r)) }},
		text:  func(_ Pen, r *T) string { return string(get(r)) },
		Print: func(r *T, _ time.Time) string { return string(get(r)) },
		JSON:  func(r *T) any { return orNull(string(get(r))) },
		up:    func(a, b *T) int { return strings.Compare(string(get(a)), string(get(b))) },
	}
}

// prose is text to read: a filter's plain value may stand anywhere in it.
func prose[T any](is, help string, get func(*T) string) *declaration[T] {
	c := name(is, help, get)
	c.Kind, c.Line.Flex = filter.Prose, 1
	return c
}

// number is a count; 0 is one like the others. On screens thousands are separated, in an export it is a
// number of JSON.
func number[T any](name, help string, get func(*T) int) *declaration[T] {
	return &declaration[T]{
		Field: filter.Field[T]{Name: name, Kind: filter.Number, Help: help,
			Value: func(r *T, _ time.Time) filter.Value { return filter.Count(get(r)) }},
		Line:  table.Column{Kind: table.Number},
		text:  func(_ Pen, r *T) string { return human.Count(int64(get(r))) },
		Print: func(r *T, _ time.Time) string { return human.Count(int64(get(r))) },
		JSON:  func(r *T) any { return get(r) },
		up:    func(a, b *T) int { return cmp.Compare(get(a), get(b)) },
	}
}

// known is number where 0 means that there is none.
func known[T any](name, help string, get func(*T) int) *declaration[T] {
	c := number(name, help, get).unknown(func(r *T) bool { return get(r) == 0 })
	c.text = func(_ Pen, r *T) string { return none(get(r), human.None, human.Count) }
	return c
}

// size is bytes; 0 = there are none.
func size[T any](name, help string, get func(*T) int) *declaration[T] {
	c := known(name, help, get).sized()
	c.text = func(_ Pen, r *T) string { return none(get(r), human.None, human.Bytes) }
	return c
}

// none writes a number, or the word for none where it is 0.
func none(n int, none string, write func(int64) string) string {
	if n == 0 {
		return none
	}
	return write(int64(n))
}

// past is an instant that was, the newest first when it falls. The zero time is not known: it is last
// in either order, and null in an export.
func past[T any](name, help string, get func(*T) time.Time) *declaration[T] {
	return &declaration[T]{
		Field: filter.Field[T]{Name: name, Kind: filter.Past, Help: help,
			Value: func(r *T, _ time.Time) filter.Value { return filter.At(get(r)) }},
		text:    func(p Pen, r *T) string { return p.Clock(get(r)) },
		Print:   func(r *T, now time.Time) string { return human.SpanAgo(get(r), now) },
		JSON:    func(r *T) any { return instant(get(r)) },
		up:      func(a, b *T) int { return ZeroLast(get(a), get(b)) },
		falling: func(a, b *T) int { return get(b).Compare(get(a)) },
	}
}

// ahead is an instant that will be. A filter's durations are counted forwards from now: due<10m.
func ahead[T any](name, help string, get func(*T) time.Time) *declaration[T] {
	c := past(name, help, get)
	c.Kind = filter.Ahead
	c.text = func(p Pen, r *T) string { return p.In(get(r)) }
	return c
}

// age is for how long something has been so, since an instant.
func age[T any](name, help string, get func(*T) time.Time) *declaration[T] {
	c := past(name, help, get)
	c.Kind = filter.Duration
	c.Value = func(r *T, now time.Time) filter.Value { return filter.Since(get(r), now) }
	c.text = func(p Pen, r *T) string { return p.Age(get(r)) }
	// An age grows as its instant lies further back, so that the order is turned.
	c.up, c.falling = c.falling, c.up // the newest is the least
	return c
}

// span is a duration, the longest first when it falls. In an export it is in seconds. How a screen writes
// it is said by whoever heads it: a call takes milliseconds, a game minutes.
func span[T any](name, help string, get func(*T) time.Duration) *declaration[T] {
	return &declaration[T]{
		Field: filter.Field[T]{Name: name, Kind: filter.Duration, Help: help,
			Value: func(r *T, _ time.Time) filter.Value { return filter.Span(get(r)) }},
		Line:  table.Column{Kind: table.Number},
		Print: func(r *T, _ time.Time) string { return human.Span(get(r)) },
		JSON:  func(r *T) any { return get(r).Seconds() },
		up:    func(a, b *T) int { return cmp.Compare(get(a), get(b)) },
	}
}

// enum is one of few words, or several of them at once. What is told of a row is the first of the words
// that it has: one that stands for several others, such as live, comes behind them in the list. Lists
// order by the word unless they are told another order.
func enum[T any](name, help string, words []filter.Word, get func(*T) filter.Value) *declaration[T] {
	said := func(r *T) string {
		of := get(r)
		i := slices.IndexFunc(words, func(w filter.Word) bool { return of.Has(w.Bits) })
		if i < 0 {
			return ""
		}
		return words[i].Name
	}
	return &declaration[T]{
		Field: filter.Field[T]{Name: name, Kind: filter.Enum, Help: help, Words: words,
			Value: func(r *T, _ time.Time) filter.Value { return get(r) }},
		Print: func(r *T, _ time.Time) string { return said(r) },
		JSON:  func(r *T) any { return orNull(said(r)) },
		up:    func(a, b *T) int { return strings.Compare(said(a), said(b)) },
	}
}

// word is the value of a row that keeps its word as text. A word that is none of them gives the value
// that fits nothing.
func word(words []filter.Word, text string) filter.Value {
	for i := range words {
		if words[i].Name == text {
			return filter.Bits(words[i].Bits)
		}
	}
	return filter.Value{}
}

// tags are several texts: a row fits when one of them does. get gives the row's own list by its address,
// since a filter may not copy it for each row that it looks at.
func tags[T any](name, help string, get func(*T) *[]string) *declaration[T] {
	said := func(r *T) string { return strings.Join(*get(r), " ") }
	return &declaration[T]{
		Field: filter.Field[T]{Name: name, Kind: filter.Name, Help: help,
			Value: func(r *T, _ time.Time) filter.Value { return filter.Texts(get(r)) }},
		Print: func(r *T, _ time.Time) string { return said(r) },
		JSON:  func(r *T) any { return said(r) },
		up:    func(a, b *T) int { return strings.Compare(said(a), said(b)) },
	}
}

// yesNo is a fact that is true of a row or not.
func yesNo[T any](name, help string, fact func(*T) bool) *declaration[T] {
	return &declaration[T]{
		Field: filter.YesNo(name, help, fact),
		Print: func(r *T, _ time.Time) string {
			if fact(r) {
				return "yes"
			}
			return ""
		},
		JSON: func(r *T) any { return fact(r) },
		up:   func(a, b *T) int { return bools(fact(a), fact(b)) },
	}
}

// anyOf is asked of several others: a row fits when one of them does. It stands first in a catalogue
// where lists show it, in place of those that it asks.
func anyOf[T any](name, help string, of ...string) *declaration[T] {
	return &declaration[T]{Field: filter.Field[T]{Name: name, Help: help, Of: of}}
}

// shown is a column that no filter asks for.
func shown[T any](name string) *declaration[T] {
	return &declaration[T]{Field: filter.Field[T]{Name: name}}
}

// as gives other words by which filters and commands ask for the column.
func (c *declaration[T]) as(aliases ...string) *declaration[T] { c.Aliases = aliases; return c }

// unknown says which rows have no value to ask for; they are less than the others. Call it after all that says
// how a value is written, which it wraps.
func (c *declaration[T]) unknown(is func(*T) bool) *declaration[T] {
	value, text, told, up := c.Value, c.Print, c.JSON, c.up
	c.Value = func(r *T, now time.Time) filter.Value {
		if is(r) {
			return filter.Value{}
		}
		return value(r, now)
	}
	c.Print = func(r *T, now time.Time) string {
		if is(r) {
			return "-"
		}
		return text(r, now)
	}
	c.JSON = func(r *T) any {
		if is(r) {
			return nil
		}
		return told(r)
	}
	c.up = func(a, b *T) int {
		if x, y := is(a), is(b); x || y {
			return bools(!x, !y)
		}
		return up(a, b)
	}
	return c
}

// bools orders what is not so before what is.
func bools(a, b bool) int {
	switch {
	case a == b:
		return 0
	case b:
		return -1
	}
	return 1
}

// sized makes bytes of a number.
func (c *declaration[T]) sized() *declaration[T] { c.Kind = filter.Size; return c }

// ranked lets a filter compare the words, which are in their order: level>=warn.
func (c *declaration[T]) ranked() *declaration[T] { c.Ranks = true; return c }

// inside lets a filter's plain value stand anywhere in the text.
func (c *declaration[T]) inside() *declaration[T] { c.Kind = filter.Prose; return c }

// bare is the unit of a duration that is asked for without one.
func (c *declaration[T]) bare(unit time.Duration) *declaration[T] { c.Bare = unit; return c }

// always is a text in an export even when it is empty. Scripts that read it need not tell null from a
// text.
func (c *declaration[T]) always() *declaration[T] {
	text := c.Print
	return c.value(func(r *T) any { return text(r, time.Time{}) })
}

// dimZero is a count in a colour, and dim when it is nothing. It must stand behind says: it colours
// what that writes.
func (c *declaration[T]) dimZero(t themes.Token) *declaration[T] {
	says := c.text
	return c.cell(func(p Pen, r *T) table.Cell {
		text := says(p, r)
		if text == "0" {
			return table.As(themes.Dim, text)
		}
		return table.As(t, text)
	})
}

// head puts the column on a screen.
func (c *declaration[T]) head(title string, k table.Kind, least, width int) *declaration[T] {
	c.Head.Title, c.Head.Kind, c.Head.Min, c.Head.Width = title, k, least, width
	return c
}

// What these say of a column's place on a screen is told at [table.Column]; rising sorts by it, the
// least first.
func (c *declaration[T]) flex(share int) *declaration[T]         { c.Head.Flex = share; return c }
func (c *declaration[T]) tail(cells int) *declaration[T]         { c.Head.Tail = cells; return c }
func (c *declaration[T]) drop(priority int) *declaration[T]      { c.Head.Priority = priority; return c }
func (c *declaration[T]) colour(t themes.Token) *declaration[T]  { c.token = t; return c }
func (c *declaration[T]) spare() *declaration[T]                 { c.Spare = true; return c }
func (c *declaration[T]) rising() *declaration[T]                { c.Order = c.up; return c }
func (c *declaration[T]) export(name string) *declaration[T]     { c.Export = name; return c }
func (c *declaration[T]) value(get func(*T) any) *declaration[T] { c.JSON = get; return c }

// greatestFirst sorts by it so; of instants, the newest first. It must stand behind what changes the
// order, such as unknown.
func (c *declaration[T]) greatestFirst() *declaration[T] {
	c.Order = (*Column[T])(c).Falling()
	return c
}

// unasked takes the column out of filters, and out of what a command prints unless it
// says how: another column tells the same there.
func (c *declaration[T]) unasked() *declaration[T] { c.Value, c.Print = nil, nil; return c }

// sort gives a list an order of its own, and commands with it.
func (c *declaration[T]) sort(order func(a, b *T) int) *declaration[T] {
	c.Order, c.up, c.falling = order, order, nil
	return c
}

// ordered is sort by a text.
func (c *declaration[T]) ordered(text func(row *T) string) *declaration[T] {
	return c.sort(func(a, b *T) int { return strings.Compare(text(a), text(b)) })
}

// reads is a text that a screen writes and lists are ordered by.
func (c *declaration[T]) reads(text func(row *T) string) *declaration[T] {
	return c.says(text).ordered(text)
}

// says is what a screen writes, penned what it writes by the moment, and cell what it draws with its
// colour.
func (c *declaration[T]) says(text func(row *T) string) *declaration[T] {
	return c.penned(func(_ Pen, row *T) string { return text(row) })
}
func (c *declaration[T]) penned(text func(p Pen, row *T) string) *declaration[T] {
	c.text = text
	return c
}
func (c *declaration[T]) cell(draw func(p Pen, row *T) table.Cell) *declaration[T] {
	c.draw = draw
	return c
}

// prints is what a command writes, printsAt what it writes by the instant of now.
func (c *declaration[T]) prints(text func(row *T) string) *declaration[T] {
	return c.printsAt(func(row *T, _ time.Time) string { return text(row) })
}
func (c *declaration[T]) printsAt(text func(row *T, now time.Time) string) *declaration[T] {
	c.Print = text
	return c
}

// line is the column's place in what a command prints, where it differs from the head.
func (c *declaration[T]) line(title string, k table.Kind, flex int) *declaration[T] {
	c.Line = table.Column{Title: title, Kind: k, Flex: flex}
	return c
}

// ZeroLast orders instants; those that are not known come last.
func ZeroLast(a, b time.Time) int {
	switch {
	case a.IsZero() == b.IsZero():
		return a.Compare(b)
	case a.IsZero():
		return 1
	}
	return -1
}

// instant is null for the zero time, else 2026-11-20T03:31:02.118Z, always of UTC and with three digits behind
// the second: DuckDB takes a column of times with more and with fewer for text. It is a text already, since
// encoding/json refuses the years that a spoilt payload may name.
func instant(t time.Time) *string {
	if t.IsZero() {
		return nil
	}
	return orNull(t.UTC().Format("2006-01-02T15:04:05.000Z"))
}

// orNull is a text for an export, where the empty one is null.
func orNull(s string) *string {
	if s == "" {
		return nil
	}
	return &s
}
