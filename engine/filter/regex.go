package filter

import (
	"errors"
	"regexp"
	"regexp/syntax"
	"slices"
	"strings"
	"unicode/utf8"
)

// Bounds of a regular expression: what one text may cost grows with both.
const (
	maxRegex        = 200  // bytes
	maxInstructions = 1000 // of the compiled machine
)

// newRegex compiles an expression that ignores case unless it says (?-i). at is
// where it stands in the query.
func newRegex(expr string, at, end int) (test, *Error) {
	if expr == "" {
		return test{}, wrong(at, end, `write /…/ with something in it, or "//" for the text`,
			"this regular expression is empty")
	}
	if len(expr) > maxRegex {
		return test{}, wrong(at, end, "shorten it", "a regular expression may have %d bytes, this one has %d", maxRegex,
			len(expr))
	}
	// It is parsed twice: the tree tells how large the machine is and what must be in a text, which the
	// compiled expression does not.
	tree, err := syntax.Parse(expr, syntax.Perl|syntax.FoldCase)
	if err != nil {
		return test{}, badRegex(err, expr, at, end)
	}
	tree = tree.Simplify()
	prog, err := syntax.Compile(tree)
	if err != nil || len(prog.Inst) > maxInstructions {
		return test{}, wrong(at, end, "use smaller repetitions", "this regular expression is too large")
	}
	re, err := regexp.Compile("(?i)" + expr)
	if err != nil {
		return test{}, badRegex(err, expr, at, end)
	}
	return test{any: fitsAll(tree), in: whenNeeded(re.MatchString, needed(tree), tail(tree))}, nil
}

// whenNeeded asks the cheap questions before an expression: how the text ends, and what whatever fits
// has in it, in this order. That spares most rows the machine.
func whenNeeded(match func(s string) bool, needs []needle, tail string) func(s string) bool {
	return func(s string) bool {
		if cut := len(s) - len(tail); cut < 0 || !equalFold(s[cut:], tail) {
			return false
		}
		rest := s
		for i := range needs {
			at := needs[i].index(rest)
			if at < 0 {
				return false
			}
			rest = rest[at+len(needs[i].text):]
		}
		return match(s)
	}
}

// badRegex marks the part that the regexp package complains about.
func badRegex(err error, expr string, at, end int) *Error {
	e, ok := errors.AsType[*syntax.Error](err)
	if !ok {
		return wrong(at, end, "", "this regular expression is wrong")
	}
	if i := strings.Index(expr, e.Expr); i >= 0 && e.Expr != "" {
		from := at + 1 + i + strings.Count(expr[:i], "/") // each slash was written with a backslash
		at, end = from, min(from+len(e.Expr)+strings.Count(e.Expr, "/"), end)
	}
	return wrong(at, end, "correct it, or quote the term to look for the text",
		"this regular expression is wrong (%s)", e.Code)
}

// fitsAll reports whether the expression is found in every text. It may miss
// some that are.
func fitsAll(re *syntax.Regexp) bool {
	switch re.Op {
	case syntax.OpBeginText, syntax.OpEndText, syntax.OpBeginLine, syntax.OpEndLine:
		return true
	case syntax.OpAlternate:
		return slices.ContainsFunc(re.Sub, fitsAll)
	case syntax.OpCapture:
		return fitsAll(re.Sub[0])
	}
	return takesNothing(re)
}

// takesNothing reports whether the expression fits at every place, taking no
// character.
func takesNothing(re *syntax.Regexp) bool {
	switch re.Op {
	case syntax.OpEmptyMatch, syntax.OpStar, syntax.OpQuest:
		return true
	case syntax.OpCapture, syntax.OpPlus:
		return takesNothing(re.Sub[0])
	case syntax.OpConcat:
		return !slices.ContainsFunc(re.Sub, func(sub *syntax.Regexp) bool { return !takesNothing(sub) })
	case syntax.OpAlternate:
		return slices.ContainsFunc(re.Sub, takesNothing)
	}
	return false
}

// needed lists texts in lower-case ASCII that must be in what fits, one behind
// the other. The letters k and s are left out: (?i) lets them be the Kelvin
// sign and the long s as well. Those of KR_7.*81$ are r_7 and 81. Alternatives
// and what may be missing have none.
func needed(re *syntax.Regexp) (list []needle) {
	switch re.Op {
	case syntax.OpLiteral:
		if text := longestPlain(string(re.Rune)); text != "" {
			list = append(list, newNeedle(text))
		}
	case syntax.OpCapture, syntax.OpPlus:
		return needed(re.Sub[0])
	case syntax.OpConcat:
		for _, sub := range re.Sub {
			list = append(list, needed(sub)...)
		}
	}
	return list
}

// tail is lower-case ASCII that whatever fits ends with; "" if none is known.
func tail(re *syntax.Regexp) string {
	last := len(re.Sub) - 1
	if re.Op != syntax.OpConcat || last < 1 || re.Sub[last].Op != syntax.OpEndText ||
		re.Sub[last-1].Op != syntax.OpLiteral {
		return ""
	}
	s := string(re.Sub[last-1].Rune)
	if i := strings.LastIndexFunc(s, unsure); i >= 0 {
		s = s[i+width(s[i:]):]
	}
	return strings.ToLower(s)
}

// longestPlain is the longest part of a literal that stands in what fits as it is written, but for
// case: of KR_72 that is r_72.
func longestPlain(s string) string {
	best := ""
	for _, part := range strings.FieldsFunc(s, unsure) {
		if len(part) > len(best) {
			best = part
		}
	}
	return strings.ToLower(best)
}

// unsure reports whether r may be another rune in what fits.
func unsure(r rune) bool { return r >= utf8.RuneSelf || strings.ContainsRune("kKsS", r) }
