package themes

import (
	"strconv"

	"github.com/charmbracelet/x/ansi"
	"github.com/lucasb-eyer/go-colorful"
)

// look is what one token does to a cell: SGR parameters in order, each after a
// semicolon.
type look string

func (l look) sgr() string { return "\x1b[0" + string(l) + "m" }

// Attributes that carry meaning beside colour, in every profile.
const (
	bold      look = ";1"
	underline look = ";4"
	reverse   look = ";7"
)

// monoLooks uses bold, underline and reverse only: faint is unreadable on
// many terminals.
var monoLooks = [tokens]look{
	Figure: bold, Focus: bold, Accent: bold, Sel: reverse, Run: bold, Held: bold, Warn: bold, Err: bold + underline,
}

// The layers of a terminal of 16 colours that stand out: by the terminal's own greys.
const (
	brightBlackGround look = ";100"
	whiteGround       look = ";47"
)

// painter makes one palette's sequences for one terminal.
type painter struct {
	Palette
	th     *Theme
	colors [tokens]colorful.Color
	ansi   [tokens]int8
	ground [layers]colorful.Color
}

// New makes the palette ready for a terminal. painted draws the palette's
// background under everything; it needs 256 colours or more.
func New(p Palette, profile Profile, painted bool, g *Glyphs) *Theme {
	th := &Theme{Name: p.Name, Profile: profile, Painted: painted && profile >= ANSI256, Glyphs: g}
	if p.in256 != nil && profile == ANSI256 {
		p = *p.in256
	}
	p = p.whole()
	b := painter{Palette: p, th: th, colors: p.colors(), ansi: p.ansiColors(), ground: p.grounds()}
	for l := range th.open {
		back := b.back(Layer(l))
		for t := range th.open[l] {
			th.open[l][t] = b.look(Token(t), Layer(l), back).sgr()
		}
	}
	th.finish()
	return th
}

// NewMono returns the theme without any colour.
func NewMono(g *Glyphs) *Theme {
	th := &Theme{Name: "mono", Profile: Mono, Glyphs: g}
	for l := range th.open {
		for t, look := range monoLooks {
			th.open[l][t] = look.sgr()
		}
	}
	for t := range th.open[OnSel] {
		th.open[OnSel][t] = reverse.sgr()
	}
	th.finish()
	return th
}

// finish settles plain text and the selection token.
func (th *Theme) finish() {
	th.base = th.open[OnPlain][Text]
	plain := look("").sgr()
	if th.base == plain {
		th.base = ""
	}
	for l := range th.open {
		th.open[l][Sel] = th.open[OnSel][Text]
		for t := range th.open[l] {
			if th.open[l][t] == plain {
				th.open[l][t] = reset
			}
		}
	}
	th.raised = th.onRaised()
}

// onRaised is the theme with raised ground for the plain one and all fades.
func (th *Theme) onRaised() *Theme {
	up := *th
	up.open[OnPlain] = th.open[OnRaised]
	for l := fade1; int(l) < layers; l++ {
		up.open[l] = th.open[OnRaised]
	}
	if up.base = up.open[OnPlain][Text]; up.base == reset {
		up.base = ""
	}
	return &up
}

// grounds returns the colour of each layer of a whole palette.
func (p Palette) grounds() [layers]colorful.Color {
	var g [layers]colorful.Color
	bg := parse(p.Bg)
	for l := range g {
		g[l] = bg
	}
	if p.Sel != "" {
		g[OnSel] = parse(p.Sel)
	}
	g[OnRaised], g[OnTrack] = parse(p.raised), parse(p.track)
	g[OnSeam] = bg.BlendRgb(parse(p.figure), seamLight)
	return g
}

// look returns everything that t does to a cell of a layer with the ground back.
func (b *painter) look(t Token, l Layer, back look) look {
	switch {
	case l == OnSel && (b.Sel == "" || b.th.Profile == ANSI16):
		// Reverse video drops the token's colour: glyph and word still carry the state.
		return reverse + b.front(Text, b.colors[Text]) + b.back(OnPlain)
	case l >= fade1 && t < soft: // only what is text fades
		return b.front(t, faded(b.colors[t], b.ground[OnPlain], l.amount())) + back
	}
	return b.front(t, b.colors[t]) + back
}

// front returns the foreground and attributes of t.
func (b *painter) front(t Token, c colorful.Color) look {
	var mark look
	switch {
	case t == Held, t == Focus, t == Figure,
		t == Warn && b.th.Profile == ANSI16 && b.Palette.ansi.boldWarn,
		t == Accent && b.accent == b.text: // a key beside its word needs some mark
		mark = bold
	}
	if b.th.Profile == ANSI16 {
		return mark + ansiFg(b.ansi[t])
	}
	return mark + paint(";38", c, b.th.Profile)
}

// faded mixes a colour over the ground as far as it can still be read.
func faded(c, ground colorful.Color, share float64) colorful.Color {
	if contrast(c, ground) < fadeFloor {
		return c.BlendRgb(ground, share) // it is no text
	}
	for ; share > 0; share -= fadeStep / 2 {
		if f := c.BlendRgb(ground, share); contrast(f, ground) >= fadeFloor {
			return f
		}
	}
	return c
}

// back returns the background of a layer; plain ground is drawn only where the theme
// paints its own.
func (b *painter) back(l Layer) look {
	switch {
	case b.th.Profile == ANSI16 && l == OnSeam && b.Dark:
		return brightBlackGround
	case b.th.Profile == ANSI16 && l == OnSeam:
		return whiteGround
	case b.th.Profile == ANSI16, (l == OnPlain || l >= fade1) && !b.th.Painted:
		return ""
	}
	return paint(";48", b.ground[l], b.th.Profile)
}

// paint returns the parameters of a colour; layer is ;38 or ;48.
func paint(layer look, c colorful.Color, profile Profile) look {
	if profile == ANSI256 {
		return layer + ";5;" + look(strconv.Itoa(int(ansi.Convert256(c))))
	}
	red, green, blue := c.RGB255()
	b := append(make([]byte, 0, len(";38;2;255;255;255")), layer+";2"...)
	for _, v := range [...]uint8{red, green, blue} {
		b = strconv.AppendUint(append(b, ';'), uint64(v), 10)
	}
	return look(b)
}

func ansiFg(n int8) look {
	switch {
	case n < 0:
		return ""
	case n < 8:
		return look(";" + strconv.Itoa(30+int(n)))
	}
	return look(";" + strconv.Itoa(90+int(n)-8))
}
