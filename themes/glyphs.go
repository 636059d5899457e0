package themes

import (
	"fmt"
	"strings"
)

// Glyphs is every sign the console draws. Each is one cell wide by grapheme
// width and by wcwidth; no emoji, no private use.
type Glyphs struct {
	ASCII bool

	// Horizontal is the hairline behind a title.
	Horizontal string
	// Rows: cursor and mark stand in column 1, focus in a title, More and Less
	// at an edge that hides columns, Open and Shut before a group.
	Cursor, Mark, Focus, Crumb, More, Less, Open, Shut, Ellipsis string
	// Bars: the ends are empty in Unicode. A full cell leaves the top of its row free:
	// bars that stand in rows below one another stay apart. BarHalf is where one ends
	// within a cell; BarEmpty stands where no colour shows the rest of it.
	BarOpen, BarClose, BarFull, BarHalf, BarEmpty, BarNone string
	// Eighths are what a bar that is alone on its rows ends in, from an eighth of a
	// cell to a full one.
	Eighths []string
	// Spark runs from low to high, Shade from nothing to full. Ground is a height of
	// nothing in a row of heights.
	Spark, Shade []string
	Ground       string
	// Plan runs from low to high: the heights of what has not happened yet. Ahead
	// leads to an instant to come, Waited from one that has been.
	Plan          []string
	Ahead, Waited string
	// Seam is the column of now and Reset the start of a window where no ground and
	// no shade shows them; Below and Above tick an axis.
	Seam, Reset, Below, Above string
	// Cell is one thing of many, as a match on a wall or an entry of a legend; Hollow is
	// one that was there before.
	Cell, Hollow string
	// Of a job's tries: one that was sent back, one that may never be.
	Snoozed, Planned string
	// Hatch fills what is free of the row of a state in which somebody stopped something.
	Hatch string
	// Text signs.
	Dash, Minus, Range, Dot, Up, Down, Next, Sep string
	// Mask stands for each character of a secret.
	Mask string
}

// Bar is a bar of w cells of which n are full, between its ends, for output without
// colour.
func (g *Glyphs) Bar(n, w int) string {
	n = min(max(n, 0), w)
	return g.BarOpen + strings.Repeat(g.Cell, n) + strings.Repeat(g.BarEmpty, w-n) + g.BarClose
}

// GlyphsOf is the plain table, or the normal one.
func GlyphsOf(ascii bool) *Glyphs {
	if ascii {
		return Plain
	}
	return Unicode
}

// tables are what --glyphs takes, beside auto.
var tables = []struct {
	name string
	g    *Glyphs
}{{"unicode", Unicode}, {"blocks", Blocks}, {"ascii", Plain}}

// GlyphNames lists what --glyphs takes, auto first.
func GlyphNames() []string {
	names := []string{"auto"}
	for _, t := range tables {
		names = append(names, t.name)
	}
	return names
}

// ChooseGlyphs returns the table of a name; with none, or auto, the one that the
// terminal of this environment can show.
func ChooseGlyphs(name string, getenv func(string) string) (*Glyphs, error) {
	if name == "" || name == "auto" {
		switch {
		case getenv == nil:
		case DetectASCII(getenv):
			return Plain, nil
		case detectBlocks(getenv):
			return Blocks, nil
		}
		return Unicode, nil
	}
	for _, t := range tables {
		if t.name == name {
			return t.g, nil
		}
	}
	return nil, fmt.Errorf("--glyphs is %q: use %s", name, orList(GlyphNames()))
}

// orList is "a, b or c".
func orList(words []string) string {
	last := len(words) - 1
	return strings.Join(words[:last], ", ") + " or " + words[last]
}

var heights = []string{"▁", "▂", "▃", "▄", "▅", "▆", "▇", "█"}

// Unicode is the normal table.
var Unicode = &Glyphs{
	Horizontal: "─",
	Cursor:     "▌", Mark: "◆", Focus: "▸", Crumb: "▸", More: "›", Less: "‹", Open: "▾", Shut: "▸", Ellipsis: "…",
	BarFull: "▄", BarHalf: "▖", BarEmpty: "·", BarNone: "·",
	Eighths: []string{"▏", "▎", "▍", "▌", "▋", "▊", "▉", "█"},
	Spark:   heights, Ground: heights[0], Shade: []string{" ", "░", "▒", "▓", "█"},
	Plan: []string{"⣀", "⣤", "⣶", "⣿"}, Ahead: "⠤", Waited: "╌", Seam: "│", Reset: "▏", Below: "╷", Above: "╵", Cell: "■", Hollow: "□",
	Snoozed: "≡", Planned: "┊", Hatch: "╱",
	Dash: "—", Minus: "−", Range: "–", Dot: "·", Up: "↑", Down: "↓", Next: "→", Sep: "·", Mask: "•",
}

// Blocks is the normal table for fonts that have no braille.
var Blocks = func() *Glyphs {
	g := *Unicode
	g.Plan, g.Ahead = []string{"░"}, "┄"
	return &g
}()

// Plain is the table of terminals without Unicode, or where ambiguous
// characters take two cells.
var Plain = &Glyphs{
	ASCII:      true,
	Horizontal: "-",
	Cursor:     ">", Mark: "#", Focus: ">", Crumb: ">", More: ">", Less: "<", Open: "v", Shut: ">", Ellipsis: "~",
	BarOpen: "[", BarClose: "]", BarFull: "#", BarHalf: "#", BarEmpty: "-", BarNone: ".",
	Eighths: []string{"#"},
	Spark:   []string{".", ":", "-", "=", "+", "*", "#"}, Ground: "_", Shade: []string{" ", ".", ":", "*", "#"},
	Plan: []string{":"}, Ahead: ".", Waited: "-", Seam: "|", Reset: "'", Below: "'", Above: "'", Cell: "#", Hollow: ":",
	Snoozed: "=", Planned: "!", Hatch: "/",
	Dash: "-", Minus: "-", Range: "-", Dot: ".", Up: "^", Down: "v", Next: ">", Sep: "|", Mask: "*",
}
