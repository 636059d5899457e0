package themes

// The terminal's own colours that the dark and the light palettes share.
var (
	darkAnsi    = ansiPalette{dim: 7, faint: 8, accent: 12, ok: 10, run: 14, line: 6, retry: 13, warn: 11, err: 9}
	lightAnsi   = ansiPalette{dim: 8, faint: 7, accent: 4, ok: 2, run: 6, line: 6, retry: 5, warn: 3, err: 1, boldWarn: true}
	cbDarkAnsi  = ansiPalette{dim: 7, faint: 8, accent: own, ok: 12, run: 15, line: 6, retry: 13, warn: 11, err: 9}
	cbLightAnsi = ansiPalette{dim: 8, faint: 7, accent: own, ok: 4, run: 0, line: 6, retry: 5, warn: 3, err: 1, boldWarn: true}
)

// dark is the palette for those of which the colours meet in 256 as well.
var dark = Palette{
	Name: "dark", Dark: true, Bg: "#11151c", Sel: "#24304a",
	text: "#d7dde8", dim: "#8b95a7", accent: "#7aa2f7",
	tick: "#4b5668", hairline: "#2b3442", track: "#222a38", raised: "#171c26",
	ok: "#c4e6a5", run: "#3dcce7", retry: "#ac80ff", warn: "#fccd2e", err: "#ff4d40",
	flow: []string{"#174350", "#1c6478", "#248ba3", "#3dcce7", "#b5f3fc"},
	ansi: darkAnsi, contrast: 5.6, distance: 31.2,
}

// lightIn256 is the light palette with state colours that stay apart in 256.
var lightIn256 = Palette{
	Bg: "#fafafa", Sel: "#d6e2fb",
	text: "#1f2430", dim: "#5c6370", accent: "#2757c4", full: "#0a6c8c",
	ok: "#1f7357", run: "#242f44", retry: "#8a2be2", warn: "#875e02", err: "#5e0001",
	ansi: lightAnsi,
}

