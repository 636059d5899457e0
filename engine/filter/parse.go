package filter

import (
	"strings"
	"unicode/utf8"
)

// Bounds of a query. A console parses it again at each key, and each term is asked of each row.
const (
	maxQuery = 2000 // bytes
	maxTerms = 64
)

// Parse compiles a query. Errors are *Error, which says where and what to do.
func Parse[T any](query string, s *Schema[T]) (Filter[T], error) {
	sides, err := parse(query, s)
	if err != nil {
		return Filter[T]{}, err.in(query)
	}
	return Filter[T]{sides}, nil
}

// parse is Parse without the cells of an error.
func parse[T any](query string, s *Schema[T]) (sides [][]term[T], _ *Error) {
	if err := sound(query); err != nil {
		return nil, err
	}
	var terms []term[T]
	count := 0
	l := lexer{s: query, keys: s.opts.Keys}
	for l.space(); l.i < len(query); l.space() {
		n, err := l.node()
		if err != nil {
			return nil, err
		}
		if or := isOr(query[n.at:n.end]); or && (len(terms) == 0 || strings.TrimSpace(query[n.end:]) == "") {
			return nil, wrong(n.at, n.end, `write a term before and behind it, or "or" to look for the word`, "or joins two sides")
		} else if or {
			sides, terms = append(sides, terms), nil
			continue
		}
		if count++; count > maxTerms {
			return nil, wrong(n.at, len(query), "leave some out", "a filter may have %d terms", maxTerms)
		}
		t, err := resolve(n, s)
		if err != nil {
			return nil, err
		}
		terms = append(terms, t)
	}
	if len(terms) > 0 {
		sides = append(sides, terms)
	}
	return sides, nil
}

// isOr reports whether a word is the one that joins two sides.
func isOr(word string) bool { return strings.EqualFold(word, "or") }

// sound refuses what is no text, or more than anybody types. All that comes behind it may rely on UTF-8.
func sound(query string) *Error {
	if len(query) > maxQuery {
		return wrong(maxQuery, len(query), "shorten it", "a filter may have %d bytes, this one has %d", maxQuery,
			len(query))
	}
	for i, r := range query {
		if r == utf8.RuneError && width(query[i:]) == 1 {
			return wrong(i, i+1, "type the character again", "this is not UTF-8 text")
		}
	}
	return nil
}

// resolve finds what a term asks of which fields.
func resolve[T any](n node, s *Schema[T]) (term[T], *Error) {
	if n.op == free {
		return freeTerm(n, s)
	}
	if len(n.items) > 1 && n.op != is {
		return term[T]{}, wrong(n.items[1].at, n.end, "write one value, or field:a,b for one of several",
			"a comparison takes one value")
	}
	f, err := fieldOf(&n, s)
	if err != nil {
		return term[T]{}, err
	}
	return fieldTerm(n, s.targets(f))
}

// fieldOf finds the field of a term and puts its own name into the node.
func fieldOf[T any](n *node, s *Schema[T]) (*Field[T], *Error) {
	if n.name == "" {
		n.name = bareField(n.items[0], s.opts)
	}
	if n.name == "" {
		do := "write field" + opSigns[n.op] + "value; a duration such as 60s or a time such as 12:30 may stand alone"
		return nil, wrong(n.at, n.end, do, "which field shall be compared?")
	}
	f, ok := s.field(n.name)
	if !ok {
		return nil, unknownField(*n, s)
	}
	n.name = f.Name
	return f, nil
}

// bareField is the field of a comparison that names none: <60s is one of ages, >12:30 one of instants. A
// duration goes first, since no instant is written like one.
func bareField(it item, o Options) string {
	if _, ok := readQuantity(it.raw(), spans, 0); ok {
		return o.Age
	}
	if _, ok := readWhen(it.raw()); ok {
		return o.When
	}
	return ""
}

// unknownField says which field may have been meant. A word with a colon in it may be text, too, which
// quotes tell.
func unknownField[T any](n node, s *Schema[T]) *Error {
	var names []string
	for _, f := range s.fields {
		names = append(names, f.Name)
		names = append(names, f.Aliases...)
	}
	do := `quote the term to look for it as text`
	if near := Nearest(n.name, names); near != "" {
		do = "write " + near + opSigns[n.op] + "…, or " + do
	}
	return wrong(n.nameAt, n.nameAt+len(n.name), do, "there is no field %q", n.name)
}

// fieldTerm compiles a term of one field, or of several of which one must fit. An error for one
// of several fields is the term's.
func fieldTerm[T any](n node, fields []*Field[T]) (term[T], *Error) {
	t := term[T]{not: n.not}
	var texts []string
	for _, it := range n.items {
		var a answer
		for _, f := range fields {
			var err *Error
			if a, err = askers[f.Kind](n, it, f.facts()); err != nil {
				return t, err
			}
			t.add(f, a.test)
		}
		texts = append(texts, a.text)
	}
	t.text = n.write(texts)
	return t, nil
}

// add takes a question into the term. Words of one Enum become one question.
func (t *term[T]) add(f *Field[T], q test) {
	last := len(t.probes) - 1
	switch {
	case q.any:
		t.any = true
	case q.bits != 0 && last >= 0 && t.probes[last].field == f && t.probes[last].test.bits != 0:
		t.probes[last].test.bits |= q.bits // state:retryable,running is one test of two bits
	default:
		t.probes = append(t.probes, probe[T]{f, q})
	}
}

// freeTerm compiles a word that may stand in any of the free fields. A field that cannot hold the word
// has no part in it: 503 is looked for in texts and numbers, not in instants.
func freeTerm[T any](n node, s *Schema[T]) (term[T], *Error) {
	it := n.items[0]
	t := term[T]{not: n.not}
	if it.style == pattern && len(it.text) == 0 {
		return t, wrong(it.at, it.end, `write something between the quotes, or field:"" for a field without a value`,
			"there is nothing between these quotes")
	}
	// Letters in order fit nearly every long text: they are looked for in few fields.
	names := s.opts.Free
	if it.style == letters {
		names = s.opts.Fuzzy
	}
	for _, f := range s.list(names) {
		q, can, err := search(it, f.facts())
		if err != nil {
			return t, err
		}
		if can {
			t.add(f, q)
		}
	}
	t.text = n.write([]string{it.write(free)})
	return t, nil
}

// Nearest is the name that differs from s in at most a third of its letters, or
// begins with it; "" if none is. queu and quue are queue, x is nothing.
func Nearest(s string, names []string) string {
	if len(s) > 40 {
		return "" // no name is as long
	}
	s = strings.ToLower(s)
	best, least := "", len(s)/3+1
	for _, name := range names {
		d := Distance(s, name)
		if strings.HasPrefix(name, s) {
			d = 0
		}
		if d < least {
			best, least = name, d
		}
	}
	return best
}

// Distance counts the letters to change, add or drop between two names (Levenshtein). One row of the
// usual table is kept at a time. It counts runes and sees case.
func Distance(a, b string) int {
	x, y := []rune(a), []rune(b)
	row := make([]int, len(y)+1)
	for j := range row {
		row[j] = j
	}
	for i := range x {
		diagonal := row[0]
		row[0] = i + 1
		for j := range y {
			change := diagonal
			if x[i] != y[j] {
				change++
			}
			diagonal = row[j+1]
			row[j+1] = min(change, diagonal+1, row[j]+1)
		}
	}
	return row[len(y)]
}
