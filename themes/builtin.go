package themes

// The terminal's own colours that the dark and the light palettes share.
var (
	darkAnsi    = ansiPalette{dim: 7, faint: 8, accent: 12, ok: 10, run: 14, line: 6, retry: 13, warn: 11, err: 9}
	lightAnsi   = ansiPalette{dim: 8, faint: 7, accent: 4, ok: 2, run: 6, line: 6, retry: 5, warn: 3, err: 1, boldWarn: true}
	cbDarkAnsi  = ansiPalette{dim: 7, faint: 8, accent: own, ok: 12, run: 15, line: 7, retry: 13, warn: 11, err: 9}
	cbLightAnsi = ansiPalette{dim: 8, faint: 7, accent: own, ok: 4, run: 0, line: 8, retry: 5, warn: 3, err: 1, boldWarn: true}
)

// palettes were searched so that ok, run, retry, warn and err stay apart under
// normal, protan, deutan and tritan vision; the cb and hc themes follow the
// Okabe-Ito families.
var palettes = []Palette{
	{
		Name: "dark", Dark: true, Bg: "#11151c", Sel: "#24304a",
		text: "#d7dde8", dim: "#8b95a7", accent: "#7aa2f7",
		tick: "#4b5668", hairline: "#2b3442", track: "#222a38", raised: "#171c26",
		ok: "#c4e6a5", run: "#3dcce7", retry: "#ac80ff", warn: "#fccd2e", err: "#ff4d40",
		flow: []string{"#174350", "#1c6478", "#248ba3", "#3dcce7", "#b5f3fc"},
		ansi: darkAnsi, contrast: 5.6, distance: 31.2,
	},
	{
		Name: "light", Bg: "#fafafa", Sel: "#d6e2fb",
		text: "#1f2430", dim: "#5c6370", accent: "#2757c4",
		full: "#0a6c8c",
		ok:   "#1f7357", run: "#242f44", retry: "#8a2be2", warn: "#875e02", err: "#5e0001",
		ansi: lightAnsi, contrast: 5.5, distance: 31,
	},
	{
		Name: "cb-dark", Dark: true, Bg: "#11151c",
		text: "#d7dde8", dim: "#8b95a7", accent: "#d7dde8", full: "#25b0fc",
		ok: "#25b0fc", run: "#eef6f9", retry: "#c673a0", warn: "#fad24f", err: "#e86e4f",
		ansi: cbDarkAnsi, contrast: 5.5, distance: 31,
	},
	{
		Name: "cb-light", Bg: "#fafafa",
		text: "#1f2430", dim: "#5c6370", accent: "#1f2430", full: "#0a60d0",
		ok: "#0a60d0", run: "#070714", retry: "#9c2a7e", warn: "#726700", err: "#4b2001",
		ansi: cbLightAnsi, contrast: 5.5, distance: 31,
	},
	{
		Name: "hc-dark", Dark: true, Bg: "#000000",
		text: "#ffffff", dim: "#c8c8c8", accent: "#ffffff", hairline: "#8a8a8a",
		ok: "#24abfc", run: "#f2fefe", retry: "#ce7ba8", warn: "#fdd844", err: "#ed6e62",
		flow: []string{"#12567e", "#176fa4", "#1d89ca", "#24abfc", "#9adafe"},
		ansi: cbDarkAnsi, contrast: 7.0, distance: 31,
	},
	{
		Name: "hc-light", Bg: "#ffffff",
		text: "#000000", dim: "#333333", accent: "#000000", hairline: "#6a6a6a",
		ok: "#0946de", run: "#5f5359", retry: "#230060", warn: "#8a4706", err: "#360200",
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
}
