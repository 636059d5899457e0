package filter

import (
	"strings"
	"unicode"
	"unicode/utf8"
)

// op is what a term asks of its field.
type op uint8

const (
	free op = iota // no field: a word
	is
	less
	atMost
	more
	atLeast
)

// opSigns are the operators in canonical text.
var opSigns = [...]string{free: "", is: ":", less: "<", atMost: "<=", more: ">", atLeast: ">="}

// signs are the operators as they may be written, longer ones first: <= must not be read as < and a value
// that begins with =.
var signs = []struct {
	sign string
	op   op
	not  bool
}{
	{"!=", is, true}, {"<=", atMost, false}, {">=", atLeast, false},
	{":", is, false}, {"=", is, false}, {"<", less, false}, {">", more, false},
}

// style is how a value was written: KR_72* or "KR 72", /^KR_\d+$/, ~kr72.
type style uint8

const (
	pattern style = iota
	expression
	letters
)

// item is one value of a term. The text of KR_"7*"* is K R _ 7 * and then many: only the second star is one
// that stands for anything. at and end are bytes of the query.
type item struct {
	at, end int
	style   style
	text    []rune // of a pattern or letters; one and many stand for ? and *
	expr    string // of an expression
}

// raw gives a pattern as the plain text that was meant, without quotes and backslashes. It is what numbers,
// durations and words are read from: "503" in quotes is a number, too.
func (it item) raw() string {
	var b strings.Builder
	for _, r := range it.text {
		switch r {
		case one:
			b.WriteByte('?')
		case many:
			b.WriteByte('*')
		default:
			b.WriteRune(r)
		}
	}
	return b.String()
}

// node is one term as written. -queue:report.*,calls is the negated question after two items of the field
// "queue"; age!=5m is negated as well, and -age!=5m is not.
type node struct {
	at, end int
	not     bool
	name    string // field; "" = none
	nameAt  int
	op      op
	items   []item
}

// lexer cuts a query into terms. i is the byte that is read next. Errors carry places in bytes of the
// query.
type lexer struct {
	s    string
	i    int
	keys []string
}

// space skips what stands between two terms.
func (l *lexer) space() {
	for l.i < len(l.s) && l.atSpace() {
		l.i += width(l.s[l.i:])
	}
}

// atSpace reports whether any white space of Unicode stands here: a query may be pasted.
func (l *lexer) atSpace() bool {
	r, _ := utf8.DecodeRuneInString(l.s[l.i:])
	return unicode.IsSpace(r)
}

// stop reports whether a term ends here.
func (l *lexer) stop() bool { return l.i == len(l.s) || l.atSpace() }

// peek is the byte that stands here, 0 at the end. All that has a meaning is ASCII.
func (l *lexer) peek() byte {
	if l.i < len(l.s) {
		return l.s[l.i]
	}
	return 0
}

// node reads the term that begins here.
func (l *lexer) node() (n node, err *Error) {
	n = node{at: l.i}
	if l.peek() == '-' {
		l.i++
		n.not = true
		if l.stop() || l.peek() == '-' {
			return n, wrong(n.at, l.i, `write -term without a space, or "-" for the sign`,
				"- needs one term to take away")
		}
	}
	l.head(&n)
	err = l.values(&n)
	n.end = l.i
	for _, it := range n.items {
		// Silently taken as text it would be a filter that fits nothing.
		if err == nil && l.s[it.at] == '(' {
			err = wrong(it.at, it.at+1, `write out both sides: a b or a c; quote the term to look for the sign`,
				"a filter knows no parentheses")
		}
	}
	return n, err
}

// head reads field and operator, if the term has any. Three things look like a field and are none: a
// word before nothing that is an operator, a lone ":" or "!=", and the start of a key, as in
// match:KR_7214550881.
func (l *lexer) head(n *node) {
	n.nameAt = l.i
	end := nameEnd(l.s, l.i)
	name := l.s[l.i:end]
	sign, not, width := readSign(l.s[end:])
	switch {
	case width == 0, name == "" && (sign == is || not), name != "" && l.isKey(name, l.s[end:]):
		return
	}
	n.name, n.op, n.not = name, sign, n.not != not
	l.i = end + width
	if sign != is || name == "" {
		return
	}
	if sign, not, width = readSign(l.s[l.i:]); width > 0 && sign != is && !not { // field:>5
		n.op = sign
		l.i += width
	}
}

