package themes

import (
	"bytes"
	"cmp"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"sync"

	"github.com/pelletier/go-toml/v2"
)

// A user's theme must keep this much contrast against its background: WCAG 2's
// AA for text, and what can be seen at all for lines, which carry no meaning.
const (
	leastContrast     = 4.5
	leastLineContrast = 1.2
)

// leastApart is the least CIE76 distance between two of the state colours: below
// it people take one for the other.
const leastApart = 12

// largestFile bounds what is read of a theme; a real one has a few hundred bytes.
const largestFile = 64 << 10

// userFile is a theme as its file says it: a palette whose colours are "#rrggbb".
type userFile struct {
	Palette
	OwnDark *bool  `toml:"dark"`    // unset = by how bright the background is
	Wait    string `toml:"wait"`    // what retry was called before
	Border  string `toml:"border"`  // what hairline was called before
	Comment string `toml:"comment"` // for people
}

// LoadUser reads the user's themes, *.toml in dir, by name. A directory that is
// not there holds none. Each file that cannot be used is one error, a sentence
// that names it, and keeps none of the others out.
func LoadUser(dir string) (palettes []Palette, faults []error) {
	entries, err := os.ReadDir(dir)
	if errors.Is(err, fs.ErrNotExist) {
		return nil, nil
	}
	if err != nil {
		return nil, []error{fmt.Errorf("the themes cannot be read: %w", err)}
	}
	for _, e := range entries {
		name, ok := strings.CutSuffix(e.Name(), ".toml")
		if !ok || e.IsDir() {
			continue
		}
		path := filepath.Join(dir, e.Name())
		p, err := loadPalette(name, path)
		if err != nil {
			faults = append(faults, fmt.Errorf("theme %s is left out: %w", path, err))
			continue
		}
		palettes = append(palettes, p)
	}
	return palettes, faults
}

// loadPalette reads one file. Its size is looked at first: a link into /dev would never end.
func loadPalette(name, path string) (Palette, error) {
	st, err := os.Stat(path)
	if err != nil {
		return Palette{}, err
	}
	if st.Size() > largestFile || !st.Mode().IsRegular() {
		return Palette{}, errors.New("it is no theme: a file of at most 64 KiB is")
	}
	text, err := os.ReadFile(path)
	if err != nil {
		return Palette{}, err
	}
	return parseUser(name, text)
}

// themeName is what a theme may be called: it is typed, and shown in a list.
var themeName = sync.OnceValue(func() *regexp.Regexp { return regexp.MustCompile(`^[a-z0-9][a-z0-9-]{0,23}$`) })

// parseUser makes a palette of a theme file's text. Its error is one sentence.
func parseUser(name string, text []byte) (Palette, error) {
	if !themeName().MatchString(name) {
		return Palette{}, errors.New("name the file with a to z, 0 to 9 and -, at most 24 of them")
	}
	if name == "auto" || slices.Contains(Names(), name) {
		return Palette{}, fmt.Errorf("%s is a built-in theme: give the file another name", name)
	}
	var f userFile
	d := toml.NewDecoder(bytes.NewReader(text)).DisallowUnknownFields()
	if err := d.Decode(&f); err != nil {
		return Palette{}, tomlFault(err)
	}
	if err := f.colours(); err != nil {
		return Palette{}, err
	}
	p := f.palette(name)
	return p, p.check()
}

// tomlFault is what is wrong with a file's syntax, with its line.
func tomlFault(err error) error {
	if strict, ok := errors.AsType[*toml.StrictMissingError](err); ok && len(strict.Errors) > 0 {
		e := strict.Errors[0]
		line, _ := e.Position()
		return fmt.Errorf("line %d: there is no setting %q", line, strings.Join(e.Key(), "."))
	}
	if e, ok := errors.AsType[*toml.DecodeError](err); ok {
		line, _ := e.Position()
		return fmt.Errorf("line %d: %s", line, strings.TrimPrefix(e.Error(), "toml: "))
	}
	return err
}

var hexColour = sync.OnceValue(func() *regexp.Regexp { return regexp.MustCompile(`^#[0-9a-fA-F]{6}$`) })

