package part

import (
	"strings"
	"testing"
	"unicode/utf8"

	"github.com/charmbracelet/x/ansi"

	"github.com/farsight-console/farsight/themes"
)

func TestDimmedKeepsEveryLetterAndTheWidth(t *testing.T) {
	th := themes.New(themes.Palettes()[0], themes.TrueColor, true, themes.Unicode)
	rows := Sections(th, 0, 0, 24, 4, 0, nil, Section{Title: "Now", Focus: true, Rows: []string{Row(th, 22, As(themes.Err, " 카인 FAILED"))}})
	for i, row := range Dimmed(th, 24, rows) {
		if got, want := ansi.Strip(row), ansi.Strip(rows[i]); got != want {
			t.Errorf("row %d is %q, want %q", i, got, want)
		}
	}
}

// TestDimmedKeepsBars: what a bar fills can be told from the rest of it, in every theme that
// draws the rest by a colour.
func TestDimmedKeepsBars(t *testing.T) {
	for _, p := range themes.Palettes() {
		for _, profile := range []themes.Profile{themes.ANSI16, themes.ANSI256, themes.TrueColor} {
			th := themes.New(p, profile, true, themes.Unicode)
			l := NewLine(th, 10)
			row := Dimmed(th, 10, []string{l.Bar(themes.Run, 10, 0.5).String()})[0]
			if cells := looksOf(row); cells[4] == cells[5] {
				t.Errorf("%s, %v: a bar that is half full is %q", p.Name, profile, row)
			}
		}
	}
}

// looksOf is the SGR sequence that each cell of a row has, none of them wide.
func looksOf(row string) (looks []string) {
	look := ""
	for row != "" {
		if rest, found := strings.CutPrefix(row, "\x1b["); found {
			end := strings.IndexByte(rest, 'm') + 1
			look, row = rest[:end], rest[end:]
			continue
		}
		_, n := utf8.DecodeRuneInString(row)
		looks, row = append(looks, look), row[n:]
	}
	return looks
}
