package ui

import (
	"fmt"
	"strings"
	"testing"

	"github.com/charmbracelet/x/ansi"
	"github.com/rivo/uniseg"

	"github.com/farsight-console/farsight/engine/safe"
	"github.com/farsight-console/farsight/internal/scratch"
	"github.com/farsight-console/farsight/themes"
	"github.com/farsight-console/farsight/ui/uitest"
)

// tokenSigns name the tokens in a golden map, one letter a cell: the named ones in their
// order, planned states, the two stripes of what happened and of what is planned, heat.
// On the selected row letters are capitals; the column of now and the open tab have one
// sign for all tokens, a raised or faded row the signs of a plain one.
const (
	seamSign  = '|'
	trackSign = '_'
)

var (
	tokenSigns    = ".gdkbtfasorwyelhxppppp" + ramps("ijmn") + "0123456789"
	selectedSigns = ",GDKBTFASORWYELHXPPPPP" + ramps("IJMN") + strings.Repeat("@", 10)
)

// ramps repeats each letter for the steps of a ramp.
func ramps(letters string) string {
	steps := int(themes.Odd(themes.Flow(0)) - themes.Flow(0))
	var b strings.Builder
	for _, r := range letters {
		b.WriteString(strings.Repeat(string(r), steps))
	}
	return b.String()
}

// inkOf gives for each SGR sequence of a theme the sign of the first token that looks
// so.
func inkOf(th *themes.Theme) map[string]byte {
	ink := map[string]byte{}
	put := func(seq string, sign byte) {
		if _, known := ink[seq]; !known {
			ink[seq] = sign
		}
	}
	for i := range len(tokenSigns) {
		put(th.Open(themes.Token(i)), tokenSigns[i])
	}
	put(th.Reset(), tokenSigns[0])
	for i := range len(selectedSigns) {
		put(th.On(themes.OnSel, themes.Token(i)), selectedSigns[i])
	}
	for i := range len(tokenSigns) {
		token := themes.Token(i)
		put(th.On(themes.OnSeam, token), seamSign)
		put(th.On(themes.OnRaised, token), tokenSigns[i])
		put(th.On(themes.OnState, token), tokenSigns[i])
		put(th.On(themes.OnTrack, token), trackSign)
		for share := 0.05; share < 0.5; share += 0.05 {
			put(th.On(themes.Fade(share), token), tokenSigns[i])
		}
	}
	return ink
}

// tokenMap is a frame with each cell replaced by the sign of its token.
func tokenMap(frame string, ink map[string]byte) string {
	var b strings.Builder
	for row := range strings.SplitSeq(frame, "\n") {
		sign := tokenSigns[0]
		for row != "" {
			if at := strings.IndexByte(row, 'm'); row[0] == 0x1b && at > 0 {
				seq, known := ink[row[:at+1]]
				if !known {
					seq = '?'
				}
				sign, row = seq, row[at+1:]
				continue
			}
			cluster, rest, width, _ := uniseg.FirstGraphemeClusterInString(row, -1)
			if cluster == "" {
				break
			}
			b.WriteString(strings.Repeat(string(sign), width))
			row = rest
		}
		b.WriteByte('\n')
	}
	return b.String()
}

// foldInks tells what a map of the dark theme looks like in a theme in which several
// tokens look the same.
func foldInks(dark string, th *themes.Theme) string {
	ink := inkOf(th)
	return strings.Map(func(r rune) rune {
		if i := strings.IndexRune(tokenSigns, r); i >= 0 {
			return rune(ink[th.Open(themes.Token(i))])
		}
		if r == '@' {
			return rune(ink[th.On(themes.OnSel, themes.Heat0)])
		}
		if i := strings.IndexRune(selectedSigns, r); i >= 0 {
			return rune(ink[th.On(themes.OnSel, themes.Token(i))])
		}
		return r
	}, dark)
}

// oneRamp takes the ramps for one: a step of one may look like a step of another in one
// theme and not in the next.
var oneRamp = strings.NewReplacer("j", "i", "m", "i", "n", "i", "J", "I", "M", "I", "N", "I")

// withoutShades is the text of a dark frame as a theme without shades has it: the rest of
// a bar is blank, the parts of a whole differ in their sign, now is a line where nothing else stands, and a full cell of a chart may
// be where a window begins.
func withoutShades(said, dark, inks string, g *themes.Glyphs) string {
	cells, mono := []rune(cellsOf(dark)), []rune(cellsOf(said))
	for i, ink := range []rune(inks) {
		if i >= len(cells) || i >= len(mono) {
			break
		}
		switch sign := string(cells[i]); {
		case (ink == 't' || ink == 'T') && sign == g.BarFull:
			cells[i] = ' '
		case ink == seamSign && sign == " ":
			cells[i] = []rune(g.Seam)[0]
		case string(mono[i]) == g.Reset && (sign == g.Spark[len(g.Spark)-1] || sign == g.Plan[len(g.Plan)-1]):
			cells[i] = mono[i]
		case (sign == g.BarFull || sign == g.Cell) && strings.ContainsRune(partSigns, mono[i]): // the parts of a whole
			cells[i] = mono[i]
		}
	}
	return strings.ReplaceAll(string(cells), string(wideRest), "")
}

