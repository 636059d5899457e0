package themes

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
)

const nord = `
bg = "#2e3440"
sel = "#20242d"
text = "#eceff4"
dim = "#a9b3c5"
border = "#7b88a1"
accent = "#88c0d0"
ok = "#a3be8c"
run = "#8fbcdb"
wait = "#c8a2c8"
warn = "#ebcb8b"
err = "#ee8a92"
`

func TestUserThemeIsChosenByName(t *testing.T) {
	p, err := parseUser("fjord", []byte(nord))
	if err != nil {
		t.Fatal(err)
	}
	if !p.Dark || p.Name != "fjord" {
		t.Errorf("read %+v", p)
	}
	o := Options{Saved: "fjord", Profile: TrueColor, User: []Palette{p}}
	th, err := Choose(o)
	if err != nil || th.Name != "fjord" || !strings.Contains(th.Open(OK), "163;190;140") {
		t.Errorf("chose %v, %v", th, err)
	}
	if names := Names(p); names[len(names)-1] != "fjord" {
		t.Errorf("names are %v", names)
	}
	for _, profile := range []Profile{ANSI16, ANSI256} {
		o.Profile = profile
		if th, err := Choose(o); err != nil || th.Name != "fjord" {
			t.Errorf("%v: chose %v, %v", profile, th, err)
		}
	}
}

// TestUserThemeFaults: each file that cannot be used is one sentence that says
// what to do.
func TestUserThemeFaults(t *testing.T) {
	swap := func(old, new string) string { return strings.Replace(nord, old, new, 1) }
	for _, c := range []struct{ name, text, wants string }{
		{"fjord", swap(`ok = "#a3be8c"`, ""), "ok is missing"},
		{"fjord", swap("#a3be8c", "green"), `ok is "green": write a colour`},
		{"fjord", swap("#eceff4", "#3b4252"), "text #3b4252 on #2e3440 has a contrast of 1.2: text needs 4.5"},
		{"fjord", swap("#ebcb8b", "#a3be8d"), "ok #a3be8c and warn #a3be8d look the same"},
		{"fjord", swap("#7b88a1", "#2f3541"), "lines need 1.2"},
		{"fjord", swap("#20242d", "#aaaaaa"), "on the selected row"},
		{"fjord", swap("sel =", "select ="), `line 3: there is no setting "select"`},
		{"fjord", swap(`bg = "`, `bg = `), "line 2:"},
		{"fjord", "dark = 3" + nord, "line 1:"},
		{"dark", nord, "dark is a built-in theme"},
		{"auto", nord, "auto is a built-in theme"},
		{"My Theme", nord, "name the file with a to z"},
		{"x\x1b[2J", nord, "name the file with a to z"},
	} {
		_, err := parseUser(c.name, []byte(c.text))
		if err == nil || !strings.Contains(err.Error(), c.wants) || strings.Contains(err.Error(), "\n") {
			t.Errorf("%q: %v, want %q", c.name, err, c.wants)
		}
	}
}

func TestLoadUserKeepsTheGoodOnes(t *testing.T) {
	dir := t.TempDir()
	for name, text := range map[string]string{"fjord.toml": nord, "bad.toml": "bg = 1", "notes.txt": "x", "huge.toml": strings.Repeat("#", largestFile+1)} {
		if err := os.WriteFile(filepath.Join(dir, name), []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	got, faults := LoadUser(dir)
	if len(got) != 1 || got[0].Name != "fjord" || len(faults) != 2 {
		t.Errorf("read %d themes, %v", len(got), faults)
	}
	for _, err := range faults {
		if !strings.Contains(err.Error(), "is left out: ") {
			t.Errorf("says %v", err)
		}
	}
	if got, faults := LoadUser(filepath.Join(dir, "nowhere")); len(got)+len(faults) != 0 {
		t.Errorf("a folder that is not there gives %v, %v", got, faults)
	}
}

// FuzzParseUser: whatever a file holds, it is a theme that can be read or one
// sentence.
func FuzzParseUser(f *testing.F) {
	f.Add(nord)
	f.Add("bg = '#'")
	f.Add("[[bg]]\ntext = 1")
	f.Fuzz(func(t *testing.T, text string) {
		p, err := parseUser("mine", []byte(text))
		if err != nil {
			return
		}
		if p.check() != nil {
			t.Errorf("took a theme that cannot be read: %+v", p)
		}
		New(p, ANSI256, true, Unicode)
	})
}
