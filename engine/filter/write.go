package filter

import (
	"strings"
	"unicode"
)

// Canonical text: what parses to the same term again.

// write is a term from its items as they are written: -queue:report.*,calls.
func (n node) write(items []string) string {
	var b strings.Builder
	if n.not {
		b.WriteByte('-')
	}
	b.WriteString(n.name)
	b.WriteString(opSigns[n.op])
	b.WriteString(strings.Join(items, ","))
	return b.String()
}

// write is a value; what must be quoted depends on the operator before it.
func (it item) write(o op) string {
	switch it.style {
	case expression:
		return "/" + strings.ReplaceAll(it.expr, "/", `\/`) + "/"
	case letters:
		return "~" + writeText(it.text, o)
	}
	return writeText(it.text, o)
}

// writeText writes a pattern: text that means something to the language in
// quotes, stars and question marks outside of them.
func writeText(text []rune, o op) string {
	if len(text) == 0 {
		return `""`
	}
	var b strings.Builder
	for start := 0; start < len(text); {
		switch text[start] {
		case one:
			b.WriteByte('?')
			start++
		case many:
			b.WriteByte('*')
			start++
		default:
			end := start
			for end < len(text) && text[end] >= 0 {
				end++
			}
			b.WriteString(quote(string(text[start:end]), o))
			start = end
		}
	}
	return b.String()
}

// quote quotes a text that bare would be read as something else: a,b as two values, -x as a minus, and
// a:b as a field where the term names none.
func quote(s string, o op) string {
	if !strings.ContainsFunc(s, special) && !strings.ContainsAny(s[:1], "-/~<>=!:(") &&
		!strings.ContainsAny(s, splits[o == free]) && !(o == free && isOr(s)) {
		return s
	}
	return `"` + strings.NewReplacer(`\`, `\\`, `"`, `\"`).Replace(s) + `"`
}

// splits are the signs that end a value; the key tells a word from a field's.
var splits = map[bool]string{true: ":<>=!", false: ","}

// special reports whether a rune means something to the language, or cannot be seen, wherever it stands.
func special(r rune) bool {
	return unicode.IsSpace(r) || !unicode.IsGraphic(r) || strings.ContainsRune(`"\*?`, r)
}
