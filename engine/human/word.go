package human

import (
	"fmt"
	"strings"
)

// WordOf is the word of a number, "state(9)" of one that is new to this program.
func WordOf[N ~uint8](words []string, what string, n N) string {
	if int(n) < len(words) {
		return words[n]
	}
	return fmt.Sprintf("%s(%d)", what, uint8(n))
}

// ReadWord is the way back. Its error lists the words.
func ReadWord[N ~uint8](words []string, what string, word []byte, n *N) error {
	for i, w := range words {
		if w == string(word) {
			*n = N(i)
			return nil
		}
	}
	return fmt.Errorf("unknown %s %q: use one of %v", what, word, words)
}

// Whose is the possessive of a name: europe's, americas'.
func Whose(name string) string { return name + "'" + If(!strings.HasSuffix(name, "s"), "s") }
