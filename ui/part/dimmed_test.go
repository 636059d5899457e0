package part

import (
	"testing"

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
