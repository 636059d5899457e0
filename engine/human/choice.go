package human

import (
	"slices"
	"strings"
)

// Either is the first of two where something is so, else the second. Both are made: it is for what
// costs nothing.
func Either[T any](is bool, yes, no T) T {
	if is {
		return yes
	}
	return no
}

// If is a part of a sentence that is said only where something is so; "" elsewhere.
func If(is bool, text string) string { return Either(is, text, "") }

// List is what there is of some texts: "since 14d, no timelines".
func List(texts ...string) string {
	return strings.Join(slices.DeleteFunc(texts, func(text string) bool { return text == "" }), ", ")
}