// partSigns are the signs that parts of a whole have where there are no colours.
const partSigns = "●○↻≡◇✗✓∅"

// withoutTracks is a text without the rest of bars on the selected row: a theme whose selection
// is drawn in one colour has none there.
func withoutTracks(text, inks string) string {
	cells := []rune(cellsOf(text))
	for i, ink := range []rune(inks) {
		if ink == 'T' && i < len(cells) {
			cells[i] = ' '
		}
	}
	return string(cells)
}

// wideRest stands for the second cell of a wide letter.
const wideRest = '\ufffc'

// cellsOf is text with one rune for each cell.
func cellsOf(text string) string {
	var b strings.Builder
	for _, r := range text {
		b.WriteRune(r)
		if safe.RuneWidth(r) == 2 {
			b.WriteRune(wideRest)
		}
	}
	return b.String()
}

// overGrounds is a map of a theme that has no grounds, with those of the dark theme.
func overGrounds(inks, dark, folded string) string {
	out := []byte(inks)
	for i := range min(len(out), len(dark)) {
		if dark[i] == seamSign || dark[i] == trackSign {
			out[i] = dark[i]
		}
		if out[i] == 's' { // a sign among cells, which is reversed without colour
			out[i] = folded[i]
		}
	}
	return string(out)
}

// TestGoldenThemes compares the colours of every screen at three sizes with the maps
// in testdata, and holds the light, the colour-blind and the colourless theme to the
// same text and the same tokens: each theme's frames follow from the two goldens. The usual run has one of them beside the
// dark for each screen.
func TestGoldenThemes(t *testing.T) {
	t.Parallel()
	long(t)
	looks := []struct {
		theme string
		env   func(string) string
	}{{"dark", trueColor}, {"light", trueColor}, {"cb-dark", trueColor}, {"cb-light", trueColor}, {"mono", noColor}}
	for _, size := range scratch.Sized(sizes[:1], sizes) {
		for i, v := range views {
			other := 1 + i%(len(looks)-1)
			others := scratch.Sized(looks[other:other+1], looks[1:])
			name := fmt.Sprintf("%s-%dx%d", v.name, size[0], size[1])
			t.Run(name, func(t *testing.T) {
				bubble(t, func(t *testing.T) {
					dark, text := "", ""
					for _, look := range append(looks[:1:1], others...) {
						opt := testOptions()
						opt.Theme, opt.Getenv = look.theme, look.env
						d := open(t, uitest.Busy(), size[0], size[1], opt)
						v.open(d)
						if d.m.theme.Name != look.theme {
							t.Fatalf("the theme is %s", d.m.theme.Name)
						}
						inks := tokenMap(d.m.frame, inkOf(d.m.theme))
						if dark == "" {
							dark, text = inks, ansi.Strip(d.m.frame)
							compare(t, "tokens-"+name, dark)
							continue
						}
						said, want := ansi.Strip(d.m.frame), text
						if d.m.theme.Profile == themes.Mono {
							compare(t, "busy-"+name, said)
							want = withoutShades(said, text, dark, d.m.theme.Glyphs)
							inks = overGrounds(inks, dark, foldInks(dark, d.m.theme))
						}
						if said, want = withoutTracks(said, dark), withoutTracks(want, dark); said != want {
							t.Errorf("%s has other words than dark: %s", look.theme, firstDifference(said, want))
						}
						if want := foldInks(dark, d.m.theme); oneRamp.Replace(inks) != oneRamp.Replace(want) {
							t.Errorf("%s paints otherwise than dark: %s", look.theme, firstDifference(inks, want))
						}
					}
				})
			})
		}
	}
}

// TestThemesShowTheirColours: each theme in the list shows its states and its ramp on its
// own ground, and says what its colours cannot do; every row keeps its width.
func TestThemesShowTheirColours(t *testing.T) {
	bubble(t, func(t *testing.T) {
		opt := testOptions()
		opt.Getenv, opt.Theme = trueColor, "dark"
		d := open(t, uitest.Busy(), 120, 40, opt)
		d.press("T")
		text := ansi.Strip(d.m.frame)
		if n := strings.Count(text, "✓ ● ○ ↻ ▲ ✗ ▄▄▄▄▄▄▄▄▄▄"); n != len(themes.Palettes()) {
			t.Errorf("%d themes show their colours:\n%s", n, text)
		}
		for _, p := range themes.Palettes() {
			th := themes.New(p, themes.TrueColor, true, d.m.theme.Glyphs)
			if open := th.Open(themes.Text); !strings.Contains(d.m.frame, open[strings.Index(open, ";48;2;"):]) {
				t.Errorf("%s is not on its own ground", p.Name)
			}
			if w := safe.Width(ansi.Strip(th.Swatch())); w != themes.SwatchWidth {
				t.Errorf("%s: a swatch of %d cells", p.Name, w)
			}
			if !strings.Contains(text, p.Short()) {
				t.Errorf("%s does not say: %s", p.Name, p.Short())
			}
		}
		for _, row := range strings.Split(d.m.frame, "\n") {
			if w := safe.Width(ansi.Strip(row)); w != 120 {
				t.Errorf("a row of %d cells: %s", w, ansi.Strip(row))
			}
		}
	})
}