// isKey reports whether a word begins a key of a job, see Options.Keys.
func (l *lexer) isKey(name, rest string) bool {
	for _, k := range l.keys {
		if strings.EqualFold(k, name) && rest[0] == ':' {
			return true
		}
	}
	return false
}

// readSign reads an operator; width is 0 where there is none.
func readSign(s string) (o op, not bool, width int) {
	for _, x := range signs {
		if strings.HasPrefix(s, x.sign) {
			return x.op, x.not, len(x.sign)
		}
	}
	return free, false, 0
}

// values reads what follows the operator: values with commas between them.
func (l *lexer) values(n *node) *Error {
	for {
		it, err := l.item(n.op)
		if err != nil {
			return err
		}
		if it.at == it.end {
			return l.noValue(n)
		}
		n.items = append(n.items, it)
		if l.stop() {
			return nil
		}
		l.i++ // only a comma ends an item before the end of its term
	}
}

// noValue is the error of a term that ends, or goes on with a comma, where a
// value should stand.
func (l *lexer) noValue(n *node) *Error {
	comma := l.i
	if l.peek() != ',' {
		comma--
	}
	if l.s[comma] == ',' {
		return wrong(comma, comma+1, "write a,b without spaces, or quote the comma",
			"a value is missing beside the comma")
	}
	term := orName(n.name) + opSigns[n.op]
	return wrong(n.at, l.i, "write the value behind it, without a space", "%s has no value", term)
}

func orName(name string) string {
	if name == "" {
		return "field"
	}
	return name
}

// item reads one value. Without a field a comma belongs to the word, since nothing could stand beside
// it.
func (l *lexer) item(o op) (item, *Error) {
	it := item{at: l.i}
	var err *Error
	switch {
	case l.peek() == '/':
		err = l.regex(&it, o)
	case l.peek() == '~':
		it.style = letters
		l.i++
		err = l.text(&it, o)
		if err == nil && len(it.text) == 0 {
			err = wrong(it.at, l.i, `write ~abc, or "~" for the sign`, "~ needs letters to look for")
		}
	default:
		err = l.text(&it, o)
	}
	it.end = l.i
	return it, err
}

// regex reads /…/; \/ stands for a slash. Every other backslash is the expression's own and stays.
func (l *lexer) regex(it *item, o op) *Error {
	var b strings.Builder
	it.style = expression
	for l.i++; l.i < len(l.s) && l.s[l.i] != '/'; l.i++ {
		if l.s[l.i] == '\\' && l.i+1 < len(l.s) {
			l.i++
			if l.s[l.i] != '/' {
				b.WriteByte('\\')
			}
		}
		b.WriteByte(l.s[l.i])
	}
	it.expr = b.String()
	if l.i == len(l.s) {
		return wrong(it.at, l.i, `close it, or quote the term to look for a slash`,
			"a regular expression begins here and has no end")
	}
	l.i++
	if !l.stop() && (o == free || l.peek() != ',') {
		return wrong(it.at, l.i, `write \/ for a slash in it, or quote the term to look for the text`,
			"this regular expression is closed, but its term goes on")
	}
	return nil
}

// text reads a pattern: bare and quoted pieces without a space between them.
func (l *lexer) text(it *item, o op) *Error {
	for !l.stop() && (o == free || l.peek() != ',') {
		switch c := l.peek(); c {
		case '"':
			if err := l.quoted(it); err != nil {
				return err
			}
		case '*', '?':
			it.text = append(it.text, map[byte]rune{'*': many, '?': one}[c])
			l.i++
		default:
			l.letter(it)
		}
	}
	return nil
}

// quoted reads "…". Stars and question marks in it are letters.
func (l *lexer) quoted(it *item) *Error {
	open := l.i
	for l.i++; l.i < len(l.s) && l.s[l.i] != '"'; {
		l.letter(it)
	}
	if l.i == len(l.s) {
		return wrong(open, l.i, `write a second ", or \" for the sign`, "a quote begins here and has no end")
	}
	l.i++
	return nil
}

// letter reads one character; after a backslash any, as it is.
func (l *lexer) letter(it *item) {
	if l.s[l.i] == '\\' && l.i+1 < len(l.s) {
		l.i++
	}
	r, n := utf8.DecodeRuneInString(l.s[l.i:])
	it.text = append(it.text, r)
	l.i += n
}
