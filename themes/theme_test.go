package themes

import (
	"math"
	"os"
	"path/filepath"
	"reflect"
	"regexp"
	"strings"
	"testing"

	"github.com/mattn/go-runewidth"
	"github.com/rivo/uniseg"
)

func TestChoose(t *testing.T) {
	cases := []struct {
		name    string
		o       Options
		want    string
		painted bool
	}{
		{"flag wins", Options{Flag: "light", Env: "dark", Saved: "mono", Profile: TrueColor}, "light", true},
		{"then the environment", Options{Env: "cb-dark", Saved: "mono", Profile: TrueColor}, "cb-dark", true},
		{"then what was saved", Options{Saved: "hc-light", Profile: ANSI256}, "hc-light", true},
		{"auto on a dark terminal", Options{Profile: TrueColor, Ground: DarkGround}, "dark", false},
		{"auto on a light terminal", Options{Flag: "auto", Env: "dark", Profile: TrueColor, Ground: LightGround}, "light", false},
		{"auto without an answer", Options{Profile: TrueColor}, "dark", true},
		{"sixteen colours paint nothing", Options{Profile: ANSI16}, "dark", false},
		{"NO_COLOR of any value", Options{Flag: "light", NoColor: "yes", Profile: TrueColor}, "mono", false},
		{"no colours at all", Options{Flag: "light"}, "mono", false},
		{"mono by name", Options{Flag: "mono", Profile: TrueColor}, "mono", false},
	}
	for _, c := range cases {
		t.Run(c.name, func(t *testing.T) {
			th, err := Choose(c.o)
			if err != nil || th.Name != c.want || th.Painted != c.painted {
				t.Errorf("got %v painted %v, %v", th.Name, th.Painted, err)
			}
		})
	}
}

func TestChooseSaysWhatIsWrong(t *testing.T) {
	cases := map[string]Options{
		`--theme is "drak": use auto, dark, light, cb-dark, cb-light, hc-dark, hc-light, solarized-dark, solarized-light, catppuccin, gruvbox, nord, tokyo-night, dracula, rose-pine, mono`:     {Flag: "drak"},
		`FARSIGHT_THEME is "x": use auto, dark, light, cb-dark, cb-light, hc-dark, hc-light, solarized-dark, solarized-light, catppuccin, gruvbox, nord, tokyo-night, dracula, rose-pine, mono`: {Env: "x"},
		`--glyphs is "braille": use auto, unicode, blocks or ascii`: {Glyphs: "braille"},
	}
	for want, o := range cases {
		if _, err := Choose(o); err == nil || err.Error() != want {
			t.Errorf("got %v, want %s", err, want)
		}
	}
}

func TestAsksForTheBackgroundOnlyWhenItDecides(t *testing.T) {
	for _, c := range []struct {
		o    Options
		want bool
	}{
		{Options{Profile: TrueColor}, true},
		{Options{Profile: TrueColor, Saved: "auto"}, true},
		{Options{Profile: TrueColor, NoColor: "0"}, false},
		{Options{Profile: TrueColor, Flag: "dark"}, false},
		{Options{Profile: Mono}, false},
	} {
		if got := c.o.Asks(); got != c.want {
			t.Errorf("%+v: %v", c.o, got)
		}
	}
}

func env(pairs ...string) func(string) string {
	return func(name string) string {
		for i := 0; i < len(pairs); i += 2 {
			if pairs[i] == name {
				return pairs[i+1]
			}
		}
		return ""
	}
}

func TestDetectProfile(t *testing.T) {
	for _, c := range []struct {
		getenv func(string) string
		tty    bool
		want   Profile
	}{
		{env("TERM", "xterm-256color"), true, ANSI256},
		{env("TERM", "xterm-256color", "COLORTERM", "truecolor"), true, TrueColor},
		{env("TERM", "xterm-256color", "COLORTERM", "truecolor", "NO_COLOR", "no"), true, Mono},
		{env("TERM", "xterm-kitty"), true, TrueColor},
		{env("TERM", "tmux-256color"), true, ANSI256},
		{env("TERM", "screen"), true, ANSI16},
		{env("TERM", "linux"), true, ANSI16},
		{env("TERM", "tmux-256color", "COLORTERM", "truecolor"), true, TrueColor},
		{env("TERM", "xterm-256color", "WT_SESSION", "1"), true, TrueColor},
		{env("TERM", "xterm-256color", "CLICOLOR_FORCE", "1"), true, ANSI256},
		{env("TERM", "vt220"), true, Mono},
		{env("TERM", "vt220", "COLORTERM", "truecolor"), true, Mono},
		{env("TERM", "vt100"), true, Mono},
		{env("TERM", "vte-256color"), true, ANSI256},
		{env("TERM", "dumb"), true, Mono},
		{env(), true, Mono},
		{env("TERM", "xterm-256color"), false, Mono},
	} {
		if got := DetectProfile(c.getenv, c.tty); got != c.want {
			t.Errorf("TERM=%s: %v, want %v", c.getenv("TERM"), got, c.want)
		}
	}
}

