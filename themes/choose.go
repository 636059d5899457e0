package themes

import (
	"fmt"
	"slices"
	"strings"
)

// Ground is what the terminal answered when asked for its background.
type Ground uint8

// The answers; Unknown means there was none in time.
const (
	Unknown Ground = iota
	DarkGround
	LightGround
)

// Options is all that decides how the console looks, as data: reading flags,
// environment and terminal is the caller's.
type Options struct {
	Flag  string // --theme
	Env   string // FARSIGHT_THEME
	Saved string // from the state directory

	Glyphs  string // --glyphs, see GlyphNames; empty = what the terminal can show
	Getenv  func(string) string
	Profile Profile
	Ground  Ground
	// NoColor is the value of NO_COLOR. Any that is not empty means mono, a
	// flag included: the promise of that variable is "no colour at all".
	NoColor string
	// User are the user's own palettes, beside the built-in ones (see LoadUser).
	User []Palette
}

// Names lists what --theme takes, without auto: the built-in themes, mono, then
// the user's own.
func Names(user ...Palette) []string {
	names := make([]string, 0, len(palettes)+1+len(user))
	for _, p := range palettes {
		names = append(names, p.Name)
	}
	names = append(names, "mono")
	for _, p := range user {
		names = append(names, p.Name)
	}
	return names
}

// Choose returns the theme for o. The order is flag, environment, saved, auto;
// an unknown name is an error that lists the known ones.
func Choose(o Options) (*Theme, error) {
	g, err := ChooseGlyphs(o.Glyphs, o.Getenv)
	if err != nil {
		return nil, err
	}
	name, err := o.name()
	if err != nil {
		return nil, err
	}
	if name == "mono" || o.NoColor != "" || o.Profile <= Mono {
		return NewMono(g), nil
	}
	if name != "auto" {
		return New(o.find(name), o.Profile, true, g), nil
	}
	if o.Ground == LightGround {
		return New(o.find("light"), o.Profile, false, g), nil
	}
	return New(o.find("dark"), o.Profile, o.Ground == Unknown, g), nil
}

// Asks reports whether the terminal should be asked for its background: only
// if the answer decides something. With NO_COLOR no colour query may be sent,
// since its answer would turn colour on again.
func (o Options) Asks() bool {
	name, err := o.name()
	return err == nil && name == "auto" && o.NoColor == "" && o.Profile > Mono
}

// name returns the first name that was given.
func (o Options) name() (string, error) {
	sources := [...]struct{ from, name string }{
		{"--theme", o.Flag}, {"FARSIGHT_THEME", o.Env}, {"the saved theme", o.Saved},
	}
	for _, s := range sources {
		if s.name == "" {
			continue
		}
		if !o.Knows(s.name) {
			return "", fmt.Errorf("%s is %q: use auto, %s", s.from, s.name, strings.Join(Names(o.User...), ", "))
		}
		return s.name, nil
	}
	return "auto", nil
}

// Knows reports whether there is a theme of that name; auto is one.
func (o Options) Knows(name string) bool {
	return name == "auto" || slices.Contains(Names(o.User...), name)
}

func (o Options) find(name string) Palette {
	p, _ := o.Palette(name)
	return p
}

// Palette returns the palette of a name, the user's own first; auto and mono have none.
func (o Options) Palette(name string) (p Palette, ok bool) {
	for _, list := range [...][]Palette{o.User, palettes} {
		if i := slices.IndexFunc(list, func(p Palette) bool { return p.Name == name }); i >= 0 {
			return list[i], true
		}
	}
	return Palette{}, false
}
