package filter

import (
	"errors"
	"regexp"
	"regexp/syntax"
	"slices"
	"strings"
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
	// It is parsed twice: the tree tells how large the machine is and whether everything fits, which the
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
	return test{any: fitsAll(tree), in: re.MatchString}, nil
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