// palettes were searched so that ok, run, retry, warn and err stay apart under
// normal, protan, deutan and tritan vision; the cb and hc themes follow the
// Okabe-Ito families.
var palettes = []Palette{
	dark,
	{
		Name: "light", Bg: "#fafafa", Sel: "#d6e2fb",
		text: "#1f2430", dim: "#5c6370", accent: "#2757c4",
		full: "#0a6c8c", in256: &lightIn256,
		ok: "#052f00", run: "#016c9c", retry: "#8a2be2", warn: "#8b5b01", err: "#b23a56",
		ansi: lightAnsi, contrast: 5.5, distance: 31,
	},
	{
		Name: "cb-dark", Dark: true, Bg: "#11151c",
		text: "#d7dde8", dim: "#8b95a7", accent: "#d7dde8", full: "#25b0fc",
		ok: "#25b0fc", run: "#eef6f9", retry: "#c673a0", warn: "#fad24f", err: "#e86e4f", line: "#6fa8d8",
		ansi: cbDarkAnsi, contrast: 5.5, distance: 31,
	},
	{
		Name: "cb-light", Bg: "#fafafa",
		text: "#1f2430", dim: "#5c6370", accent: "#1f2430", full: "#0a60d0",
		ok: "#0a60d0", run: "#070714", retry: "#9c2a7e", warn: "#726700", err: "#4b2001", line: "#2f6299",
		ansi: cbLightAnsi, contrast: 5.5, distance: 31,
	},
	{
		Name: "hc-dark", Dark: true, Bg: "#000000",
		text: "#ffffff", dim: "#c8c8c8", accent: "#ffffff", hairline: "#8a8a8a", raised: "#101010",
		ok: "#24abfc", run: "#f2fefe", retry: "#ce7ba8", warn: "#fdd844", err: "#ed6e62", line: "#7cbcf0",
		flow: []string{"#12567e", "#176fa4", "#1d89ca", "#24abfc", "#9adafe"},
		ansi: cbDarkAnsi, contrast: 7.0, distance: 31,
	},
	{
		Name: "hc-light", Bg: "#ffffff",
		text: "#000000", dim: "#333333", accent: "#000000", hairline: "#6a6a6a", raised: "#f4f4f4",
		ok: "#0946de", run: "#5f5359", retry: "#230060", warn: "#8a4706", err: "#360200", line: "#17507f",
		flow: []string{"#84a2ee", "#5f86ea", "#3a6be5", "#0946de", "#04206a"},
		ansi: cbLightAnsi, contrast: 7.0, distance: 31,
	},
	{
		Name: "solarized-dark", Dark: true, Bg: "#002b36", Sel: "#0d4250",
		text: "#b8c4c4", dim: "#93a1a1", accent: "#5fb0ea", figure: "#fdf6e3",
		ok: "#ecf980", run: "#42c3c6", retry: "#9394ed", warn: "#c49601", err: "#fe706b",
		ansi: darkAnsi, contrast: 5.5, distance: 31,
	},
	{
		Name: "solarized-light", Bg: "#fdf6e3", Sel: "#e6dfc8",
		text: "#3f5258", dim: "#586e75", accent: "#1a6fb0", figure: "#002b36",
		full: "#0267ac",
		ok:   "#267057", run: "#01234d", retry: "#7040b5", warn: "#835d00", err: "#5c0000",
		ansi: lightAnsi, contrast: 5.5, distance: 31,
	},
	{
		Name: "catppuccin", Dark: true, Bg: "#1e1e2e", Sel: "#3a3c50",
		text: "#cdd6f4", dim: "#a6adc8", accent: "#89b4fa",
		ok: "#80b84e", run: "#8fecf7", retry: "#af88e0", warn: "#ffebbb", err: "#d8818b",
		ansi: darkAnsi, contrast: 5.8, distance: 31,
	},
	{
		Name: "gruvbox", Dark: true, Bg: "#282828", Sel: "#45403d",
		text: "#ebdbb2", dim: "#b3a594", accent: "#8ec07c", figure: "#fbf1c7",
		ok: "#d4ffac", run: "#79a7a2", retry: "#b68ce2", warn: "#ffc113", err: "#ff744c",
		ansi: darkAnsi, contrast: 5.5, distance: 31,
	},
	{
		Name: "nord", Dark: true, Bg: "#2e3440", Sel: "#434c5e",
		text: "#e5e9f0", dim: "#aab4c6", accent: "#8fbcdb",
		ok: "#e8fcc3", run: "#aae1e7", retry: "#b1a4e3", warn: "#e0bd74", err: "#f39098",
		ansi: darkAnsi, contrast: 5.5, distance: 24, in256: &dark,
	},
	{
		Name: "tokyo-night", Dark: true, Bg: "#1a1b26", Sel: "#2f3549",
		text: "#c0caf5", dim: "#9099bd", accent: "#7aa2f7",
		ok: "#c7fb98", run: "#7cd0ff", retry: "#8787fa", warn: "#ba8c39", err: "#f67689",
		ansi: darkAnsi, contrast: 5.6, distance: 31,
	},
	{
		Name: "dracula", Dark: true, Bg: "#282a36", Sel: "#44475a",
		text: "#f8f8f2", dim: "#a7aecb", accent: "#ff79c6",
		ok: "#04bb19", run: "#b5f2ff", retry: "#b48ef4", warn: "#ffee91", err: "#ff7581",
		ansi: darkAnsi, contrast: 5.5, distance: 31,
	},
	{
		Name: "rose-pine", Dark: true, Bg: "#191724", Sel: "#33304a",
		text: "#e0def4", dim: "#9a95b5", accent: "#ebbcba",
		ok: "#f2fdd2", run: "#9ad5df", retry: "#9f8fe0", warn: "#f4bf72", err: "#e46a7d",
		ansi: darkAnsi, contrast: 5.6, distance: 31,
	},
}
