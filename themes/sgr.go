package themes

import (
	"math"
	"strconv"
	"sync"

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
	name := p.Name
	if p.in256 != nil && profile == ANSI256 {
		p = *p.in256
	}
	return withMoods(func(mood Token) *Theme {
		return paintedIn(p.whole(), &Theme{Name: name, Profile: profile, Painted: painted && profile >= ANSI256, Glyphs: g, Mood: mood})
	})
}

// withMoods is the theme of an engine that works; the others are made when one is needed.
func withMoods(made func(mood Token) *Theme) *Theme {
	th := made(Run)
	th.moods = map[Token]func() *Theme{}
	for _, mood := range [...]Token{Warn, Err, Off} {
		th.moods[mood] = sync.OnceValue(func() *Theme { return made(mood) })
	}
	return th
}

// paintedIn fills a theme with the looks of a whole palette in the theme's mood.
func paintedIn(p Palette, th *Theme) *Theme {
	b := painter{Palette: p, th: th, colors: p.colors(), ansi: p.ansiColors(), ground: p.grounds()}
	b.ground[OnState] = b.ground[OnPlain].BlendRgb(b.colors[th.Mood], liveLight)
	if th.Mood != Run {
		b.ground[OnState], b.ground[OnSeam] = b.mooded(stateLight, 4.5), b.mooded(stateSeam, 0)
		for t := range b.colors {
			if at := Token(t); at >= flow0 && at < Heat0 || at == Run || at == Line || at == Planned(Run) || at == Planned(OK) {
				b.colors[t], b.ansi[t] = grey(b.colors[t]), p.ansi.dim
			}
		}
	}
	for t := flow0; th.ASCII() && t < Heat0; t++ { // a letter needs more than an area
		for share := fadeStep; contrast(b.colors[t], b.ground[OnPlain]) < signFloor && share < 1; share += fadeStep {
			b.colors[t] = b.colors[t].BlendRgb(b.colors[Figure], share)
		}
	}
	for l := range th.open {
		back := b.back(Layer(l))
		for t := range th.open[l] {
			th.open[l][t] = b.cellLook(Token(t), Layer(l), back).sgr()
		}
	}
	th.finish()
	return th
}

// mooded is a ground with so much of the hue of an engine that stands. Of 256 colours the one nearest to a dark red is a grey,
// or an amber: there it is mixed stronger, as far as figures keep a contrast, until it has that hue.
func (b *painter) mooded(from, contrasts float64) colorful.Color {
	mixed := func(share float64) colorful.Color { return b.ground[OnPlain].BlendRgb(b.colors[b.th.Mood], share) }
	for share := from; b.th.Profile == ANSI256 && share < from+0.21; share += 0.06 {
		shown, _ := colorful.MakeColor(of256(mixed(share)))
		is, _, _ := shown.Hsv()
		should, _, _ := mixed(share).Hsv()
		if distance(shown, grey(shown)) > 10 && math.Abs(math.Remainder(is-should, 360)) < 30 && contrast(b.colors[Figure], shown) >= contrasts {
			return shown
		}
	}
	return mixed(from)
}

// grey is a colour without its hue.
func grey(c colorful.Color) colorful.Color {
	l, _, _ := c.Lab()
	return colorful.Lab(l, 0, 0).Clamped()
}

// NewMono returns the theme without any colour.
func NewMono(g *Glyphs) *Theme {
	return withMoods(func(mood Token) *Theme { return monoIn(&Theme{Name: "mono", Profile: Mono, Glyphs: g, Mood: mood}) })
}

func monoIn(th *Theme) *Theme {
	for l := range th.open {
		for t, look := range monoLooks {
			th.open[l][t] = look.sgr()
		}
	}
	for t := range th.open[OnSel] {
		th.open[OnSel][t] = reverse.sgr()
		if th.Mood != Run { // it is seen from afar that nothing goes on
			th.open[OnState][t] = (bold + reverse).sgr()
		}
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
	g[OnRaised], g[OnTrack] = parse(p.Raised), parse(p.Track)
	g[OnSeam] = bg.BlendRgb(parse(p.Figure), seamLight)
	return g
}

// cellLook returns everything that t does to a cell of a layer with the ground back.
func (b *painter) cellLook(t Token, l Layer, back look) look {
	switch {
	case l == OnSel && (b.Sel == "" || b.th.Profile == ANSI16):
		// Reverse video drops the token's colour: glyph and word still carry the state.
		return reverse + b.front(Text, b.colors[Text]) + b.back(OnPlain)
	case l == OnState && b.th.Mood != Run && b.th.Profile == ANSI16:
		return reverse + ansiFg(b.ansi[b.th.Mood])
	case l == OnState && b.th.Mood != Run && t < soft && t != Track:
		return bold + b.front(Figure, b.colors[Figure]) + back
	case l >= fade1 && t < soft: // only what is text fades
		return b.front(t, b.risen(b.faded(b.colors[t], b.ground[OnPlain], l.amount()), b.ground[OnPlain])) + back
	case l < fade1 && t < flow0:
		return b.front(t, b.risen(b.colors[t], b.ground[l])) + back
	}
	return b.front(t, b.colors[t]) + back
}

// front returns the foreground and attributes of t.
func (b *painter) front(t Token, c colorful.Color) look {
	var mark look
	switch {
	case t == Held, t == Focus, t == Figure,
		t == Warn && b.th.Profile == ANSI16 && b.Palette.ansi.boldWarn,
		t == Accent && b.Accent == b.Text: // a key beside its word needs some mark
		mark = bold
	}
	if b.th.Profile == ANSI16 {
		return mark + ansiFg(b.ansi[t])
	}
	return mark + paint(";38", c, b.th.Profile)
}

// faded mixes a colour over the ground as far as it can still be read.
func (p Palette) faded(c, ground colorful.Color, share float64) colorful.Color {
	if contrast(c, ground) < p.floor() {
		return c.BlendRgb(ground, share) // it is no text
	}
	for ; share > 0; share -= fadeStep / 2 {
		if f := c.BlendRgb(ground, share); contrast(f, ground) >= p.floor() {
			return f
		}
	}
	return c
}

// risen mixes what is text towards the figures until it is read on a ground of its own, in the colours that are shown.
func (b *painter) risen(c, ground colorful.Color) colorful.Color {
	few := b.th.Profile == ANSI256
	if plain := b.ground[OnPlain]; ground == plain && !few || contrast(c, plain) < b.floor() {
		return c
	}
	f, on := c, ground
	if few {
		on, _ = colorful.MakeColor(of256(ground))
	}
	for share := fadeStep / 2; share < 1; share += fadeStep / 2 {
		shown := f
		if few {
			shown, _ = colorful.MakeColor(of256(f))
		}
		if contrast(shown, on) >= b.floor() {
			break
		}
		f = c.BlendRgb(b.colors[Figure], share)
	}
	return f
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
		return layer + ";5;" + look(strconv.Itoa(int(of256(c))))
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