func TestDetectASCII(t *testing.T) {
	for _, c := range []struct {
		getenv func(string) string
		want   bool
	}{
		{env("LANG", "en_US.UTF-8"), false},
		{env("LANG", "de_DE.utf8"), false},
		{env("LANG", "C"), true},
		{env("LC_ALL", "C", "LANG", "en_US.UTF-8"), true},
		{env("LC_CTYPE", "C.UTF-8", "LANG", "C"), false},
		{env(), false},
		{env("TERM", "linux", "LANG", "en_US.UTF-8"), true},
	} {
		if got := DetectASCII(c.getenv); got != c.want {
			t.Errorf("LANG=%s: %v, want %v", c.getenv("LANG"), got, c.want)
		}
	}
}

func TestChooseGlyphs(t *testing.T) {
	for _, c := range []struct {
		name   string
		getenv func(string) string
		want   *Glyphs
	}{
		{"", nil, Unicode},
		{"auto", env("TERM", "xterm-256color"), Unicode},
		{"auto", env("TERM", "linux"), Plain},
		{"", env("TERM", "putty-256color"), Blocks},
		{"", env("TERM", "screen.putty-256color"), Blocks},
		{"", env("TERM", "rxvt"), Blocks},
		{"", env("TERM", "rxvt-unicode-256color"), Unicode},
		{"", env("TERM", "putty", "LANG", "C"), Plain},
		{"unicode", env("TERM", "putty"), Unicode},
		{"blocks", env("TERM", "xterm"), Blocks},
		{"ascii", env("TERM", "xterm"), Plain},
	} {
		if got, err := ChooseGlyphs(c.name, c.getenv); got != c.want || err != nil {
			t.Errorf("%q with TERM %v: another table, %v", c.name, c.getenv != nil && c.getenv("TERM") != "", err)
		}
	}
}

func TestGlyphsAreOneCellWide(t *testing.T) {
	cond := &runewidth.Condition{StrictEmojiNeutral: true}
	for name, g := range map[string]*Glyphs{"unicode": Unicode, "blocks": Blocks, "ascii": Plain} {
		for _, s := range allGlyphs(g) {
			if s == "" {
				continue
			}
			if uniseg.StringWidth(s) != 1 || cond.RuneWidth([]rune(s)[0]) != 1 || len([]rune(s)) != 1 {
				t.Errorf("%s glyph %q is not one cell", name, s)
			}
			if g.ASCII && (s[0] < 0x20 || s[0] > 0x7e) {
				t.Errorf("ascii glyph %q", s)
			}
		}
	}
}

func allGlyphs(g *Glyphs) []string {
	var out []string
	v := reflect.ValueOf(*g)
	for i := range v.NumField() {
		switch f := v.Field(i).Interface().(type) {
		case string:
			out = append(out, f)
		case []string:
			out = append(out, f...)
		}
	}
	for _, s := range append(signs, other) {
		if g.ASCII {
			out = append(out, s.ascii)
		} else {
			out = append(out, s.unicode)
		}
	}
	return out
}

func TestTablesAreComplete(t *testing.T) {
	for _, g := range []*Glyphs{Unicode, Plain} {
		v := reflect.ValueOf(*g)
		for i := range v.NumField() {
			name := v.Type().Field(i).Name
			if v.Field(i).IsZero() && name != "ASCII" && name != "BarOpen" && name != "BarClose" {
				t.Errorf("ASCII %v: no %s", g.ASCII, name)
			}
		}
	}
	seen := map[string]bool{}
	for _, s := range append(signs, other) {
		if seen[s.unicode] || seen[s.ascii] {
			t.Errorf("sign %s or %s stands for two things", s.unicode, s.ascii)
		}
		seen[s.unicode], seen[s.ascii] = true, true
	}
}

func TestState(t *testing.T) {
	u, a := NewMono(Unicode), NewMono(Plain)
	for _, c := range []struct {
		word           string
		unicode, ascii string
		token          Token
	}{
		{"RUNNING", "●", "*", Run},
		{"running", "●", "*", Run},
		{"retryable", "↻", "~", Retry},
		{"gave_up", "✗", "x", Err},
		{"outside_retention_window", "∅", "0", Off},
		{"HELD", "≡", "=", Held},
		{"pending", "◇", "@", Off},
		{"something new", "◆", "#", Text},
	} {
		if got := u.State(c.word); got != (State{c.unicode, c.token}) {
			t.Errorf("%s: %v", c.word, got)
		}
		if got := a.State(c.word); got != (State{c.ascii, c.token}) {
			t.Errorf("%s in ASCII: %v", c.word, got)
		}
	}
}

