package part

import (
	"testing"

	"github.com/charmbracelet/x/ansi"
	"pgregory.net/rapid"

	"github.com/farsight-console/farsight/engine/safe"
)

// The renderer measures with newer tables than engine/safe cleans with. Both
// must agree on all that cleaning lets through.
func agree(s string) bool {
	s = safe.Text(s)
	w := safe.Width(s)
	return ansi.StringWidth(s) == w && ansi.StringWidthWc(s) == w
}

func TestRendererAgreesOnEveryRune(t *testing.T) {
	for r := rune(0); r < 0x20000; r++ {
		if r >= 0x3400 && r < 0x4d00 || r >= 0x4e10 && r < 0x9f00 || r >= 0xac10 && r < 0xd700 || r >= 0x12000 && r < 0x1b000 {
			continue // ideographs, syllables, old scripts: one kind each
		}
		if !agree("a"+string(r)+"b") || !agree(string(r)+"क") || !agree("क"+string(r)+"क") {
			t.Errorf("%U", r)
		}
	}
}

func TestRendererAgreesOnMixtures(t *testing.T) {
	joiners := rapid.SampledFrom([]rune("a\u0301\u0323\u200d\ufe0f\u20e3🇰🇷👩🏽❤कष्ािক্ষக்ษกำ\u1100\u1161\u11a8\u0d4e\u0903ﾞ\u3099か\u09c7\u09be\u1039\u1000\u17d2\u1780"))
	rapid.Check(t, func(t *rapid.T) {
		s := rapid.StringOfN(rapid.OneOf(joiners, rapid.Rune()), 0, 16, -1).Draw(t, "s")
		if !agree(s) {
			c := safe.Text(s)
			t.Errorf("%+q: %d, renderer %d and %d", c, safe.Width(c), ansi.StringWidth(c), ansi.StringWidthWc(c))
		}
	})
}

// What measure takes for a line or a block is one cell, by the same table as all else.
func TestDrawnRunesAreOneCell(t *testing.T) {
	for r := rune(0x2400); r < 0x2a00; r++ {
		s := string(r)
		if in := r >= 0x2500 && r <= 0x259f || r >= 0x2800 && r <= 0x28ff; drawn(s) != in {
			t.Errorf("%U: drawn is %t", r, drawn(s))
		} else if in && (!safe.Simple(r) || safe.RuneWidth(r) != 1) {
			t.Errorf("%U is %d cells, simple %t", r, safe.RuneWidth(r), safe.Simple(r))
		}
	}
}
