package themes

import (
	"math"

	"charm.land/lipgloss/v2"
	"github.com/charmbracelet/x/ansi"
	"github.com/lucasb-eyer/go-colorful"
)

// parse reads "#rrggbb", from the tables of this package or checked before.
func parse(hex string) colorful.Color {
	c, ok := colorful.MakeColor(lipgloss.Color(hex))
	if !ok || len(hex) != len("#rrggbb") {
		panic("themes: bad colour " + hex)
	}
	return c
}

// distance is CIE76, on the usual scale of 0 to 100 for lightness: it is near to what
// people see.
func distance(a, b colorful.Color) float64 { return 100 * a.DistanceCIE76(b) }

// of256 is the colour of 256 that looks most like c: of what the library finds, which takes a dark blue for the grey of
// a bar's track, and the nearest grey.
func of256(c colorful.Color) ansi.IndexedColor {
	const first, last = 232, 255 // of its greys: 8, 18, … 238
	best := ansi.Convert256(c)
	y := lightness(c) / 100
	red, _, _ := colorful.Lab(y, 0, 0).RGB255()
	grey := ansi.IndexedColor(min(first+max(int(red)-3, 0)/10, last))
	a, _ := colorful.MakeColor(best)
	if b, _ := colorful.MakeColor(grey); distance(b, c) < distance(a, c) {
		return grey
	}
	return best
}

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

// lightness is that of CIELAB, 0 to 100: even steps of it look even.
func lightness(c colorful.Color) float64 {
	l, _, _ := c.Lab()
	return 100 * l
}

// leastStep is the distance from which a step of a ramp is seen beside its neighbour.
const leastStep = 6

// rampStops is how many colours a ramp is made of.
const rampStops = 5

// visions are how colours are seen with all cones and without one of them: the matrices
// of Machado, Oliveira, Fernandes 2009, severity 1, on linear light.
var visions = [...]struct {
	name string
	m    [3][3]float64
}{
	{"normal", [3][3]float64{{1, 0, 0}, {0, 1, 0}, {0, 0, 1}}},
	{"protan", [3][3]float64{{0.152286, 1.052583, -0.204868}, {0.114503, 0.786281, 0.099216}, {-0.003882, -0.048116, 1.051998}}},
	{"deutan", [3][3]float64{{0.367322, 0.860646, -0.227968}, {0.280085, 0.672501, 0.047413}, {-0.011820, 0.042940, 0.968881}}},
	{"tritan", [3][3]float64{{1.255528, -0.076749, -0.178779}, {-0.078411, 0.930809, 0.147602}, {0.004733, 0.691367, 0.303900}}},
}

// seen is what becomes of c in one of the visions.
func seen(c colorful.Color, m [3][3]float64) colorful.Color {
	r, g, b := c.LinearRgb()
	var out [3]float64
	for i, row := range m {
		out[i] = min(max(row[0]*r+row[1]*g+row[2]*b, 0), 1)
	}
	return colorful.LinearRgb(out[0], out[1], out[2])
}

// measure returns the least contrast of the palette's state colours on its ground, and
// the least distance of two of them over all visions.
func (p Palette) measure() (faintest, nearest float64) {
	p = p.whole()
	colors, bg := p.colors(), parse(p.Bg)
	faintest, nearest = math.Inf(1), math.Inf(1)
	for _, t := range states {
		faintest = min(faintest, contrast(colors[t], bg))
	}
	for _, v := range visions {
		nearest = min(nearest, apart(func(t Token) colorful.Color { return seen(colors[t], v.m) }))
	}
	return faintest, nearest
}

// apart is the least distance of two state colours.
func apart(at func(Token) colorful.Color) float64 {
	least := math.Inf(1)
	for i, a := range states {
		for _, b := range states[i+1:] {
			least = min(least, distance(at(a), at(b)))
		}
	}
	return least
}
