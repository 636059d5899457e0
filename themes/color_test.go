package themes

import (
	"fmt"
	"image/color"
	"math"
	"testing"

	"github.com/charmbracelet/x/ansi"
	"github.com/lucasb-eyer/go-colorful"
)

// TestContrastOfEveryTheme: the state colours keep what the theme says of itself, all
// other text what can be read.
func TestContrastOfEveryTheme(t *testing.T) {
	for _, p := range Palettes() {
		p := p.whole()
		bg, colors := parse(p.Bg), p.colors()
		for _, token := range append(states[:], Text, Figure, Dim, Held, Off, Focus, Accent, Line) {
			floor := min(p.contrast, leastContrast)
			if token >= OK && token <= Err {
				floor = p.contrast
			}
			if got := contrast(colors[token], bg); got < floor-0.05 {
				t.Errorf("%s %v: contrast %.2f, want %.1f", p.Name, token, got, floor)
			}
		}
		all := painter{Palette: p, th: &Theme{Profile: TrueColor}, colors: colors, ground: p.grounds()}
		all.ground[OnState] = bg.BlendRgb(colors[Run], liveLight)
		for token := range flow0 {
			if token == Tick || token == Hairline || token == Track {
				continue
			}
			few := painter{Palette: p, th: &Theme{Profile: ANSI256}, colors: colors, ground: all.ground}
			for l := fade1; int(l) < layers; l++ {
				if got := contrast(in256(few.risen(p.faded(colors[token], bg, l.amount()), bg)), in256(bg)); got < p.floor() {
					t.Errorf("%s %v: contrast %.2f where it fades in 256 colours", p.Name, token, got)
				}
			}
			for l := range fade1 {
				if got := contrast(all.risen(colors[token], all.ground[l]), all.ground[l]); got < p.floor() {
					t.Errorf("%s %v: contrast %.2f on layer %d", p.Name, token, got, l)
				}
				if got := contrast(in256(few.risen(colors[token], all.ground[l])), in256(all.ground[l])); got < p.floor() {
					t.Errorf("%s %v: contrast %.2f on layer %d in 256 colours", p.Name, token, got, l)
				}
			}
		}
		for token, least := range map[Token]float64{Tick: 1.9, Hairline: leastLineContrast, Track: 1.1} {
			if got := contrast(colors[token], bg); got < least {
				t.Errorf("%s %v: contrast %.2f, want %.1f", p.Name, token, got, least)
			}
		}
	}
}

// TestLettersOfAChartAreReadable: where signs are letters, the least of the ramp is one that is seen.
func TestLettersOfAChartAreReadable(t *testing.T) {
	for _, p := range Palettes() {
		th := New(p, TrueColor, true, Plain)
		for _, token := range []Token{Flow(0), Flow(0.3), Planned(Odd(Flow(0)))} {
			var r, g, b uint8
			if _, err := fmt.Sscanf(th.Open(token), "\x1b[0;38;2;%d;%d;%d", &r, &g, &b); err != nil {
				t.Fatal(err)
			}
			c, _ := colorful.MakeColor(color.RGBA{r, g, b, 255})
			if got := contrast(c, parse(p.Bg)); got < signFloor-0.05 {
				t.Errorf("%s %v: contrast %.2f", p.Name, token, got)
			}
		}
	}
}

// TestDialogsAreReadable: what lies over a screen has a ground of its own, as the row of
// tabs; the state colours keep what a theme promises there too, but for a tenth.
func TestDialogsAreReadable(t *testing.T) {
	for _, p := range Palettes() {
		p := p.whole()
		colors, raised := p.colors(), p.grounds()[OnRaised]
		for _, token := range append(states[:], Text, Figure, Dim, Held, Off, Focus, Accent, Line) {
			floor := leastContrast
			if token >= OK && token <= Err {
				floor = 0.9 * p.contrast
			}
			if got := contrast(colors[token], raised); got < floor {
				t.Errorf("%s %v: contrast %.2f, want %.1f", p.Name, token, got, floor)
			}
		}
	}
}

