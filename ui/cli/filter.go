package cli

import (
	"slices"
	"strings"
)

// mostEcho is how many cells of a filter are shown again where nothing fits it.
const mostEcho = 60

// part is the filter of the short lists, such as queues and limits: a text that one of the names
// holds, in either case.
func part(text string, names ...string) bool {
	text = strings.ToLower(text)
	return slices.ContainsFunc(names, func(n string) bool { return strings.Contains(strings.ToLower(n), text) })
}

// splitAccount takes a Riot ID off the head of a filter: "Blue Heron#EUW state:stored" is about
// Blue Heron#EUW. Names hold spaces, tags do not; a filter of the language has its first operator
// before any #.
func splitAccount(text string) (account, rest string) {
	name, after, ok := strings.Cut(text, "#")
	if !ok || strings.ContainsAny(name, `:<>=~"/`) {
		return "", text
	}
	tag, rest, _ := strings.Cut(after, " ")
	return name + "#" + tag, strings.TrimSpace(rest)
}
