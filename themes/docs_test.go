package themes

import (
	"os"
	"strings"
	"testing"
)

// TestTheExampleThemeIsOne: the file shown in the documentation is a theme, says all that
// a theme may, and looks as the dark one.
func TestTheExampleThemeIsOne(t *testing.T) {
	page, err := os.ReadFile("../docs/themes.md")
	if err != nil {
		t.Fatal(err)
	}
	_, rest, _ := strings.Cut(string(page), "```toml\n")
	example, _, _ := strings.Cut(rest, "```")
	p, err := parseUser("mine", []byte(example))
	if err != nil {
		t.Fatal(err)
	}
	mine, dark := New(p, TrueColor, true, Unicode), New(dark, TrueColor, true, Unicode)
	for l := range mine.open {
		for token := range mine.open[l] {
			if mine.open[l][token] != dark.open[l][token] && Token(token) != Line {
				t.Errorf("%v on layer %d: %q, the dark theme has %q", Token(token), l, mine.open[l][token], dark.open[l][token])
			}
		}
	}
	for _, p := range Palettes() {
		if !strings.Contains(string(page), "`"+p.Name+"`") {
			t.Errorf("docs/themes.md does not name %s", p.Name)
		}
	}
}
