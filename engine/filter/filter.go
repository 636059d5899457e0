package filter

import (
	"slices"
	"strings"
	"time"
)

// Filter is a compiled query. The zero Filter, like that of an empty query, fits
// every row. A Filter never changes and may be shared.
type Filter[T any] struct {
	sides [][]term[T] // of or: all terms of one of them must fit
}

// term is one compiled term. A word without a field has a probe for each field that can hold it.
type term[T any] struct {
	not    bool
	any    bool // it excludes nothing, or if not, everything
	probes []probe[T]
	text   string // canonical
}

// probe is a question about one field; a term fits when one of its probes does.
type probe[T any] struct {
	field *Field[T]
	test  test
}

// fits reports whether one of the term's questions is answered with yes; a minus before it is Match's
// business.
func (t *term[T]) fits(row *T, now time.Time) bool {
	if t.any {
		return true
	}
	for i := range t.probes {
		p := &t.probes[i]
		if p.test.fits(p.field.Value(row, now), now) {
			return true
		}
	}
	return false
}

// Match reports whether the row fits at now. Clocks and dates are those of now's
// zone. Give it the address of an element of a slice, not of a loop variable:
// the latter would be put on the heap for each row.
func (f Filter[T]) Match(row *T, now time.Time) bool {
	for _, terms := range f.sides {
		if fitAll(terms, row, now) {
			return true
		}
	}
	return len(f.sides) == 0
}

func fitAll[T any](terms []term[T], row *T, now time.Time) bool {
	for i := range terms {
		t := &terms[i]
		if t.fits(row, now) == t.not {
			return false
		}
	}
	return true
}

// Empty reports whether no term of the filter can exclude a row: there is none,
// or only such as * and region:*. A command that destroys must take that for
// "all" (row P-32). A filter that is not empty may still fit every row there is:
// compare the counts.
func (f Filter[T]) Empty() bool {
	return len(f.sides) == 0 || slices.ContainsFunc(f.sides, func(terms []term[T]) bool {
		return !slices.ContainsFunc(terms, func(t term[T]) bool { return t.not || !t.any })
	})
}

// Moves reports whether a row may fit at one time and not at another: a term asks for an age, or for an
// instant, of which 2h and today say something else as time goes on.
func (f Filter[T]) Moves() bool {
	for _, t := range slices.Concat(f.sides...) {
		if !t.any && slices.ContainsFunc(t.probes, func(p probe[T]) bool {
			return p.field.Kind == Duration || p.field.Kind == Past || p.field.Kind == Ahead
		}) {
			return true
		}
	}
	return false
}

// Asks gives the first of some fields that a term of the filter is of alone; "" = none is. A word
// without a field is of several, and asks for none alone.
func (f Filter[T]) Asks(names ...string) string {
	for _, t := range slices.Concat(f.sides...) {
		if len(t.probes) == 1 && slices.Contains(names, t.probes[0].field.Name) {
			return t.probes[0].field.Name
		}
	}
	return ""
}

// String is the query in its canonical form, which parses to the same filter:
// full names of fields and words, quotes only where they are needed.
func (f Filter[T]) String() string {
	var sides []string
	for _, terms := range f.sides {
		var texts []string
		for _, t := range terms {
			texts = append(texts, t.text)
		}
		sides = append(sides, strings.Join(texts, " "))
	}
	return strings.Join(sides, " or ")
}
