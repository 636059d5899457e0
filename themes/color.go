package themes

import (
	"math"
	"strconv"
)

// rgb is a colour in sRGB.
type rgb struct{ r, g, b uint8 }

// parse reads "#rrggbb"; the tables of this package are its only input.
func parse(hex string) rgb {
	n, err := strconv.ParseUint(hex[1:], 16, 32)
	if err != nil || len(hex) != 7 {
		panic("themes: bad colour " + hex)
	}
	return rgb{uint8(n >> 16), uint8(n >> 8), uint8(n)}
}

// lab is a colour in CIE L*a*b* under D65: distances in it (CIE76) are near
// to what people see.
type lab struct{ l, a, b float64 }

// linear returns the light of the three channels, 0 to 1.
func (c rgb) linear() [3]float64 {
	return [3]float64{channel(c.r), channel(c.g), channel(c.b)}
}

func channel(v uint8) float64 {
	c := float64(v) / 255
	if c <= 0.04045 {
		return c / 12.92
	}
	return math.Pow((c+0.055)/1.055, 2.4)
}

// toLab converts linear light.
func toLab(c [3]float64) lab {
	x := (0.4124564*c[0] + 0.3575761*c[1] + 0.1804375*c[2]) / 0.95047
	y := 0.2126729*c[0] + 0.7151522*c[1] + 0.0721750*c[2]
	z := (0.0193339*c[0] + 0.1191920*c[1] + 0.9503041*c[2]) / 1.08883
	fx, fy, fz := labCurve(x), labCurve(y), labCurve(z)
	return lab{116*fy - 16, 500 * (fx - fy), 200 * (fy - fz)}
}

func labCurve(t float64) float64 {
	if t > 216.0/24389 {
		return math.Cbrt(t)
	}
	return (24389.0/27*t + 16) / 116
}

// distance is CIE76.
func (c lab) distance(d lab) float64 {
	return math.Sqrt((c.l-d.l)*(c.l-d.l) + (c.a-d.a)*(c.a-d.a) + (c.b-d.b)*(c.b-d.b))
}

// nearest returns the xterm-256 colour closest to c. The first 16 are left
// out: users redefine them.
func nearest(c rgb) int {
	want := toLab(c.linear())
	best, least := 16, math.Inf(1)
	for n := 16; n < 256; n++ {
		if d := want.distance(toLab(xterm(n).linear())); d < least {
			best, least = n, d
		}
	}
	return best
}

// xterm returns colour n of the 6x6x6 cube or the grey ramp.
func xterm(n int) rgb {
	if n >= 232 {
		v := uint8(8 + 10*(n-232))
		return rgb{v, v, v}
	}
	steps := [6]uint8{0, 95, 135, 175, 215, 255}
	n -= 16
	return rgb{steps[n/36], steps[n/6%6], steps[n%6]}
}

// luminance is WCAG 2's: how much light a colour gives off, 0 to 1.
func luminance(c rgb) float64 {
	v := c.linear()
	return 0.2126*v[0] + 0.7152*v[1] + 0.0722*v[2]
}

// contrast is WCAG 2's ratio.
func contrast(a, b rgb) float64 {
	x, y := luminance(a), luminance(b)
	return (max(x, y) + 0.05) / (min(x, y) + 0.05)
}

// states are the colours that must never be taken for each other.
var states = []Token{OK, Run, Wait, Warn, Err}
