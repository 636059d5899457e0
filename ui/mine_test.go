package ui

import (
	"bytes"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"pgregory.net/rapid"

	"github.com/farsight-console/farsight/ui/keys"
	"github.com/farsight-console/farsight/ui/page"
	"github.com/farsight-console/farsight/ui/screen/accounts"
	"github.com/farsight-console/farsight/ui/uitest"
)

// TestWhatWasChosenIsThereAtTheNextStart: order, columns, theme, filters and the
// palette's lines.
func TestWhatWasChosenIsThereAtTheNextStart(t *testing.T) {
	state := filepath.Join(t.TempDir(), "farsight", "console.json")
	start := func(t *testing.T, f func(d *desk)) {
		bubble(t, func(t *testing.T) {
			opt := testOptions()
			opt.Getenv, opt.Mine = trueColor, LoadMine([]string{t.TempDir()}, state)
			f(open(t, uitest.Busy(), 120, 40, opt))
		})
	}
	start(t, func(d *desk) {
		d.press("2", "o", "enter", "O", "c", "j", "enter", "esc")
		d.press("T", "j", "enter")
		d.press("3", "/")
		d.text("state:retryable")
		d.press("enter", "*")
		d.text("slow ones")
		d.press("enter")
		d.wants("without spaces")
		d.m.prompt.Set("slow")
		d.press("enter")
		d.wants("saved: :f slow")
		d.line("fps 3")
	})
	if st, err := os.Stat(state); err != nil || st.Mode().Perm() != 0o600 {
		t.Fatalf("the file is %v, %v", st, err)
	}
	start(t, func(d *desk) {
		if d.m.theme.Name == "mono" || d.m.theme.Name != d.m.kept.Theme {
			t.Errorf("shows %s, kept %s", d.m.theme.Name, d.m.kept.Theme)
		}
		d.press("2")
		d.wants("sort: account ↓")
		d.lacks("REGION")
		d.line("f slow")
		d.wants("no filter is saved for Accounts")
		d.press("esc", "esc", "3")
		d.line("f slow")
		d.wants("/state:retryable")
		d.press(":", "up", "up")
		d.wants(": fps 3")
		d.press("esc")
		d.line("f -slow")
		d.line("f slow")
		d.wants("no filter is saved for Jobs")
	})
}

// TestFlagAndEnvironmentBeatTheSavedTheme.
func TestFlagAndEnvironmentBeatTheSavedTheme(t *testing.T) {
	state := filepath.Join(t.TempDir(), "console.json")
	if err := os.WriteFile(state, []byte(`{"version":1,"theme":"light"}`), 0o600); err != nil {
		t.Fatal(err)
	}
	for _, c := range []struct{ flag, env, usual, wants string }{
		{"", "", "", "light"}, {"cb-dark", "", "", "cb-dark"}, {"", "hc-dark", "", "hc-dark"}, {"", "", "cb-light", "light"},
	} {
		bubble(t, func(t *testing.T) {
			opt := testOptions()
			opt.Theme, opt.Usual, opt.Mine = c.flag, c.usual, LoadMine([]string{t.TempDir()}, state)
			opt.Getenv = func(name string) string {
				if name == "FARSIGHT_THEME" {
					return c.env
				}
				return trueColor(name)
			}
			if d := open(t, uitest.Busy(), 80, 24, opt); d.m.theme.Name != c.wants {
				t.Errorf("%+v shows %s", c, d.m.theme.Name)
			}
		})
	}
}

// TestUnreadableStateIsLeftAlone: a message, the defaults, and never a write.
func TestUnreadableStateIsLeftAlone(t *testing.T) {
	for name, text := range map[string]string{
		"no JSON": "{theme", "another form": `{"version":1,"lists":[3]}`, "newer": `{"version":99,"theme":"light"}`, "huge": strings.Repeat(" ", 1<<20+1), "binary": "\x00\xff",
	} {
		t.Run(name, func(t *testing.T) {
			state := filepath.Join(t.TempDir(), "console.json")
			if err := os.WriteFile(state, []byte(text), 0o600); err != nil {
				t.Fatal(err)
			}
			bubble(t, func(t *testing.T) {
				opt := testOptions()
				opt.Mine = LoadMine([]string{t.TempDir()}, state)
				d := open(t, uitest.Busy(), 120, 40, opt)
				if all := d.m.toasts.all; len(all) == 0 || !strings.Contains(all[0].Text, "cannot be read") {
					t.Errorf("says %v", all)
				}
				d.press("2", "o", "enter", "O")
			})
			if now, err := os.ReadFile(state); err != nil || !bytes.Equal(now, []byte(text)) {
				t.Error("the file was written")
			}
		})
	}
}

