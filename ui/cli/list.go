package cli

import (
	"bytes"
	"cmp"
	"context"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/farsight-console/farsight/engine"
	"github.com/farsight-console/farsight/engine/columns"
	"github.com/farsight-console/farsight/engine/filter"
	"github.com/farsight-console/farsight/engine/human"
	"github.com/farsight-console/farsight/engine/safe"
)

// View is what somebody wants to see of a list. The zero value is all rows in the usual columns and order.
type View struct {
	Columns   []string // their names in the order wanted; nil = the usual ones
	Sort      string   // a column's name; with a - in front the greatest stand first
	Limit     int      // at most so many rows; 0 = all
	NoHeaders bool     // rows alone: no names of columns, no sentence below
	Brief     bool     // there is --limit, and it was not given: few enough rows to listen to

	seen *seen // of a list that is watched through a pipe
}

// plain reports whether nothing is asked for: then JSON is what the console answered, as it is.
func (v View) plain() bool { return v.Columns == nil && v.Sort == "" && v.Limit == 0 }

// List is what one command lists.
type List struct {
	Columns []columns.About // that --columns and --sort take; none = it is no list of rows
	show    func(ctx context.Context, c engine.Console, o Out) error
	check   func(View) error // nil = it takes no view
}

// Check finds what is wrong with a view before anything is asked: engine.ErrInvalid. A mistyped column
// is then told at once, and not after an engine was waited for.
func (l List) Check(o Out) error {
	if l.check != nil {
		return l.check(o.View)
	}
	if !o.View.plain() || o.CSV {
		const instead = "leave out --columns, --sort, --limit and -o csv"
		return engine.Problemf(engine.ErrInvalid, instead, "this is no list of rows")
	}
	return nil
}

// Show prints what the console has. Errors: those of Check, of the console and of writing.
func (l List) Show(ctx context.Context, c engine.Console, o Out) error {
	if err := l.Check(o); err != nil {
		return err
	}
	return l.show(ctx, c, o)
}

// answered is what is one answer: whole as JSON, else as print writes it.
func answered[T any](q engine.Query, print func(o Out, answer T) error) List {
	return List{show: func(ctx context.Context, c engine.Console, o Out) error {
		answer, err := engine.Ask[T](ctx, c, q)
		switch {
		case err != nil:
			return err
		case o.JSON:
			return o.json(answer)
		}
		return print(o, answer)
	}}
}

// otherwise is the list with something else to do where it cannot be shown. Another error, or the
// same, is the list's own then.
func (l List) otherwise(failed func(o Out, err error) error) List {
	show := l.show
	l.show = func(ctx context.Context, c engine.Console, o Out) error {
		err := show(ctx, c, o)
		if err != nil {
			err = failed(o, err)
		}
		return err
	}
	return l
}

// listing is a list of rows of one catalogue.
type listing[T any] struct {
	of     *columns.Catalogue[T]
	shown  columns.List[T]
	filter string            // what was typed
	names  func(*T) []string // the filter is a part of one of these; nil = it is in the console's language
	asked  bool              // the engine was asked with the filter: whatever it answers fits
	none   string            // there is no row at all; "" = an empty table says so
	unfit  string            // none fits; "" = the usual words
	more   string            // what else could be asked for
	order  func(a, b T) int
	read   reader[T]
	first  func(n int) reader[T] // of the first n in the list's own order; nil = all have to be read
}

// reader asks a console for the rows of a list. What it learns on the way, such as a sum for the
// foot, belongs to this one reading: a list that is watched is read again and again.
type reader[T any] func(ctx context.Context, c engine.Console) (source[T], error)

// source is where the rows of a list come from, once: it is read from its first page to its last.
type source[T any] struct {
	page   func(after string) (rows []T, next string, err error)
	foot   func() string // said below a table, once its rows are read; nil or "" = nothing
	looked func() string // how far a long look has come; nil = it is not long
}

// all is a source that has its rows already, as one page.
func all[T any](rows []T) source[T] {
	return source[T]{page: func(string) ([]T, string, error) { return rows, "", nil }}
}

// once reads rows that are a part of one answer. foot is what stands below them; nil = nothing.
func once[A, T any](q engine.Query, rows func(A) []T, foot func(A) string) reader[T] {
	return func(ctx context.Context, c engine.Console) (source[T], error) {
		a, err := engine.Ask[A](ctx, c, q)
		src := all(rows(a))
		if foot != nil {
			src.foot = func() string { return foot(a) }
		}
		return src, err
	}
}

// pages reads one page after the other. query makes the question about one; rows takes a page
// apart, next is "" on the last one.
func pages[P, T any](query func(engine.Page) engine.Query, rows func(P) (rows []T, next string)) reader[T] {
	return func(ctx context.Context, c engine.Console) (source[T], error) {
		return source[T]{page: func(after string) ([]T, string, error) {
			p, err := engine.Ask[P](ctx, c, query(engine.Page{After: after, Limit: pageSize}))
			list, next := rows(p)
			return list, next, err
		}}, nil
	}
}

