package themes

// The terminal's own colours that the dark and the light palettes share.
var (
	darkAnsi    = ansiPalette{dim: 7, faint: 8, accent: 12, ok: 10, run: 14, line: 6, retry: 13, warn: 11, err: 9}
	lightAnsi   = ansiPalette{dim: 8, faint: 7, accent: 4, ok: 2, run: 6, line: 4, retry: 5, warn: 3, err: 1, boldWarn: true}
	cbDarkAnsi  = ansiPalette{dim: 7, faint: 8, accent: own, ok: 12, run: 15, line: 6, retry: 13, warn: 11, err: 9}
	cbLightAnsi = ansiPalette{dim: 8, faint: 7, accent: own, ok: 4, run: 0, line: 6, retry: 5, warn: 3, err: 1, boldWarn: true}
)

// dark is the palette for those of which the colours meet in 256 as well.
var dark = Palette{
	Name: "dark", Dark: true, Bg: "#11151c", Sel: "#24304a",
	Text: "#d7dde8", Dim: "#8b95a7", Accent: "#7aa2f7",
	Tick: "#4b5668", Hairline: "#2b3442", Track: "#222a38", Raised: "#171c26",
	OK: "#c4e6a5", Run: "#3dcce7", Retry: "#ac80ff", Warn: "#fccd2e", Err: "#ff4d40",
	Flow: []string{"#174350", "#1c6478", "#248ba3", "#3dcce7", "#b5f3fc"},
	ansi: darkAnsi, contrast: 5.6, distance: 31.2,
}

// lightIn256 is the light palette with state colours that stay apart in 256.
var lightIn256 = Palette{
	Bg: "#fafafa", Sel: "#d6e2fb",
	Text: "#1f2430", Dim: "#5c6370", Accent: "#2757c4", full: "#0a6c8c",
	OK: "#1f7357", Run: "#242f44", Retry: "#8a2be2", Warn: "#875e02", Err: "#5e0001",
	ansi: lightAnsi,
}

