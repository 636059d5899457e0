package filter

import (
	"slices"
	"strings"
	"unicode"
	"unicode/utf8"
)

// Suggestion is text to put in the place of query[From:To]. Of "state:ret" with the cursor at its end one
// puts "retryable" in the place of "ret".
type Suggestion struct {
	Text     string
	From, To int    // bytes
	Help     string // what it means, one phrase; may be empty
}

// Complete lists what may stand at byte at of the query: names of fields at the
// start of a term, then words of the field. It reads what stands before at
// only, so a query that is wrong elsewhere completes as well.
func (s *Schema[T]) Complete(query string, at int) []Suggestion {
	at = min(max(at, 0), len(query))
	for at > 0 && at < len(query) && !utf8.RuneStart(query[at]) {
		at--
	}
	// Only what stands before the cursor is read, as it is typed from left to right.
	start, open := termStart(query[:at])
	if open {
		return nil
	}
	if query[start:at] != "" && query[start] == '-' {
		start++
	}
	end := nameEnd(query, start)
	if o, _, width := readSign(query[end:]); end > start && width > 0 && end+width <= at {
		return s.completeValue(query, query[start:end], o, end+width, at)
	}
	return s.completeName(query, start, at)
}

// termStart is where the last term of the text begins; open reports that it
// ends inside of quotes or of an expression, where there is nothing to offer.
func termStart(text string) (start int, open bool) {
	l := lexer{s: text}
	for l.space(); l.i < len(text); l.space() {
		start = l.i
		if _, err := l.node(); err != nil && l.i == len(text) {
			last := text[start:]
			return start, strings.ContainsAny(last, `"/`)
		} else if err != nil {
			l.skip()
		}
		if l.i == len(text) {
			return start, false
		}
	}
	return len(text), false
}

// skip leaves a term that cannot be read: what stands behind it is completed all the same.
func (l *lexer) skip() {
	for !l.stop() {
		l.i += width(l.s[l.i:])
	}
}

// completeName offers the fields whose name or alias begins with what is typed, and puts the name in
// the place of all of the typed one, what stands behind the cursor included. Where no operator follows
// it brings the colon.
func (s *Schema[T]) completeName(query string, start, at int) []Suggestion {
	typed := strings.ToLower(query[start:at])
	to := max(nameEnd(query, start), at)
	sign := ":"
	if _, _, width := readSign(query[to:]); width > 0 {
		sign = ""
	}
	var list []Suggestion
	for _, f := range s.fields {
		names := append([]string{f.Name}, f.Aliases...)
		if slices.ContainsFunc(names, func(n string) bool { return strings.HasPrefix(n, typed) }) {
			list = append(list, Suggestion{f.Name + sign, start, to, f.Help})
		}
	}
	return list
}

// offers are examples of values by kind.
var offers = map[Kind][]Word{
	Duration: {{Name: "1s"}, {Name: "60s"}, {Name: "5m"}, {Name: "1h"}, {Name: "1d"}},
	Past: {
		{Name: "5m", Help: "ago"}, {Name: "1h", Help: "ago"}, {Name: "1d", Help: "ago"},
		{Name: "today"}, {Name: "yesterday"}, {Name: "12:30", Help: "today"}, {Name: "none", Help: "never"},
	},
	Ahead: {
		{Name: "60s", Help: "from now"}, {Name: "5m", Help: "from now"}, {Name: "1h", Help: "from now"},
		{Name: "12:30", Help: "today"}, {Name: "none"},
	},
	Size: {{Name: "40KB"}, {Name: "1MB"}},
}

// completeValue offers the words of a field, or examples of its kind. Of several values only the last
// is completed, and what is among those before it is not offered again.
func (s *Schema[T]) completeValue(query, name string, o op, from, at int) []Suggestion {
	f, ok := s.field(name)
	if !ok {
		return nil
	}
	values := query[from:at]
	// Only ":" takes several values.
	if o == is {
		from += strings.LastIndexByte(values, ',') + 1
	}
	taken := strings.Split(strings.ToLower(values), ",")
	typed := squash(query[from:at])
	to := at + strings.IndexFunc(query[at:]+" ", func(r rune) bool { return unicode.IsSpace(r) || r == ',' })
	words := f.Words
	if words == nil {
		words = offers[f.Kind] // examples
	}
	var list []Suggestion
	for _, w := range words {
		if strings.HasPrefix(squash(w.Name), typed) && !slices.Contains(taken[:len(taken)-1], w.Name) {
			list = append(list, Suggestion{quote(w.Name, is), from, to, w.Help})
		}
	}
	return list
}
