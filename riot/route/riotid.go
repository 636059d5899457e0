package route

import (
	"errors"
	"fmt"
	"strings"
	"unicode"
	"unicode/utf8"

	"golang.org/x/text/unicode/norm"
)

// Longest name and tag that are asked about, in characters. Riot's own limits are 3-16 and 3-5; old and
// partner accounts break them, so the bounds are wide: Riot decides what exists.
const (
	maxName = 64
	maxTag  = 10
)

// ParseRiotID splits "Name#TAG". Spaces around either part and the invisible direction marks that the
// game client copies along are dropped. The error says in one sentence what to write instead.
func ParseRiotID(s string) (name, tag string, err error) {
	// Checked first: Cut and Trim would pass broken bytes on into a path.
	if !utf8.ValidString(s) {
		return "", "", fmt.Errorf("riot ID %+q is not valid UTF-8: write it as Name#TAG", clip(s))
	}
	// Not repeated, as the others are: it may be the key, pasted into the wrong field.
	if strings.Contains(strings.ToUpper(s), "RGAPI-") {
		return "", "", errors.New("that is an API key, not a Riot ID, and nothing of it was kept: write the Riot ID as Name#TAG")
	}
	// As Korean and Japanese keyboards write it, and as macOS's file names take letters apart.
	name, tag, found := strings.Cut(norm.NFC.String(strings.ReplaceAll(s, "＃", "#")), "#")
	name, tag = tidy(name), tidy(tag)
	switch {
	case !found:
		return "", "", fmt.Errorf("%q is not a Riot ID: write name and tag with a # between, such as Name#EUW", clip(s))
	case strings.Contains(tag, "#"):
		return "", "", fmt.Errorf("%q has more than one #: write the Riot ID as Name#TAG", clip(s))
	case strings.ContainsFunc(name+tag, unicode.IsControl):
		return "", "", fmt.Errorf("riot ID %+q holds control characters: write it as Name#TAG", clip(s))
	}
	if err := checkPart("name before the #", name, maxName); err != nil {
		return "", "", fmt.Errorf("riot ID %q: %w", clip(s), err)
	}
	if err := checkPart("tag after the #", tag, maxTag); err != nil {
		return "", "", fmt.Errorf("riot ID %q: %w", clip(s), err)
	}
	return name, tag, nil
}

func checkPart(what, part string, most int) error {
	switch n := utf8.RuneCountInString(part); {
	case n == 0:
		return fmt.Errorf("the %s is missing", what)
	case n > most:
		return fmt.Errorf("the %s has %d characters, at most %d are possible", what, n, most)
	case part == "." || part == "..":
		return fmt.Errorf("the %s cannot be %q", what, part)
	}
	return nil
}

// tidy drops white space and direction marks at both ends; inside a name everything counts.
func tidy(s string) string {
	return strings.TrimFunc(s, func(r rune) bool {
		return unicode.IsSpace(r) || unicode.Is(unicode.Bidi_Control, r) || r == '\uFEFF'
	})
}
