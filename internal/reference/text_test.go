package reference

import (
	"strings"
	"testing"
	"unicode/utf8"

	"pgregory.net/rapid"
)

func TestReflow(t *testing.T) {
	long := "One line that ends\nwhere it did, with --dry-run.\n\n  verbatim  here\n  and here\n\nLast.\n one more"
	want := "One line that ends where it\ndid, with --dry-run.\n\n  verbatim  here\n  and here\n\nLast. one more"
	if got := Reflow(long, 28); got != want {
		t.Errorf("%q, want %q", got, want)
	}
}

// No line is wider than it may be, but for a word that is; nothing is lost or torn.
func TestWrap(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		words := rapid.SliceOf(rapid.StringMatching(`[a-zé–-]{1,12}`)).Draw(t, "words")
		width := rapid.IntRange(1, 40).Draw(t, "width")
		got := Wrap(strings.Join(words, " "), width)
		if strings.Join(strings.Fields(got), " ") != strings.Join(words, " ") {
			t.Fatalf("%q became %q", words, got)
		}
		for _, line := range strings.Split(got, "\n") {
			if utf8.RuneCountInString(line) > width && strings.Contains(line, " ") {
				t.Fatalf("%q is wider than %d", line, width)
			}
		}
	})
}

// What roff would read as its own is text.
func TestRoffText(t *testing.T) {
	for text, want := range map[string]string{
		".x":                    `\&.x`,
		"'a' `farsight sync` b": `\(aqa\(aq \fBfarsight sync\fR b`,
		`--dry-run \n`:          `\-\-dry\-run \en`,
		"one ` alone":           "one ` alone",
	} {
		if got := line(text); got != want {
			t.Errorf("%q is %q, want %q", text, got, want)
		}
	}
}
