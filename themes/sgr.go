package themes

import (
	"strconv"
	"strings"
)

// look is what one token does to a cell: SGR parameters in order.
type look []string

func (l look) sgr() string { return "\x1b[" + strings.Join(append([]string{"0"}, l...), ";") + "m" }

// Attributes that carry meaning beside colour, in every profile.
const (
	bold      = "1"
	underline = "4"
	reverse   = "7"
)

// monoLooks uses bold, underline and reverse only: faint is unreadable on
// many terminals.
var monoLooks = [tokenCount]look{
	Focus: {bold}, Accent: {bold}, Sel: {reverse}, Run: {bold}, Held: {bold}, Warn: {bold}, Err: {bold, underline},
}

// New makes the palette ready for a terminal. painted draws the palette's
// background under everything; it needs 256 colours or more.
func New(p Palette, profile Profile, painted bool, g *Glyphs) *Theme {
	th := &Theme{Name: p.Name, Profile: profile, Painted: painted && profile >= ANSI256, Glyphs: g}
	for t := range tokenCount {
		l := p.look(Token(t), profile)
		th.open[t] = append(l, p.ground(th)...).sgr()
		th.openSel[t] = p.selected(Token(t), th).sgr()
	}
	th.finish()
	return th
}

// NewMono returns the theme without any colour.
func NewMono(g *Glyphs) *Theme {
	th := &Theme{Name: "mono", Profile: Mono, Glyphs: g}
	for t, l := range monoLooks {
		th.open[t] = l.sgr()
		th.openSel[t] = look{reverse}.sgr()
	}
	th.finish()
	return th
}

// finish settles plain text and the selection token.
func (th *Theme) finish() {
	th.open[Sel] = th.openSel[Text]
	th.base = th.open[Text]
	plain := look{}.sgr()
	if th.base == plain {
		th.base = ""
	}
	for t := range th.open {
		if th.open[t] == plain {
			th.open[t] = reset
		}
	}
}

// look returns the foreground and attributes of t.
func (p Palette) look(t Token, profile Profile) look {
	var l look
	switch {
	case t == Held, t == Focus,
		t == Warn && profile == ANSI16 && p.ansi.boldWarn,
		t == Accent && p.accent == p.text: // a key beside its word needs some mark
		l = append(l, bold)
	}
	if profile == ANSI16 {
		return append(l, ansiFg(p.ansiColors()[t])...)
	}
	return append(l, paint("38", p.colors()[t], profile)...)
}

// ground returns the background under unselected text.
func (p Palette) ground(th *Theme) look {
	if !th.Painted {
		return nil
	}
	return paint("48", p.Bg, th.Profile)
}

// selected returns the look of t on the selected row. Reverse video drops the
// token's colour: glyph and word still carry the state.
func (p Palette) selected(t Token, th *Theme) look {
	if p.Sel == "" || th.Profile == ANSI16 {
		return append(append(look{reverse}, p.look(Text, th.Profile)...), p.ground(th)...)
	}
	return append(p.look(t, th.Profile), paint("48", p.Sel, th.Profile)...)
}

func ansiFg(n int8) look {
	switch {
	case n < 0:
		return nil
	case n < 8:
		return look{strconv.Itoa(30 + int(n))}
	}
	return look{strconv.Itoa(90 + int(n) - 8)}
}
