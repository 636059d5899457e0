package themes

// Glyphs is every sign the console draws. Each is one cell wide by grapheme
// width and by wcwidth; no emoji, no private use, no braille.
type Glyphs struct {
	ASCII bool

	// Boxes.
	TopLeft, TopRight, BottomLeft, BottomRight, Horizontal, Vertical, TeeLeft, TeeRight string
	// Rows: cursor and mark stand in column 1, focus in a title, More and Less
	// at an edge that hides columns.
	Cursor, Mark, Focus, Crumb, More, Less, Ellipsis string
	// Bars: the ends are empty in Unicode.
	BarOpen, BarClose, BarFull, BarEmpty, BarNone string
	// Spark runs from low to high, Shade from nothing to full.
	Spark, Shade []string
	// Timelines.
	Tick, Queued, Limiter, HTTP, Backoff, Snoozed, Planned, Now string
	// Text signs.
	Dash, Range, Dot, Up, Down, Next, Sep string
	// Mask stands for each character of a secret.
	Mask string
}

// Unicode is the normal table.
var Unicode = &Glyphs{
	TopLeft: "╭", TopRight: "╮", BottomLeft: "╰", BottomRight: "╯", Horizontal: "─", Vertical: "│", TeeLeft: "├", TeeRight: "┤",
	Cursor: "▌", Mark: "◆", Focus: "▸", Crumb: "▸", More: "›", Less: "‹", Ellipsis: "…",
	BarFull: "█", BarEmpty: "░", BarNone: "·",
	Spark: []string{"▁", "▂", "▃", "▄", "▅", "▆", "▇", "█"}, Shade: []string{" ", "░", "▒", "▓", "█"},
	Tick: "│", Queued: "○", Limiter: "▒", HTTP: "█", Backoff: "·", Snoozed: "≡", Planned: "┊", Now: "▼",
	Dash: "—", Range: "–", Dot: "·", Up: "↑", Down: "↓", Next: "→", Sep: "·", Mask: "•",
}

// Plain is the table of terminals without Unicode, or where ambiguous
// characters take two cells.
var Plain = &Glyphs{
	ASCII:   true,
	TopLeft: "+", TopRight: "+", BottomLeft: "+", BottomRight: "+", Horizontal: "-", Vertical: "|", TeeLeft: "+", TeeRight: "+",
	Cursor: ">", Mark: "#", Focus: ">", Crumb: ">", More: ">", Less: "<", Ellipsis: "~",
	BarOpen: "[", BarClose: "]", BarFull: "#", BarEmpty: "-", BarNone: ".",
	Spark: []string{"0", "1", "2", "3", "4", "5", "6", "7", "8", "9"}, Shade: []string{" ", ".", ":", "*", "#"},
	Tick: "|", Queued: "o", Limiter: ":", HTTP: "#", Backoff: ".", Snoozed: "=", Planned: "!", Now: "v",
	Dash: "-", Range: "-", Dot: ".", Up: "^", Down: "v", Next: ">", Sep: "|", Mask: "*",
}