// TestRestoreTakesAnything: whatever a file says of a list, the list stays whole.
func TestRestoreTakesAnything(t *testing.T) {
	names := []string{"account", "region", "state", "eta", "nothing", "", "\x1b[2J"}
	rapid.Check(t, func(t *rapid.T) {
		p := accounts.New().(*accounts.Screen)
		p.Restore(page.ListState{
			Sort: rapid.SampledFrom(names).Draw(t, "sort"), Down: rapid.Bool().Draw(t, "down"), Wide: rapid.Bool().Draw(t, "wide"),
			Hidden: rapid.SliceOf(rapid.SampledFrom(names)).Draw(t, "hidden"),
		})
		for _, c := range p.Columns() {
			if c.Pinned && c.Hidden {
				t.Fatalf("%s is hidden", c.Name)
			}
		}
		s := p.State()
		q := accounts.New().(*accounts.Screen)
		q.Restore(s)
		if again := q.State(); again.Sort != s.Sort || len(again.Hidden) != len(s.Hidden) || again.Wide != s.Wide {
			t.Fatalf("kept %+v, came back %+v", s, again)
		}
	})
}

// TestUserKeys: a file binds keys anew; hints, help and dispatch follow it.
func TestUserKeys(t *testing.T) {
	dir := t.TempDir()
	keys := "[all]\nfreeze = \"F\"\n[jobs]\nretry = [\"ctrl+r\", \"f5\"]\n"
	if err := os.WriteFile(filepath.Join(dir, "keys.toml"), []byte(keys), 0o600); err != nil {
		t.Fatal(err)
	}
	bubble(t, func(t *testing.T) {
		opt := testOptions()
		opt.Mine = LoadMine([]string{dir}, "")
		if len(opt.Mine.Faults) > 0 {
			t.Fatal(opt.Mine.Faults)
		}
		d := open(t, uitest.Busy(), 120, 40, opt)
		d.press("f")
		d.lacks("FROZEN")
		d.press("F")
		d.wants("FROZEN")
		d.press("F", "3", "r")
		d.none()
		d.wants("ctrl+r retry")
		d.press("4", "r")
		if len(d.fake.Did()) != 1 {
			t.Error("r does not retry on the other screens")
		}
	})
}

// TestOwnFilesOfTwoFolders: the last folder's keys are taken whole, and its theme where two
// have one name.
func TestOwnFilesOfTwoFolders(t *testing.T) {
	first, last := t.TempDir(), t.TempDir()
	theme := `bg = "%s"
text = "#dddddd"
dim = "#a0a0a0"
border = "#707070"
ok = "#5fd75f"
run = "#5fafff"
wait = "#d7af5f"
warn = "#ff8700"
err = "#ff5f87"
`
	for path, text := range map[string]string{
		first + "/keys.toml": "[all]\nfreeze = \"F\"\n", last + "/keys.toml": "[all]\nquit = \"P\"\n",
		first + "/themes/mine.toml": fmt.Sprintf(theme, "#000000"), last + "/themes/mine.toml": fmt.Sprintf(theme, "#101010"), first + "/themes/other.toml": fmt.Sprintf(theme, "#000000"),
	} {
		if err := os.MkdirAll(filepath.Dir(path), 0o700); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	m := LoadMine([]string{first, t.TempDir(), last}, "")
	if len(m.Faults) > 0 || len(m.Themes) != 2 || m.Themes[0].Name != "other" || m.Themes[1].Bg != "#101010" {
		t.Errorf("themes %v, faults %q", m.Themes, m.Faults)
	}
	if err := os.Remove(last + "/keys.toml"); err != nil {
		t.Fatal(err)
	}
	for table, want := range map[*keys.Map]string{m.table(): "P", LoadMine([]string{first, last}, "").table(): "q"} {
		if got := table.First(keys.OnPages, keys.Quit); got != want {
			t.Errorf("quit is on %q, want %s", got, want)
		}
	}
}

// TestCopiesHoldNoKeyAndNoControl: every form of every screen's selection is
// harmless to a terminal, and holds no key.
func TestCopiesHoldNoKeyAndNoControl(t *testing.T) {
	long(t)
	for _, scene := range []uitest.Scene{uitest.Busy(), uitest.Hostile()} {
		bubble(t, func(t *testing.T) {
			d := open(t, scene, 120, 40, testOptions())
			for _, v := range views {
				d.press("esc", "esc", "1")
				v.open(d)
				for _, c := range d.m.copies(d.m.now()) {
					for _, r := range c.Text {
						if r < 0x20 && r != '\n' && r != '\t' || r >= 0x7f && r < 0xa0 || r == 0x202e {
							t.Errorf("%s, %s holds %U", v.name, c.Name, r)
							break
						}
					}
					if strings.Contains(c.Text, "RGAPI-") {
						t.Errorf("%s, %s holds a key", v.name, c.Name)
					}
				}
			}
		})
	}
}

func TestCurlLeavesTheKeyToTheShell(t *testing.T) {
	busy(t, func(d *desk) {
		for _, c := range []struct {
			keys []string
			want string
		}{
			{[]string{"3", "b"}, `curl --compressed -H "X-Riot-Token: $RIOT_API_KEY" 'https://asia.api.riotgames.com/lol/match/v5/matches/KR_7214550881'`},
			{[]string{"2"}, `/lol/match/v5/matches/by-puuid/8QfA1b2c3d4e5f6g7h8i9jx2c/ids?start=0&count=100'`},
		} {
			d.press(c.keys...)
			found := false
			for _, form := range d.m.copies(d.m.now()) {
				found = found || form.Name == "curl" && strings.Contains(form.Text, c.want)
			}
			if !found {
				t.Errorf("%v offers no %s", c.keys, c.want)
			}
		}
	})
}
