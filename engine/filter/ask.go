package filter

import (
	"slices"
	"strings"
	"time"
)

// facts are what a value must know of its field, whatever the rows are.
type facts struct {
	name  string
	kind  Kind
	words []Word
	bare  time.Duration
	ranks bool
}

func (f *Field[T]) facts() facts { return facts{f.Name, f.Kind, f.Words, f.Bare, f.Ranks} }

// answer is a compiled value with its canonical text.
type answer struct {
	test test
	text string
}

// askers read the value of a field by its kind.
var askers = map[Kind]func(node, item, facts) (answer, *Error){
	Name: askText, Prose: askText, Enum: askEnum,
	Number: askNumber, Size: askSize, Duration: askDuration, Past: askTime, Ahead: askTime,
}

// askText asks for a text: err:timeout, key:match:*. In prose an empty pattern still is the whole
// value: err:"" is no error.
func askText(n node, it item, f facts) (answer, *Error) {
	if n.op != is {
		return answer{}, wrong(n.at, n.end, "write "+f.name+":value", "%s is text and has no more and less", f.name)
	}
	part := f.kind == Prose && (it.style != pattern || len(it.text) > 0)
	q, err := find(it, part)
	return answer{q, it.write(is)}, err
}

// find compiles a search in text.
func find(it item, anywhere bool) (test, *Error) {
	switch it.style {
	case expression:
		return newRegex(it.expr, it.at, it.end)
	case letters:
		var folded []rune
		for _, r := range it.raw() {
			folded = append(folded, fold(r))
		}
		return inOrder(folded), nil
	}
	g := newGlob(it.text, anywhere)
	return test{any: g.all(), in: g.fits}, nil
}

// search compiles a word for a field that it did not name; can is false if the field
// cannot hold it. Instants, sizes and durations are never meant by a lone word.
func search(it item, f facts) (q test, can bool, err *Error) {
	if q, err = find(it, true); err != nil {
		return q, false, err
	}
	switch f.kind {
	case Name, Prose:
		return q, true, nil
	case Enum:
		bits, _ := wordsThat(q, f.words)
		// An alias may stand for several words at once, such as live, which wordsThat leaves out.
		if fits := matching(f.words, func(name string) bool { return name == squash(it.raw()) }); len(fits) == 1 {
			bits |= fits[0].Bits // typed in full, another word for it will do
		}
		return test{bits: bits}, bits != 0, nil
	case Number:
		num, ok := readQuantity(it.raw(), nil, 1)
		return compared(is, num), ok, nil
	}
	return q, false, nil
}

// askEnum asks for words: state:ret for one by its start, state:re* for all that fit, level>=warn where
// they have an order.
func askEnum(n node, it item, f facts) (answer, *Error) {
	switch {
	case n.op != is && f.ranks:
		return askRank(n, it, f)
	case n.op != is:
		return answer{}, wrong(n.at, n.end, "write "+f.name+":word", "%s has words and no more and less", f.name)
	// A plain word may be cut short; one with a star says itself which it means.
	case it.style == pattern && !slices.Contains(it.text, many) && !slices.Contains(it.text, one):
		return askWord(it, f)
	}
	q, err := find(it, false)
	if err != nil {
		return answer{}, err
	}
	if q.any {
		return answer{q, it.write(is)}, nil
	}
	bits, names := wordsThat(q, f.words)
	if bits == 0 {
		return answer{}, unknownWord(it, f)
	}
	return answer{test{bits: bits}, writeWords(names)}, nil
}

// askRank asks for the words before or after one, in their order.
func askRank(n node, it item, f facts) (answer, *Error) {
	a, err := askWord(it, f)
	if err != nil {
		return answer{}, err
	}
	at := slices.IndexFunc(f.words, func(w Word) bool { return w.Bits == a.test.bits })
	var bits uint64
	for i, w := range f.words {
		if (quantity{n: int64(at)}).holds(n.op, int64(i)) {
			bits |= w.Bits
		}
	}
	// level>error fits nothing: no bit would be another question.
	a.test = test{ask: func(v Value, _ time.Time) bool { return v.Has(bits) }}
	return a, nil
}

// wordsThat are the single words that fit; those for several others do not
// count, or a* would bring more than the words with an a.
func wordsThat(q test, words []Word) (bits uint64, names []string) {
	for _, w := range words {
		if w.Bits&(w.Bits-1) == 0 && q.fits(Text(w.Name), time.Time{}) {
			bits |= w.Bits
			names = append(names, w.Name)
		}
	}
	return bits, names
}

// writeWords is the canonical text of words: retryable,running.
func writeWords(names []string) string {
	quoted := make([]string, len(names))
	for i, name := range names {
		quoted[i] = quote(name, is)
	}
	return strings.Join(quoted, ",")
}

// askWord finds a word by its name, an alias, or the start of only one name: ret is retryable, and c could be
// completed or cancelled. What is a whole name or alias is never taken for the start of another.
func askWord(it item, f facts) (answer, *Error) {
	typed := squash(it.raw())
	fits := matching(f.words, func(name string) bool { return name == typed })
	if len(fits) == 0 && typed != "" {
		fits = matching(f.words, func(name string) bool { return strings.HasPrefix(name, typed) })
	}
	switch {
	case len(fits) == 0:
		return answer{}, unknownWord(it, f)
	case len(fits) > 1:
		return answer{}, wrong(it.at, it.end, "type more of it, or "+f.name+":"+it.raw()+"* for all of them",
			"%q could be %s", it.raw(), orList(fits))
	}
	return answer{test{bits: fits[0].Bits}, quote(fits[0].Name, is)}, nil
}