func TestSGR(t *testing.T) {
	dark, light := Options{}.find("dark"), Options{}.find("light")
	for _, c := range []struct {
		name string
		got  string
		want string
	}{
		{"truecolor", New(dark, TrueColor, false, Unicode).Open(OK), "\x1b[0;38;2;196;230;165m"},
		{"painted", New(dark, TrueColor, true, Unicode).Open(OK), "\x1b[0;38;2;196;230;165;48;2;17;21;28m"},
		{"selected", New(dark, TrueColor, true, Unicode).On(OnSel, OK), "\x1b[0;38;2;196;230;165;48;2;36;48;74m"},
		{"held is dim and bold", New(dark, TrueColor, false, Unicode).Open(Held), "\x1b[0;1;38;2;139;149;167m"},
		{"sixteen", New(dark, ANSI16, true, Unicode).Open(Err), "\x1b[0;91m"},
		{"sixteen, warn on light", New(light, ANSI16, false, Unicode).Open(Warn), "\x1b[0;1;33m"},
		{"sixteen, text is the terminal's", New(dark, ANSI16, false, Unicode).Close(), "\x1b[m"},
		{"sixteen, selection", New(dark, ANSI16, false, Unicode).On(OnSel, Err), "\x1b[0;7m"},
		{"mono", NewMono(Unicode).Open(Err), "\x1b[0;1;4m"},
		{"mono selection", NewMono(Unicode).On(OnSel, Err), "\x1b[0;7m"},
		{"mono base", NewMono(Unicode).Base(), ""},
		{"text costs nothing", New(dark, TrueColor, true, Unicode).Paint(Text, "x"), "x"},
		{"token out of range", NewMono(Unicode).Open(200), "\x1b[m"},
	} {
		if c.got != c.want {
			t.Errorf("%s: %q, want %q", c.name, c.got, c.want)
		}
	}
}

func TestMonoUsesNoColour(t *testing.T) {
	th := NewMono(Unicode)
	for token := range Token(tokens) {
		for _, s := range []string{th.Open(token), th.On(OnSel, token)} {
			if !regexp.MustCompile(`^\x1b\[(m|0(;[147])*m)$`).MatchString(s) {
				t.Errorf("%v: %q", token, s)
			}
		}
	}
}

func TestTokens(t *testing.T) {
	if Heat(-1) != Heat0 || Heat(0.55) != Heat0+5 || Heat(2) != Heat0+9 || Flow(math.NaN()) != flow0 {
		t.Error("a scale is not clamped")
	}
	for token, want := range map[Token]string{
		Warn: "warn", Off: "off", Planned(Retry): "planned retry", Planned(Line): "planned run", Planned(Dim): "dim",
		Flow(0.36): "flow7", Odd(Flow(1)): "odd flow19", Planned(Flow(0)): "plan0", Planned(Odd(Flow(0.5))): "odd plan10",
		Odd(Planned(Flow(0.5))): "odd plan10", Odd(Text): "text", Heat(1): "heat9", Token(200): "text",
	} {
		if token.String() != want {
			t.Errorf("token %d is %s, want %s", token, token, want)
		}
	}
	for share, want := range map[float64]Layer{-1: OnPlain, 0.02: OnPlain, 0.05: fade1, 0.11: fade1 + 1, 3: fade1 + fades - 1} {
		if got := Fade(share); got != want {
			t.Errorf("fade %v is layer %d, want %d", share, got, want)
		}
	}
}

// literal is any way to name a colour by value.
var literal = regexp.MustCompile("\"#[0-9a-fA-F]{3,8}\"|`#[0-9a-fA-F]{3,8}`|lipgloss\\.(Color|RGBColor|ANSIColor|LightDark)|ansi\\.(IndexedColor|RGBColor|BasicColor|TrueColor)|\\\\x1b\\[[0-9;]*[34][0-9]")

func TestNoColourOutsideThemes(t *testing.T) {
	root := filepath.Join("..", "ui")
	err := filepath.WalkDir(root, func(path string, d os.DirEntry, err error) error {
		if err == nil && d.IsDir() && d.Name() == "uitest" {
			return filepath.SkipDir // scenes for tests, hostile text among them
		}
		if err != nil || d.IsDir() || !strings.HasSuffix(path, ".go") || strings.HasSuffix(path, "_test.go") {
			return err
		}
		src, err := os.ReadFile(path)
		for _, found := range literal.FindAllString(string(src), -1) {
			t.Errorf("%s names the colour %s: use a token", path, found)
		}
		return err
	})
	if err != nil && !os.IsNotExist(err) {
		t.Fatal(err)
	}
}

// GNU Screen passes COLORTERM on from the terminal around it: what it shows itself stands in TERM.
func TestB16d_ScreenShowsWhatItsTermSays(t *testing.T) {
	for term, want := range map[string]Profile{"screen": ANSI16, "screen.linux": ANSI16, "screen-256color": ANSI256, "screen.xterm-256color": ANSI256} {
		if got := DetectProfile(env("TERM", term, "COLORTERM", "truecolor"), true); got != want {
			t.Errorf("TERM=%s: %v, want %v", term, got, want)
		}
	}
}
