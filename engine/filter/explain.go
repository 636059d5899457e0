package filter

import (
	"slices"
	"strings"
)

// tone says which verbs suit a value.
type tone uint8

const (
	plain tone = iota
	has        // it may stand anywhere in the text
	ofTime
)

// verbs are the words of an operator by tone, as it is and negated. Those that a tone lacks cannot be asked
// for with it: text has no more and less.
var verbs = [...][6][2]string{
	plain: {
		is: {"is", "is not"}, less: {"is less than", "is not less than"}, atMost: {"is at most", "is not at most"},
		more: {"is more than", "is not more than"}, atLeast: {"is at least", "is not at least"},
	},
	has: {free: {"has", "has not"}, is: {"has", "has not"}},
	ofTime: {
		is: {"is at", "is not at"}, less: {"is before", "is not before"}, atMost: {"is not after", "is after"},
		more: {"is after", "is not after"}, atLeast: {"is not before", "is before"},
	},
}

// explain says what the term asks, given its values in words: "state is retryable or running", and of its
// opposite "state is not retryable, nor running".
func (n node) explain(t tone, values []string) string {
	pair := verbs[t][n.op]
	phrase := pair[0] + " " + strings.Join(values, " or ")
	if n.not {
		phrase = pair[1] + " " + strings.Join(values, ", nor ")
	}
	if n.name == "" {
		return phrase
	}
	return n.name + " " + phrase
}

// explain says what a value of text is.
func (it item) explain() string {
	switch {
	case it.style == expression:
		return "what fits /" + it.expr + "/"
	case it.style == letters:
		return "the letters of " + it.raw() + " in order"
	case len(it.text) == 0:
		return "empty"
	case len(it.text) == 1 && it.text[0] == many:
		return "anything"
	case slices.Contains(it.text, many) || slices.Contains(it.text, one):
		return "text like " + writeText(it.text, free)
	}
	return writeText(it.text, is)
}