// palettes were searched so that ok, run, retry, warn and err stay apart under
// normal, protan, deutan and tritan vision; the cb and hc themes follow the
// Okabe-Ito families.
var palettes = []Palette{
	dark,
	{
		Name: "light", Bg: "#fafafa", Sel: "#d6e2fb",
		Text: "#1f2430", Dim: "#5c6370", Accent: "#2757c4",
		full: "#0a6c8c", in256: &lightIn256,
		OK: "#052f00", Run: "#016c9c", Retry: "#8a2be2", Warn: "#8b5b01", Err: "#b23a56",
		ansi: lightAnsi, contrast: 5.5, distance: 31,
	},
	{
		Name: "cb-dark", Dark: true, Bg: "#11151c",
		Text: "#d7dde8", Dim: "#8b95a7", Accent: "#d7dde8", full: "#25b0fc",
		OK: "#25b0fc", Run: "#eef6f9", Retry: "#c673a0", Warn: "#fad24f", Err: "#e86e4f", Line: "#6fa8d8",
		ansi: cbDarkAnsi, contrast: 5.5, distance: 31,
	},
	{
		Name: "cb-light", Bg: "#fafafa",
		Text: "#1f2430", Dim: "#5c6370", Accent: "#1f2430", full: "#0a60d0",
		OK: "#0a60d0", Run: "#070714", Retry: "#9c2a7e", Warn: "#726700", Err: "#4b2001", Line: "#2f6299",
		ansi: cbLightAnsi, contrast: 5.5, distance: 31,
	},
	{
		Name: "hc-dark", Dark: true, Bg: "#000000",
		Text: "#ffffff", Dim: "#c8c8c8", Accent: "#ffffff", Hairline: "#8a8a8a", Raised: "#101010",
		OK: "#24abfc", Run: "#f2fefe", Retry: "#ce7ba8", Warn: "#fdd844", Err: "#ed6e62", Line: "#7cbcf0",
		Flow: []string{"#12567e", "#176fa4", "#1d89ca", "#24abfc", "#9adafe"},
		ansi: cbDarkAnsi, contrast: 7.0, distance: 31,
	},
	{
		Name: "hc-light", Bg: "#ffffff",
		Text: "#000000", Dim: "#333333", Accent: "#000000", Hairline: "#6a6a6a", Raised: "#f4f4f4",
		OK: "#0946de", Run: "#5f5359", Retry: "#230060", Warn: "#8a4706", Err: "#360200", Line: "#17507f",
		Flow: []string{"#84a2ee", "#5f86ea", "#3a6be5", "#0946de", "#04206a"},
		ansi: cbLightAnsi, contrast: 7.0, distance: 31,
	},
	{
		Name: "solarized-dark", Dark: true, Bg: "#002b36", Sel: "#0d4250",
		Text: "#b8c4c4", Dim: "#93a1a1", Accent: "#5fb0ea", Figure: "#fdf6e3",
		OK: "#ecf980", Run: "#42c3c6", Retry: "#9394ed", Warn: "#c49601", Err: "#fe706b",
		ansi: darkAnsi, contrast: 5.5, distance: 31,
	},
	{
		Name: "solarized-light", Bg: "#fdf6e3", Sel: "#e6dfc8",
		Text: "#3f5258", Dim: "#586e75", Accent: "#1a6fb0", Figure: "#002b36",
		full: "#0267ac",
		OK:   "#267057", Run: "#01234d", Retry: "#7040b5", Warn: "#835d00", Err: "#5c0000",
		ansi: lightAnsi, contrast: 5.5, distance: 31,
	},
	{
		Name: "catppuccin", Dark: true, Bg: "#1e1e2e", Sel: "#3a3c50",
		Text: "#cdd6f4", Dim: "#a6adc8", Accent: "#89b4fa",
		OK: "#80b84e", Run: "#8fecf7", Retry: "#af88e0", Warn: "#ffebbb", Err: "#d8818b",
		ansi: darkAnsi, contrast: 5.8, distance: 31,
	},
	{
		Name: "gruvbox", Dark: true, Bg: "#282828", Sel: "#45403d",
		Text: "#ebdbb2", Dim: "#b3a594", Accent: "#8ec07c", Figure: "#fbf1c7",
		OK: "#d4ffac", Run: "#79a7a2", Retry: "#b68ce2", Warn: "#ffc113", Err: "#ff744c",
		ansi: darkAnsi, contrast: 5.5, distance: 31,
	},
	{
		Name: "nord", Dark: true, Bg: "#2e3440", Sel: "#434c5e",
		Text: "#e5e9f0", Dim: "#aab4c6", Accent: "#8fbcdb",
		OK: "#e8fcc3", Run: "#aae1e7", Retry: "#b1a4e3", Warn: "#e0bd74", Err: "#f39098",
		ansi: darkAnsi, contrast: 5.5, distance: 24, in256: &dark,
	},
	{
		Name: "tokyo-night", Dark: true, Bg: "#1a1b26", Sel: "#2f3549",
		Text: "#c0caf5", Dim: "#9099bd", Accent: "#7aa2f7",
		OK: "#c7fb98", Run: "#7cd0ff", Retry: "#8787fa", Warn: "#ba8c39", Err: "#f67689",
		ansi: darkAnsi, contrast: 5.6, distance: 31,
	},
	{
		Name: "dracula", Dark: true, Bg: "#282a36", Sel: "#44475a",
		Text: "#f8f8f2", Dim: "#a7aecb", Accent: "#ff79c6",
		OK: "#04bb19", Run: "#b5f2ff", Retry: "#b48ef4", Warn: "#ffee91", Err: "#ff7581",
		ansi: darkAnsi, contrast: 5.5, distance: 31,
	},
	{
		Name: "rose-pine", Dark: true, Bg: "#191724", Sel: "#33304a",
		Text: "#e0def4", Dim: "#9a95b5", Accent: "#ebbcba",
		OK: "#f2fdd2", Run: "#9ad5df", Retry: "#9f8fe0", Warn: "#f4bf72", Err: "#e46a7d",
		ansi: darkAnsi, contrast: 5.6, distance: 31,
	},
}
