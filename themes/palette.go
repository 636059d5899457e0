package themes

import (
	"github.com/lucasb-eyer/go-colorful"
)

// Palette is one theme as data. Colours are "#rrggbb"; those marked with "derived" may
// be absent. A user's theme names them in its file as the fields are called.
type Palette struct {
	Name string `toml:"-"`
	Dark bool   `toml:"-"`
	Bg   string
	// Sel is the background of the selected row; empty means reverse video.
	Sel string

	Text, Dim                 string
	Accent                    string // a user's theme: empty = text
	Figure                    string // the brightest text; derived
	Tick, Hairline            string // marks and lines that are no text; derived
	Track, Raised             string // the rest of a bar, the row of tabs; derived
	OK, Run, Retry, Warn, Err string
	Line                      string   // waits in line; derived
	Flow                      []string // five stops of the ramp from a little to full; derived from full
	full                      string   // the hue of the ramp; derived from run
	ansi                      ansiPalette
	// in256 has other colours for a terminal of 256, where converted ones would meet.
	in256              *Palette
	contrast, distance float64 // what its state colours reach, see Short
}

// ansiPalette is the same meaning in the terminal's own 16 colours, written
// out: converting automatically makes one red of warn and err. own = the
// terminal's text colour.
type ansiPalette struct {
	dim, accent, ok, run, retry, warn, err int8
	line, faint                            int8 // in line and planned; ticks, lines and tracks
	boldWarn                               bool
}

const own = -1

// What the state colours of a theme should reach: the contrast of the faintest of them on
// the ground (WCAG 2), and the distance of the two nearest (CIE76), seen by people with
// usual vision and without one of the three cones.
const (
	wantContrast = 5.5
	wantDistance = 31
)

// Short says what the palette's state colours cannot do, "" where they pass. Those of a user's theme are measured when it is read.
func (p Palette) Short() string {
	switch {
	case p.contrast < wantContrast:
		return "faint colours"
	case p.distance < wantDistance:
		return "similar colours"
	}
	return ""
}

// Palettes returns the colour themes, dark and light first.
func Palettes() []Palette { return append([]Palette(nil), palettes...) }

// whole returns the palette with every colour that it leaves to be derived.
func (p Palette) whole() Palette {
	bg, text := parse(p.Bg), parse(p.Text)
	derive := func(field *string, c colorful.Color) {
		if *field == "" {
			*field = c.Hex()
		}
	}
	edge := colorful.Color{R: 1, G: 1, B: 1}
	if !p.Dark {
		edge = colorful.Color{}
	}
	derive(&p.Figure, edge)
	derive(&p.Tick, bg.BlendRgb(parse(p.Dim), 0.5))
	derive(&p.Hairline, bg.BlendRgb(text, 0.14))
	derive(&p.Track, bg.BlendRgb(text, 0.09))
	derive(&p.Raised, bg.BlendRgb(text, 0.03))
	derive(&p.Line, text.BlendRgb(parse(p.Run), 0.5))
	derive(&p.full, parse(p.Run))
	if p.Flow == nil {
		full := parse(p.full)
		for _, share := range [...]float64{0.32, 0.5, 0.7, 1} {
			p.Flow = append(p.Flow, bg.BlendRgb(full, share).Hex())
		}
		p.Flow = append(p.Flow, full.BlendRgb(edge, 0.55).Hex())
	}
	return p
}

// floor is the contrast below which no text is mixed over its ground.
func (p Palette) floor() float64 {
	if p.contrast > highFloor {
		return highFloor
	}
	return fadeFloor
}

// How far a tone is mixed over the ground: every second stripe of what happened, what is
// planned in both stripes, and the states' own plans.
const (
	oddMix     = 0.16
	plannedMix = 0.05
	oddPlanMix = 0.4
	softMix    = 0.4
	seamLight  = 0.16 // of the column of now
	liveLight  = 0.14 // of the row of the state; of an engine that stands, and its column of now
	stateLight = 0.34
	stateSeam  = 0.5
)

// colors returns the foreground of each token of a whole palette.
func (p Palette) colors() [tokens]colorful.Color {
	var c [tokens]colorful.Color
	for t, hex := range [...]string{
		Text: p.Text, Figure: p.Figure, Dim: p.Dim, Tick: p.Tick, Hairline: p.Hairline, Track: p.Track,
		Focus: p.Accent, Accent: p.Accent, Sel: p.Text,
		OK: p.OK, Run: p.Run, Retry: p.Retry, Warn: p.Warn, Err: p.Err, Line: p.Line, Held: p.Dim, Off: p.Dim,
	} {
		c[t] = parse(hex)
	}
	bg := parse(p.Bg)
	for _, t := range states {
		c[Planned(t)] = p.faded(c[t], bg, softMix) // the number of what is planned, too
	}
	for i := range steps {
		at := flow0 + Token(i)
		tone := p.ramp(float64(i) / (steps - 1))
		c[at], c[Odd(at)] = tone, tone.BlendRgb(bg, oddMix)
		c[Planned(at)], c[Odd(Planned(at))] = tone.BlendRgb(bg, plannedMix), tone.BlendRgb(bg, oddPlanMix)
	}
	for i := range heatSteps {
		hex := cividis[i]
		if !p.Dark {
			hex = sand[i]
		}
		c[Heat0+Token(i)] = parse(hex)
	}
	return c
}

// ramp is the colour between the five stops at a ratio of 0 to 1.
func (p Palette) ramp(ratio float64) colorful.Color {
	at := ratio * float64(len(p.Flow)-1)
	i := min(int(at), len(p.Flow)-2)
	return parse(p.Flow[i]).BlendRgb(parse(p.Flow[i+1]), at-float64(i))
}

// cividis in ten steps, from little to much on a dark ground. Source: Nuñez, Anderton,
// Renslow, PLOS ONE 2018; the two lowest are lighter, to be seen on a dark ground.
var cividis = [heatSteps]string{
	"#1a2a4a", "#24365c", "#3b496c", "#575d6d", "#707173",
	"#8a8678", "#a59c74", "#c3b369", "#e1cc55", "#fee838",
}

// sand is its counterpart on a light ground, where its yellow would make the least stand
// out: from pale to its deep blue.
var sand = [heatSteps]string{
	"#ece7d6", "#ddd6bc", "#ccc3a0", "#b3aa88", "#97917c",
	"#7d7c78", "#646974", "#4b5670", "#334468", "#1a2a4a",
}

// ansiColors returns the 16-colour number of each token. There are no ramps: what
// happened is the colour of run, what is planned that of the line; heat has none, its
// glyphs carry the value.
func (p Palette) ansiColors() [tokens]int8 {
	a := p.ansi
	var c [tokens]int8
	for t := range c {
		switch at := Token(t); {
		case at >= Heat0:
			c[t] = own
		case at >= plan0:
			c[t] = a.line
		case at >= flow0:
			c[t] = a.run
		}
	}
	copy(c[:], []int8{
		Text: own, Figure: own, Dim: a.dim, Tick: a.faint, Hairline: a.faint, Track: a.faint,
		Focus: a.accent, Accent: a.accent, Sel: own,
		OK: a.ok, Run: a.run, Retry: a.retry, Warn: a.warn, Err: a.err, Line: a.line, Held: a.dim, Off: a.dim,
		soft: a.ok, soft + 1: a.line, soft + 2: a.retry, soft + 3: a.warn, soft + 4: a.err,
	})
	return c
}