// list hides what kind of rows it is: commands hold lists of any kind.
func (l listing[T]) list() List {
	check := func(v View) error {
		_, err := l.printer(Out{View: v})
		return err
	}
	return List{Columns: l.of.Printable(), show: l.show, check: check}
}

// printer is how the rows of a list are printed.
type printer[T any] struct {
	o     Out
	shown columns.List[T]
	order func(a, b *T) int // what was asked for; nil = as they come
	whole bool              // as JSON a row is all that is known of it, not its columns
	now   time.Time
	rows  int // printed so far
	begun bool
}

// printer reads what was asked for: --columns, --sort and --limit. engine.ErrInvalid names the option.
func (l listing[T]) printer(o Out) (p printer[T], err error) {
	p = printer[T]{o: o, shown: l.shown, whole: o.View.Columns == nil, now: time.Now()}
	if o.View.Limit < 0 {
		return p, engine.Problemf(engine.ErrInvalid, "use 1 or more, or 0 for all", "--limit %d makes no sense", o.View.Limit)
	}
	if o.View.Columns != nil {
		if len(o.View.Columns) == 0 {
			return p, engine.Problemf(engine.ErrInvalid, "name one or more, or leave it out", "--columns names no column")
		}
		p.shown = nil
		for _, name := range o.View.Columns {
			c, err := l.of.Named(name)
			if err != nil {
				return p, fmt.Errorf("--columns: %w", err)
			}
			p.shown = append(p.shown, c)
		}
		// Columns that were asked for by name are shown at any width.
	} else if o.Width < spareFrom {
		p.shown = slices.DeleteFunc(slices.Clone(l.shown), func(c columns.Column[T]) bool { return c.Spare })
	}
	if o.View.Sort == "" {
		return p, nil
	}
	name, falls := strings.CutPrefix(o.View.Sort, "-")
	by, err := l.of.Named(name)
	if err != nil {
		return p, fmt.Errorf("--sort: %w", err)
	}
	// Instants that are not known come last either way, so that one order is not the other turned.
	if p.order = by.Rising(); falls {
		p.order = by.Falling()
	}
	if p.order == nil {
		return p, engine.Problemf(engine.ErrInvalid, "", "--sort: nothing orders rows by %s", name)
	}
	return p, nil
}

// spareFrom is from which width of a terminal on a table has its spare columns too. Where there is
// no terminal it has none: a script may count columns.
const spareFrom = 160

// show reads the list and prints it. What is wrong with the view and the filter is found first.
func (l listing[T]) show(ctx context.Context, c engine.Console, o Out) error {
	p, err := l.printer(o)
	if err != nil {
		return err
	}
	fits, err := l.fits(p.now)
	if err != nil {
		return err
	}
	read, limit := l.read, o.View.Limit
	if l.first != nil && l.filter == "" && p.order == nil && limit > 0 && limit <= pageSize {
		read = l.first(limit)
	}
	src, err := read(ctx, c)
	if err != nil {
		return err
	}
	if o.Wait != nil && src.looked != nil {
		page := src.page
		src.page = func(after string) ([]T, string, error) {
			rows, next, err := page(after)
			if o.Wait(""); next != "" {
				o.Wait(src.looked())
			}
			return rows, next, err
		}
	}
	// A program gets rows as they are stored, each as it comes: the order of a list is for people. Only
	// where a limit asks for the first ones, or a column's order is wanted, all are read before.
	if o.streams() && p.order == nil && (l.order == nil || limit == 0) {
		return src.each(fits, p.print)
	}
	var rows []T
	if err := src.each(fits, func(page []T) (bool, error) {
		rows = append(rows, page...)
		if limit == 0 || len(rows) < 2*limit+pageSize { // no more rows are kept than a limit takes
			return p.order == nil && l.order == nil && limit > 0 && len(rows) >= limit, nil
		}
		l.sort(rows, p.order)
		clear(rows[limit:])
		rows = rows[:limit]
		return false, nil
	}); err != nil {
		return err
	}
	l.sort(rows, p.order)
	return l.end(p, rows, src.foot)
}

// fits is the filter as a function. Ages are counted from now, so that all rows are looked at as of one
// instant. The error says where a filter is wrong.
func (l listing[T]) fits(now time.Time) (func(*T) bool, error) {
	switch {
	case l.filter == "" || l.asked:
		return func(*T) bool { return true }, nil
	case l.names != nil:
		return func(row *T) bool { return part(l.filter, l.names(row)...) }, nil
	}
	fit, err := filter.Parse(l.filter, l.of.Schema)
	if err != nil {
		return nil, fmt.Errorf("filter: %w", err)
	}
	return func(row *T) bool { return fit.Match(row, now) }, nil
}

