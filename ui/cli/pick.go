package cli

import (
	"fmt"
	"slices"
	"strings"
)

// say prints a sentence in the place of an empty table.
func (o Out) say(text string) error {
	_, err := fmt.Fprintln(o.W, o.clean(text))
	return err
}

// mostEcho cells of what somebody typed are shown again.
const mostEcho = 60

func sentence(what, more string) string {
	if more == "" {
		return what
	}
	return what + ": " + more
}

// part is the filter of the short lists: a text that one of the names holds, in
// either case.
func part(text string, names ...string) bool {
	return slices.ContainsFunc(names, func(n string) bool { return strings.Contains(strings.ToLower(n), strings.ToLower(text)) })
}

// splitAccount takes a Riot ID off the head of a filter. Names hold spaces, tags do
// not; a filter of the language has its first operator before any #.
func splitAccount(text string) (account, rest string) {
	name, after, ok := strings.Cut(text, "#")
	if !ok || strings.ContainsAny(name, `:<>=~"/`) {
		return "", text
	}
	tag, rest, _ := strings.Cut(after, " ")
	return name + "#" + tag, strings.TrimSpace(rest)
}