// matching lists the words whose name fits, or else those with an alias that
// does: our own words come before those of others.
func matching(words []Word, fits func(string) bool) (list []Word) {
	for _, w := range words {
		if fits(squash(w.Name)) {
			list = append(list, w)
		}
	}
	if list != nil {
		return list
	}
	for _, w := range words {
		if slices.ContainsFunc(w.Aliases, func(a string) bool { return fits(squash(a)) }) {
			list = append(list, w)
		}
	}
	return list
}

var squasher = strings.NewReplacer(" ", "", "_", "", "-", "")

// squash lets GAVE UP, gave_up and gave-up be one word.
func squash(s string) string { return squasher.Replace(strings.ToLower(s)) }

// unknownWord names all words that there are: they are few.
func unknownWord(it item, f facts) *Error {
	return wrong(it.at, it.end, "use "+orList(f.words), "%s is never %q", f.name, strings.Trim(it.write(is), `"`))
}

// orList is "a, b or c".
func orList(words []Word) string {
	names := make([]string, len(words))
	for i, w := range words {
		names[i] = w.Name
	}
	last := len(names) - 1
	if last < 1 {
		return strings.Join(names, "")
	}
	return strings.Join(names[:last], ", ") + " or " + names[last]
}

// none are the words for "there is no value".
func none(it item) bool {
	w := strings.ToLower(it.raw())
	return it.style == pattern && (w == "" || w == "none" || w == "never")
}

// askAmount reads what numbers, sizes, durations and instants have in common;
// done is false when the value is a number to be read.
func askAmount(n node, it item, f facts) (a answer, done bool, err *Error) {
	switch {
	case it.style != pattern:
		return a, true, wrong(it.at, it.end, "compare it: "+f.name+">…", "%s is no text to search in", f.name)
	case n.op == is && none(it):
		return answer{isNone(), "none"}, true, nil
	case n.op == is && len(it.text) == 1 && it.text[0] == many:
		return answer{test{any: true}, "*"}, true, nil
	}
	return a, false, nil
}

// askNumber asks for a number, or for its digits: status:503, status:5xx, try>2, percent<50%.
func askNumber(n node, it item, f facts) (answer, *Error) {
	a, done, err := askAmount(n, it, f)
	if done {
		return a, err
	}
	if q, ok := readQuantity(it.raw(), shares, 1); ok {
		return amount(n, it, compared(n.op, q)), nil
	}
	if g, ok := digits(it); ok && n.op == is {
		return amount(n, it, ofDigits(g)), nil
	}
	return a, wrong(it.at, it.end, "write digits, such as "+f.name+":12, or "+f.name+":1* for what begins so",
		"%s is a whole number and not %q", f.name, it.raw())
}

// digits reads 5xx, 5?? and 5*. The glob is asked of the number as it is written in decimals, a minus
// included.
func digits(it item) (glob, bool) {
	p := slices.Clone(it.text)
	for i, r := range p {
		if r == 'x' || r == 'X' {
			p[i] = one
		}
	}
	odd := slices.ContainsFunc(p, func(r rune) bool { return r >= 0 && (r < '0' || r > '9') })
	return newGlob(p, false), !odd && len(p) > 0
}

// askSize asks for bytes, whose unit may be left out: KB are 1,000 of them, KiB 1,024.
func askSize(n node, it item, f facts) (answer, *Error) {
	return askQuantity(n, it, f, sizes, 1, "a size", "500, 40KB or 1.5MB")
}

// askDuration asks for a time that something took or takes. Without a unit it is in the field's own, if
// it has one.
func askDuration(n node, it item, f facts) (answer, *Error) {
	return askQuantity(n, it, f, spans, int64(f.bare), "a duration", "500ms, 90s, 5m, 1h30m or 2d")
}

// askQuantity reads a number with units; bare is the unit of one without, what and such name them in an error.
func askQuantity(n node, it item, f facts, units []unit, bare int64, what, such string) (answer, *Error) {
	a, done, err := askAmount(n, it, f)
	if done {
		return a, err
	}
	if q, ok := readQuantity(it.raw(), units, bare); ok {
		return amount(n, it, compared(n.op, q)), nil
	}
	return a, wrong(it.at, it.end, "write it as "+such, "%s is "+what+" and not %q", f.name, it.raw())
}

// askTime asks for an instant: by how far away it is (due<60s), or by the clock (created>12:30).
func askTime(n node, it item, f facts) (answer, *Error) {
	a, done, err := askAmount(n, it, f)
	if done {
		return a, err
	}
	// A distance has a unit, and a time of the clock has none: neither is taken for the other.
	if q, ok := readQuantity(it.raw(), spans, 0); ok {
		return amount(n, it, awayBy(n.op, q, f.kind == Ahead)), nil
	}
	if w, ok := readWhen(it.raw()); ok {
		return amount(n, it, dated(n.op, w)), nil
	}
	return a, wrong(it.at, it.end, "write 12:30, 2026-11-20, today, now-1h, or 2d for how far away it is",
		"%s is a time and not %q", f.name, it.raw())
}

// amount keeps the number as it was typed: 90s has another step than 1m30s.
func amount(n node, it item, q test) answer {
	return answer{q, it.write(n.op)}
}