// sort puts rows into the order that was asked for; those that it finds equal stay in the list's own. What is
// sorted are their places: as a generic function the sort of each kind of rows would be code of its own in the binary.
func (l listing[T]) sort(rows []T, by func(a, b *T) int) {
	if l.order == nil && by == nil {
		return
	}
	at, was := make([]int, len(rows)), slices.Clone(rows)
	for i := range at {
		at[i] = i
	}
	slices.SortStableFunc(at, func(a, b int) (order int) {
		if by != nil {
			order = by(&was[a], &was[b])
		}
		if order == 0 && l.order != nil {
			order = l.order(was[a], was[b])
		}
		return order
	})
	for i, from := range at {
		rows[i] = was[from]
	}
}

// end prints the rows of a list that was read to its end, or a sentence where there is none, and what
// stands below. A program is told nothing but rows.
func (l listing[T]) end(p printer[T], rows []T, foot func() string) error {
	said := ""
	switch {
	case p.o.streams() || len(rows) > 0:
	case l.filter == "" && l.none != "":
		said = sentence(l.none, l.more)
	case l.filter != "":
		said = sentence(cmp.Or(l.unfit, "nothing fits "+safe.Cut(l.filter, mostEcho)), l.more)
	}
	if said != "" {
		if err := p.o.printSentence(said); err != nil {
			return err
		}
	} else if _, err := p.print(rows); err != nil || p.o.streams() || p.o.View.NoHeaders {
		return err
	}
	if foot == nil {
		return nil
	}
	if text := foot(); text != "" {
		return p.o.printSentence(text)
	}
	return nil
}

// sentence says what there is none of and, if there is more to say, where else to look.
func sentence(what, more string) string { return human.Either(more == "", what, what+": "+more) }

// each gives the rows that fit to use, page by page, until it has enough of them.
func (s source[T]) each(fits func(*T) bool, use func([]T) (enough bool, err error)) error {
	for after := ""; ; {
		page, next, err := s.page(after)
		if err != nil {
			return err
		}
		// A page of which nothing fits is no end: there may be more behind it.
		page = slices.DeleteFunc(page, func(row T) bool { return !fits(&row) })
		if enough, err := use(page); err != nil || enough || next == "" {
			return err
		}
		after = next
	}
}

// everything reads all rows of a source into memory: of accounts there are hundreds.
func everything[T any](s source[T]) (rows []T, err error) {
	err = s.each(func(*T) bool { return true }, func(page []T) (enough bool, err error) {
		rows = append(rows, page...)
		return false, nil
	})
	return rows, err
}

// streams reports whether each row is printed by itself, as it comes: a list of any
// length takes no memory.
func (o Out) streams() bool { return o.JSON || o.CSV }

// print writes rows, up to the limit: enough says that it is reached. It is called for each page of a
// list that is printed as it comes, and for all rows at once of one that is not.
func (p *printer[T]) print(rows []T) (enough bool, err error) {
	if limit := p.o.View.Limit; limit > 0 {
		rows = rows[:min(len(rows), limit-p.rows)]
		enough = p.rows+len(rows) >= limit
	}
	if !p.o.streams() {
		p.rows += len(rows)
		return enough, p.table(rows)
	}
	var b bytes.Buffer
	if p.o.CSV && !p.begun && !p.o.View.NoHeaders {
		names := make([]string, len(p.shown))
		for i := range p.shown {
			names[i] = p.shown[i].Name
		}
		b.Write(csvLine(names))
	}
	p.begun = true
	for i := range rows {
		p.rows++
		line, err := p.line(&rows[i])
		if err != nil {
			return enough, err
		}
		if p.o.View.seen.news(string(line)) {
			b.Write(line)
		}
	}
	_, err = p.o.W.Write(b.Bytes())
	return enough, err
}

// line is a row for a program. As JSON and with no columns asked for it is all that is known of the
// row, under the names of the HTTP interface.
func (p *printer[T]) line(row *T) ([]byte, error) {
	if p.whole && !p.o.CSV {
		return encoded(row)
	}
	all := make(record, len(p.shown))
	for i := range p.shown {
		all[i] = member{p.shown[i].Name, p.shown[i].Told(row, p.now)}
	}
	if p.o.CSV {
		return all.csv(), nil
	}
	return all.ndjson(), nil
}

// table prints rows under the names of their columns, but those that a watch has shown already.
func (p *printer[T]) table(rows []T) error {
	cols, cells := make([]column, len(p.shown)), make([][]string, 0, len(rows))
	for i := range p.shown {
		cols[i] = p.shown[i].Printed()
	}
	for i := range rows {
		line := make([]string, len(p.shown))
		for at := range p.shown {
			line[at] = p.shown[at].Print(&rows[i], p.now)
		}
		if p.o.View.seen.news(strings.Join(line, "\x00")) {
			cells = append(cells, line)
		}
	}
	return p.o.table(cols, cells)
}

// rows prints a table of rows in columns of their catalogue, within a document.
func rows[T any](o Out, shown columns.List[T], rows []T) error {
	p := printer[T]{o: o, shown: shown, now: time.Now()}
	return p.table(rows)
}
