package themes

// Palette is one theme as data. Colours are "#rrggbb".
type Palette struct {
	Name string
	Dark bool
	Bg   string
	// Sel is the background of the selected row; empty means reverse video.
	Sel string

	text, dim, border, accent string
	ok, run, wait, warn, err  string
	ansi                      ansiPalette
	contrast, distance        float64 // the floors that tests hold it to
}

// ansiPalette is the same meaning in the terminal's own 16 colours, written
// out: converting automatically makes one red of warn and err. own = the
// terminal's text colour.
type ansiPalette struct {
	dim, border, accent, ok, run, wait, warn, err int8
	boldWarn                                      bool
}

const own = -1

// Palettes returns the six colour themes, dark and light first.
func Palettes() []Palette { return append([]Palette(nil), palettes...) }

// palettes were searched so that ok, run, wait, warn and err stay apart under
// normal, protan, deutan and tritan vision; the cb themes follow the
// Okabe-Ito families.
var palettes = []Palette{
	{
		Name: "dark", Dark: true, Bg: "#11151c", Sel: "#24304a",
		text: "#d7dde8", dim: "#8b95a7", border: "#5f6b82", accent: "#7aa2f7",
		ok: "#c4e6a5", run: "#3dcce7", wait: "#bb4fed", warn: "#fccd2e", err: "#df573a",
		ansi:     ansiPalette{dim: 7, border: 8, accent: 12, ok: 10, run: 14, wait: 13, warn: 11, err: 9},
		contrast: 4.8, distance: 35,
	},
	{
		Name: "light", Bg: "#fafafa", Sel: "#d6e2fb",
		text: "#1f2430", dim: "#5c6370", border: "#8a93a3", accent: "#2757c4",
		ok: "#22734b", run: "#193b67", wait: "#af01fd", warn: "#6f5112", err: "#4b1404",
		ansi:     ansiPalette{dim: 8, border: 8, accent: 4, ok: 2, run: 6, wait: 5, warn: 3, err: 1, boldWarn: true},
		contrast: 4.7, distance: 22,
	},
	{
		Name: "cb-dark", Dark: true, Bg: "#11151c",
		text: "#d7dde8", dim: "#8b95a7", border: "#5f6b82", accent: "#d7dde8",
		ok: "#4cbef8", run: "#f2f2f2", wait: "#bb6695", warn: "#fec80b", err: "#e86e4f",
		ansi:     ansiPalette{dim: 7, border: 8, accent: own, ok: 12, run: 15, wait: 13, warn: 11, err: 9},
		contrast: 4.7, distance: 31,
	},
	{
		Name: "cb-light", Bg: "#fafafa",
		text: "#1f2430", dim: "#5c6370", border: "#8a93a3", accent: "#1f2430",
		ok: "#0846de", run: "#1a1a1a", wait: "#570364", warn: "#8f6e0a", err: "#6c2209",
		ansi:     ansiPalette{dim: 8, border: 8, accent: own, ok: 4, run: 0, wait: 5, warn: 3, err: 1, boldWarn: true},
		contrast: 4.6, distance: 28,
	},
	{
		Name: "hc-dark", Dark: true, Bg: "#000000",
		text: "#ffffff", dim: "#c8c8c8", border: "#ffffff", accent: "#ffffff",
		ok: "#80b5fc", run: "#ffffff", wait: "#c97ea6", warn: "#f9d33f", err: "#f47f6e",
		ansi:     ansiPalette{dim: 7, border: own, accent: own, ok: 12, run: 15, wait: 13, warn: 11, err: 9},
		contrast: 7.0, distance: 26,
	},
	{
		Name: "hc-light", Bg: "#ffffff",
		text: "#000000", dim: "#333333", border: "#000000", accent: "#000000",
		ok: "#2147c2", run: "#000000", wait: "#590b72", warn: "#705505", err: "#5c0d01",
		ansi:     ansiPalette{dim: 8, border: own, accent: own, ok: 4, run: 0, wait: 5, warn: 3, err: 1, boldWarn: true},
		contrast: 7.0, distance: 22,
	},
}

// cividis in ten steps, from little to much on a dark ground; a light ground
// reads it backwards. Source: Nuñez, Anderton, Renslow, PLOS ONE 2018.
var cividis = [heatSteps]string{
	"#00224e", "#123570", "#3b496c", "#575d6d", "#707173",
	"#8a8678", "#a59c74", "#c3b369", "#e1cc55", "#fee838",
}

// colors returns the foreground of each token.
func (p Palette) colors() [tokenCount]string {
	c := [tokenCount]string{
		Text: p.text, Dim: p.dim, Border: p.border, Focus: p.accent, Accent: p.accent, Sel: p.text,
		OK: p.ok, Run: p.run, Wait: p.wait, Held: p.dim, Warn: p.warn, Err: p.err, Off: p.dim,
	}
	for i := range heatSteps {
		step := i
		if !p.Dark {
			step = heatSteps - 1 - i
		}
		c[int(Heat0)+i] = cividis[step]
	}
	return c
}

// ansiColors returns the 16-colour number of each token. Heat has none: its
// glyphs carry the value.
func (p Palette) ansiColors() [tokenCount]int8 {
	a := p.ansi
	c := [tokenCount]int8{
		Text: own, Dim: a.dim, Border: a.border, Focus: a.accent, Accent: a.accent, Sel: own,
		OK: a.ok, Run: a.run, Wait: a.wait, Held: a.dim, Warn: a.warn, Err: a.err, Off: a.dim,
	}
	for i := range heatSteps {
		c[int(Heat0)+i] = own
	}
	return c
}
