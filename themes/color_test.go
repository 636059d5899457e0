package themes

import (
	"math"
	"testing"

	"github.com/charmbracelet/x/ansi"
	"github.com/lucasb-eyer/go-colorful"
)

// visions are the matrices of Machado, Oliveira, Fernandes 2009, severity 1,
// on linear light.
var visions = map[string][3][3]float64{
	"normal": {{1, 0, 0}, {0, 1, 0}, {0, 0, 1}},
	"protan": {{0.152286, 1.052583, -0.204868}, {0.114503, 0.786281, 0.099216}, {-0.003882, -0.048116, 1.051998}},
	"deutan": {{0.367322, 0.860646, -0.227968}, {0.280085, 0.672501, 0.047413}, {-0.011820, 0.042940, 0.968881}},
	"tritan": {{1.255528, -0.076749, -0.178779}, {-0.078411, 0.930809, 0.147602}, {0.004733, 0.691367, 0.303900}},
}

func see(c colorful.Color, m [3][3]float64) colorful.Color {
	r, g, b := c.LinearRgb()
	var out [3]float64
	for i, row := range m {
		out[i] = min(max(row[0]*r+row[1]*g+row[2]*b, 0), 1)
	}
	return colorful.LinearRgb(out[0], out[1], out[2])
}

func TestContrastOfEveryTheme(t *testing.T) {
	for _, p := range Palettes() {
		bg, colors := parse(p.Bg), p.colors()
		for _, token := range append(states, Text, Dim, Held, Off, Focus, Accent) {
			if got := contrast(parse(colors[token]), bg); got < p.contrast-0.05 {
				t.Errorf("%s %v: contrast %.2f, want %.1f", p.Name, token, got, p.contrast)
			}
		}
		// Lines and the selected row are shapes: WCAG asks 3:1 of those that
		// carry meaning; our lines do not, the selection has a sign as well.
		if got := contrast(parse(colors[Border]), bg); got < 2.9 {
			t.Errorf("%s border: contrast %.2f", p.Name, got)
		}
		for _, token := range states {
			if p.Sel != "" && contrast(parse(colors[token]), parse(p.Sel)) < 3.4 {
				t.Errorf("%s %v on the selected row: contrast %.2f", p.Name, token, contrast(parse(colors[token]), parse(p.Sel)))
			}
		}
	}
}

// rounding is what the specification's table was rounded by, and a little for
// the white point it used.
const rounding = 0.55

func TestStatesStayApartForEveryVision(t *testing.T) {
	for _, p := range Palettes() {
		for name, m := range visions {
			if got := closest(p, func(token Token) colorful.Color { return see(parse(p.colors()[token]), m) }); got < p.distance-rounding {
				t.Errorf("%s, %s: distance %.1f, want %.0f", p.Name, name, got, p.distance)
			}
		}
	}
}

func TestTextIsReadableIn256Colours(t *testing.T) {
	for _, p := range Palettes() {
		bg, colors := in256(parse(p.Bg)), p.colors()
		for _, token := range append(states, Text, Dim, Accent) {
			if got := contrast(in256(parse(colors[token])), bg); got < 4.2 {
				t.Errorf("%s %v: contrast %.2f in 256 colours", p.Name, token, got)
			}
		}
	}
}

func TestStatesStayApartIn256Colours(t *testing.T) {
	for _, p := range Palettes() {
		for name, m := range visions {
			got := closest(p, func(token Token) colorful.Color { return see(in256(parse(p.colors()[token])), m) })
			if got < 15 {
				t.Errorf("%s, %s: distance %.1f in 256 colours", p.Name, name, got)
			}
		}
	}
}

// in256 is what a terminal of 256 colours shows for c.
func in256(c colorful.Color) colorful.Color {
	shown, _ := colorful.MakeColor(ansi.Convert256(c))
	return shown
}

func closest(p Palette, at func(Token) colorful.Color) float64 {
	least := math.Inf(1)
	for i, a := range states {
		for _, b := range states[i+1:] {
			least = min(least, distance(at(a), at(b)))
		}
	}
	return least
}

func TestSixteenColoursAreDistinct(t *testing.T) {
	for _, p := range Palettes() {
		seen := map[int8]Token{}
		for _, token := range states {
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
		for i := 1; i < heatSteps; i++ {
			a, b := luminance(parse(p.colors()[int(Heat0)+i-1])), luminance(parse(p.colors()[int(Heat0)+i]))
			if b > a != p.Dark {
				t.Errorf("%s: heat %d does not stand out more than %d", p.Name, i, i-1)
			}
		}
	}
}