// TestThemesReachWhatTheySay: neither less nor much more.
func TestThemesReachWhatTheySay(t *testing.T) {
	for _, p := range Palettes() {
		faintest, nearest := p.measure()
		if least, apart := p.contrast, p.distance; faintest < least-0.05 || nearest < apart-0.05 || nearest > apart+1 {
			t.Errorf("%s says contrast %.1f and distance %.1f, has %.2f and %.2f", p.Name, least, apart, faintest, nearest)
		}
	}
	short := map[string]string{"nord": "similar colours"}
	for _, p := range Palettes() {
		if got := p.Short(); got != short[p.Name] {
			t.Errorf("%s falls short by %q, want %q", p.Name, got, short[p.Name])
		}
	}
	faint := Palette{contrast: 4.6, distance: 40}
	if got := faint.Short(); got != "faint colours" {
		t.Errorf("says %q", got)
	}
}

// TestTheRampRises: from what is just seen on the ground to full, each step a shade more
// than the one before; what is planned can be seen in both stripes.
func TestTheRampRises(t *testing.T) {
	for _, p := range Palettes() {
		p := p.whole()
		if len(p.Flow) != rampStops {
			t.Errorf("%s: %d stops", p.Name, len(p.Flow))
		}
		if err := p.checkRamp(); err != nil {
			t.Errorf("%s: %v", p.Name, err)
		}
		bg, colors := parse(p.Bg), p.colors()
		for i := range Token(steps) {
			for _, token := range []Token{flow0 + i, Odd(flow0 + i), Planned(flow0 + i), Odd(Planned(flow0 + i))} {
				if got := contrast(colors[token], bg); got < 1.3 {
					t.Errorf("%s %v: contrast %.2f on the ground", p.Name, token, got)
				}
				if i > 0 && lightness(colors[token]) > lightness(colors[token-1]) != p.Dark {
					t.Errorf("%s %v does not stand out more than %v", p.Name, token, token-1)
				}
			}
			if a := distance(colors[flow0+i], colors[Odd(flow0+i)]); a < 2.3 {
				t.Errorf("%s: the stripes of step %d differ by %.1f", p.Name, i, a)
			}
		}
	}
}

// TestFadesStayReadable: a list fades down, and no text of it below what can be read.
func TestFadesStayReadable(t *testing.T) {
	for _, p := range Palettes() {
		bg := parse(p.Bg)
		colors := p.whole().colors()
		for _, token := range []Token{Text, Dim, OK, Run, Retry, Warn, Err, Line} {
			last := contrast(colors[token], bg)
			for l := fade1; int(l) < layers; l++ {
				got := contrast(p.faded(colors[token], bg, l.amount()), bg)
				if got > last+1e-9 || got < min(p.floor(), last)-1e-9 {
					t.Errorf("%s %v at %.2f: contrast %.2f after %.2f", p.Name, token, l.amount(), got, last)
				}
				last = got
			}
		}
	}
}

func TestTextIsReadableIn256Colours(t *testing.T) {
	for _, p := range Palettes() {
		p = stand(p)
		bg, colors := in256(parse(p.Bg)), p.whole().colors()
		for _, token := range append(states[:], Text, Dim, Accent) {
			if got := contrast(in256(colors[token]), bg); got < 4.2 {
				t.Errorf("%s %v: contrast %.2f in 256 colours", p.Name, token, got)
			}
		}
	}
}

func TestStatesStayApartIn256Colours(t *testing.T) {
	for _, p := range Palettes() {
		p = stand(p)
		colors := p.whole().colors()
		for _, v := range visions {
			got := apart(func(token Token) colorful.Color { return seen(in256(colors[token]), v.m) })
			if got < 12 {
				t.Errorf("%s, %s: distance %.1f in 256 colours", p.Name, v.name, got)
			}
		}
	}
}