// colours checks the form of every colour.
func (f *userFile) colours() error {
	f.Accent, f.Retry, f.Hairline = cmp.Or(f.Accent, f.Text), cmp.Or(f.Retry, f.Wait), cmp.Or(f.Hairline, f.Border)
	const needed = 9 // the first ones; the others can be derived
	for i, c := range []struct{ name, value string }{
		{"bg", f.Bg}, {"text", f.Text}, {"dim", f.Dim}, {"accent", f.Accent},
		{"ok", f.OK}, {"run", f.Run}, {"retry", f.Retry}, {"warn", f.Warn}, {"err", f.Err},
		{"figure", f.Figure}, {"tick", f.Tick}, {"hairline", f.Hairline},
		{"track", f.Track}, {"raised", f.Raised}, {"line", f.Line},
	} {
		switch {
		case c.value == "" && i < needed:
			return fmt.Errorf("%s is missing: give it a colour such as #11151c", c.name)
		case c.value == "":
			continue
		}
		if err := colour(c.name, c.value); err != nil {
			return err
		}
	}
	if f.Sel != "" && !hexColour().MatchString(f.Sel) {
		return fmt.Errorf("sel is %q: write a colour such as #24304a, or leave it out for reverse video", f.Sel)
	}
	if n := len(f.Flow); n != 0 && n != rampStops {
		return fmt.Errorf("flow has %d colours: give %d, from a little to full, or leave it out", n, rampStops)
	}
	for _, c := range f.Flow {
		if err := colour("flow", c); err != nil {
			return err
		}
	}
	return nil
}

// colour refuses what has not the form #rrggbb.
func colour(name, value string) error {
	if hexColour().MatchString(value) {
		return nil
	}
	return fmt.Errorf("%s is %q: write a colour such as #11151c", name, value)
}

// palette makes a palette of the file. A terminal of 16 colours gets those of the
// built-in theme on the same ground: they are the terminal's own anyway.
func (f *userFile) palette(name string) Palette {
	p := f.Palette
	p.Name, p.Dark, p.ansi = name, luminance(parse(f.Bg)) < 0.18, lightAnsi
	if f.OwnDark != nil {
		p.Dark = *f.OwnDark
	}
	if p.Dark {
		p.ansi = darkAnsi
	}
	p.contrast, p.distance = p.measure()
	return p
}

// check says which colour cannot be read, or which two look the same.
// A theme that cannot be read is refused and not mended: its author would not know the colours.
func (p Palette) check() error {
	p = p.whole()
	colors, bg := p.colors(), parse(p.Bg)
	for _, t := range append([]Token{Text, Figure, Dim, Accent, Line}, states[:]...) {
		if got := contrast(colors[t], bg); got < leastContrast {
			return fmt.Errorf("%v %s on %s has a contrast of %.1f: text needs %.1f", t, colors[t].Hex(), p.Bg, got, leastContrast)
		}
		if p.Sel == "" || t == Dim {
			continue
		}
		if got := contrast(colors[t], parse(p.Sel)); got < leastContrast-1 {
			return fmt.Errorf("%v %s on the selected row %s has a contrast of %.1f: it needs %.1f", t, colors[t].Hex(), p.Sel, got, leastContrast-1)
		}
	}
	if got := contrast(parse(p.Hairline), bg); got < leastLineContrast {
		return fmt.Errorf("hairline %s on %s has a contrast of %.1f: lines need %.1f", p.Hairline, p.Bg, got, leastLineContrast)
	}
	for i, a := range states {
		for _, b := range states[i+1:] {
			if d := distance(colors[a], colors[b]); d < leastApart {
				return fmt.Errorf("%v %s and %v %s look the same (distance %.0f, at least %d): choose colours further apart", a, colors[a].Hex(), b, colors[b].Hex(), d, leastApart)
			}
		}
	}
	return p.checkRamp()
}

// checkRamp says where the ramp does not run from what is just seen on the ground away
// from it.
func (p Palette) checkRamp() error {
	last := parse(p.Bg)
	for i, hex := range p.Flow {
		c := parse(hex)
		if l, was := lightness(c), lightness(last); l > was != p.Dark || distance(c, last) < leastStep {
			return fmt.Errorf("flow: colour %d, %s, does not stand out more than what comes before it: let each differ by a shade", i+1, hex)
		}
		last = c
	}
	return nil
}
