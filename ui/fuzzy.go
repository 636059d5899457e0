package ui

import "strings"

// fuzzy scores how well a text fits a name, both in lower case; 0 = not at all. Best is a name that
// begins with the text, then one of whose words begins with it, then one that has it anywhere, and
// last one with other letters between. Of two that fit alike the shorter name is better.
func fuzzy(name, text string) int {
	switch at := strings.Index(name, text); {
	case at == 0:
		return 1000 - len(name)
	// A word of the name begins with the text.
	case at > 0 && name[at-1] == ' ':
		return 700 - len(name)
	case at > 0:
		return 500 - len(name)
	}
	return scattered([]rune(name), []rune(text))
}

// scattered scores letters that have others between them. The first must begin a word, and all must
// stand close together or begin words: anything else would fit nearly every name. "sa" fits "sync
// account".
func scattered(name, text []rune) int {
	best := 0
	for from := range name {
		if name[from] != text[0] || !beginsWord(name, from) {
			continue
		}
		at, breaks, begin := from, 0, true
		for _, want := range text[1:] {
			next := nextLetter(name, at+1, want)
			if next == len(name) {
				return best
			}
			if next != at+1 {
				breaks++
				begin = begin && beginsWord(name, next)
			}
			at = next
		}
		// Every gap costs a little, but a fit stays a fit.
		if begin || at-from < 2*len(text)+2 {
			best = max(best, 100-5*breaks, 1)
		}
	}
	return best
}

// nextLetter is where a letter stands from a place on: at that place, else where it begins a word,
// else anywhere; len(name) = nowhere.
func nextLetter(name []rune, from int, want rune) int {
	found := len(name)
	for i := from; i < len(name); i++ {
		switch {
		case name[i] != want:
		case i == from || beginsWord(name, i):
			return i
		default:
			found = min(found, i)
		}
	}
	return found
}

// beginsWord reports whether a word begins at a letter.
func beginsWord(name []rune, at int) bool {
	return at == 0 || strings.ContainsRune(" .-_:/#▸", name[at-1])
}