// stand is the palette that a terminal of 256 colours gets.
func stand(p Palette) Palette {
	if p.in256 != nil {
		return *p.in256
	}
	return p
}

// in256 is what a terminal of 256 colours shows for c.
func in256(c colorful.Color) colorful.Color {
	var n uint8
	if _, err := fmt.Sscanf(string(paint(";38", c, ANSI256)), ";38;5;%d", &n); err != nil {
		panic(err)
	}
	shown, _ := colorful.MakeColor(ansi.IndexedColor(n))
	return shown
}

func TestSixteenColoursAreDistinct(t *testing.T) {
	for _, p := range Palettes() {
		seen := map[int8]Token{}
		for _, token := range append(states[:], Line) {
			c := p.ansiColors()[token]
			if other, taken := seen[c]; taken {
				t.Errorf("%s: %v and %v are both colour %d", p.Name, token, other, c)
			}
			seen[c] = token
		}
	}
}

func TestHeatRises(t *testing.T) {
	for _, p := range Palettes() {
		colors := p.whole().colors()
		for i := Heat0 + 1; int(i) < tokens; i++ {
			if luminance(colors[i]) > luminance(colors[i-1]) != p.Dark {
				t.Errorf("%s: %v does not stand out more than %v", p.Name, i, i-1)
			}
		}
	}
}

func BenchmarkNewTheme(b *testing.B) {
	dark := Options{}.find("dark")
	for b.Loop() {
		New(dark, TrueColor, true, Unicode)
	}
}

// TestGreysStayGreyIn256Colours: the ground of a bar, of the open tab and of the selection is no bright blue, and no
// colour stands for another than it looks like.
func TestGreysStayGreyIn256Colours(t *testing.T) {
	for _, p := range Palettes() {
		p = stand(p).whole()
		colors, grounds := p.colors(), p.grounds()
		for _, c := range append(grounds[:], colors[Track], colors[Dim], colors[Hairline]) {
			if got := distance(c, in256(c)); c != (colorful.Color{}) && got > 20 {
				t.Errorf("%s: %s becomes %s, %.0f away", p.Name, c.Hex(), in256(c).Hex(), got)
			}
		}
	}
}

// TestWhatIsDownIsRedIn256Colours: the row of the state is no grey where the engine stands, and its text is read; the column
// of now is neither grey nor amber.
func TestWhatIsDownIsRedIn256Colours(t *testing.T) {
	for _, p := range Palettes() {
		whole := stand(p).whole()
		b := painter{Palette: whole, th: &Theme{Profile: ANSI256, Mood: Err}, colors: whole.colors(), ground: whole.grounds()}
		shown := in256(b.mooded(stateLight, 4.5))
		if _, a, _ := shown.Lab(); 100*a < 5 || contrast(in256(b.colors[Figure]), shown) < 4.4 {
			t.Errorf("%s: %s, contrast %.1f", p.Name, shown.Hex(), contrast(in256(b.colors[Figure]), shown))
		}
		seam := in256(b.mooded(stateSeam, 0))
		if hue, _, _ := seam.Hsv(); distance(seam, grey(seam)) < 5 || math.Abs(math.Remainder(hue, 360)) > 30 {
			t.Errorf("%s: the column of now is %s", p.Name, seam.Hex())
		}
	}
}

// TestNoChartKeepsItsHueWhereTheEngineStands: in 16 colours, too, what is drawn of what flows and waits is as dim as what is off.
func TestNoChartKeepsItsHueWhereTheEngineStands(t *testing.T) {
	for _, p := range Palettes() {
		th := New(p, ANSI16, false, Unicode).In(Err)
		for _, token := range []Token{Run, Line, Planned(Run), Planned(OK), Flow(1), Planned(Flow(1))} {
			if th.Open(token) != th.Open(Dim) {
				t.Errorf("%s: %s is %q", p.Name, token, th.Open(token))
			}
		}
	}
}
