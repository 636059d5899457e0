package themes

import "strings"

// Glyphs is every sign the console draws. Each is one cell wide by grapheme
// width and by wcwidth; no emoji, no private use, no braille.
type Glyphs struct {
	ASCII bool

	// Boxes.
	TopLeft, TopRight, BottomLeft, BottomRight, Horizontal, Vertical, TeeLeft, TeeRight string
	// Rows: cursor and mark stand in column 1, focus in a title, More and Less
	// at an edge that hides columns.
	Cursor, Mark, Focus, Crumb, More, Less, Ellipsis string
	// Bars: the ends are empty in Unicode. A full cell leaves the top of its row free:
	// bars that stand in rows below one another stay apart.
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

// Bar is a bar of w cells of which n are full, between its ends.
func (g *Glyphs) Bar(n, w int) string {
	n = min(max(n, 0), w)
	return g.BarOpen + strings.Repeat(g.BarFull, n) + strings.Repeat(g.BarEmpty, w-n) + g.BarClose
}

// GlyphsOf is the plain table, or the normal one.
func GlyphsOf(ascii bool) *Glyphs {
	if ascii {
		return Plain
	}
	return Unicode
}

// Unicode is the normal table.
var Unicode = &Glyphs{
	TopLeft: "╭", TopRight: "╮", BottomLeft: "╰", BottomRight: "╯", Horizontal: "─", Vertical: "│", TeeLeft: "├", TeeRight: "┤",
	Cursor: "▌", Mark: "◆", Focus: "▸", Crumb: "▸", More: "›", Less: "‹", Ellipsis: "…",
	BarFull: "■", BarEmpty: "·", BarNone: "·",
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
