package themes

import (
	"strconv"

	"github.com/charmbracelet/x/ansi"
	"github.com/lucasb-eyer/go-colorful"
)

// parse reads "#rrggbb", from the tables of this package or checked before.
func parse(hex string) colorful.Color {
	c, err := colorful.Hex(hex)
	if err != nil {
		panic("themes: bad colour " + hex)
	}
	return c
}

// distance is CIE76, on the usual scale of 0 to 100 for lightness: it is near to what
// people see.
func distance(a, b colorful.Color) float64 { return 100 * a.DistanceCIE76(b) }

// luminance is WCAG 2's: how much light a colour gives off, 0 to 1.
func luminance(c colorful.Color) float64 {
	_, y, _ := c.Xyz()
	return y
}

// contrast is WCAG 2's ratio, 1 to 21.
func contrast(a, b colorful.Color) float64 {
	x, y := luminance(a), luminance(b)
	return (max(x, y) + 0.05) / (min(x, y) + 0.05)
}

// paint returns the parameters of a colour; layer is 38 or 48.
func paint(layer, hex string, profile Profile) look {
	c := parse(hex)
	if profile == ANSI256 {
		return look{layer, "5", strconv.Itoa(int(ansi.Convert256(c)))}
	}
	r, g, b := c.RGB255()
	return look{layer, "2", strconv.Itoa(int(r)), strconv.Itoa(int(g)), strconv.Itoa(int(b))}
}

// states are the colours that must never be taken for each other.
var states = []Token{OK, Run, Wait, Warn, Err}
