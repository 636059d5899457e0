package ui

import (
	"strings"
	"testing"
	"time"
	"unicode/utf8"

	tea "charm.land/bubbletea/v2"
	"github.com/charmbracelet/x/ansi"
	"github.com/mattn/go-runewidth"
	"github.com/rivo/uniseg"
	"pgregory.net/rapid"

	"github.com/farsight-console/farsight/engine"
	"github.com/farsight-console/farsight/internal/scratch"
	"github.com/farsight-console/farsight/ui/uitest"
)

// checkFrame holds a frame to what every terminal relies on: its size by both
// measures, no control byte but SGR, 7 bits where ASCII is promised.
func checkFrame(t interface{ Errorf(string, ...any) }, frame string, w, h int, ascii bool) {
	rows := strings.Split(frame, "\n")
	if len(rows) != h {
		t.Errorf("%d rows, want %d", len(rows), h)
		return
	}
	for i, row := range rows {
		text := ansi.Strip(row)
		if n := uniseg.StringWidth(text); n != w {
			t.Errorf("row %d has %d cells by grapheme width, want %d: %q", i, n, w, text)
		}
		if n := wcwidth(text); n != w {
			t.Errorf("row %d has %d cells by wcwidth, want %d: %q", i, n, w, text)
		}
		checkBytes(t, i, row, text, ascii)
	}
}

func wcwidth(s string) int {
	cond := &runewidth.Condition{StrictEmojiNeutral: true}
	n := 0
	for _, r := range s {
		n += cond.RuneWidth(r)
	}
	return n
}

func checkBytes(t interface{ Errorf(string, ...any) }, i int, row, text string, ascii bool) {
	if !utf8.ValidString(row) {
		t.Errorf("row %d is not UTF-8: %q", i, row)
	}
	for _, r := range text {
		if r < 0x20 || r >= 0x7f && r < 0xa0 || ascii && r > 0x7e {
			t.Errorf("row %d holds %U: %q", i, r, text)
			return
		}
	}
	for rest := row; ; {
		at := strings.IndexByte(rest, 0x1b)
		if at < 0 {
			return
		}
		end := strings.IndexFunc(rest[at+2:], func(r rune) bool { return r != ';' && (r < '0' || r > '9') })
		if rest[at+1] != '[' || end < 0 || rest[at+2+end] != 'm' {
			t.Errorf("row %d holds a sequence that is no SGR: %q", i, rest[at:])
			return
		}
		rest = rest[at+2+end:]
	}
}

// TestFrameProperties walks all screens, scenes and sizes. Themes that differ from another in their
// colours alone show one scene: that they say the same is held by TestGoldenThemes.
func TestFrameProperties(t *testing.T) {
	t.Parallel()
	long(t)
	looks := []struct {
		theme, glyphs string
		env           func(string) string
		scenes        []uitest.Scene
	}{
		{"dark", "", trueColor, uitest.Scenes()}, {"mono", "", noColor, uitest.Scenes()}, {"mono", "ascii", noColor, uitest.Scenes()},
		{"light", "", trueColor, []uitest.Scene{uitest.Hostile()}}, {"cb-dark", "", trueColor, []uitest.Scene{uitest.Hostile()}},
	}
	at := scratch.Sized([][2]int{{60, 16}, {120, 40}}, [][2]int{{60, 16}, {80, 24}, {100, 30}, {120, 40}, {160, 50}, {200, 60}})
	for _, look := range looks {
		for j, scene := range look.scenes {
			t.Run(look.theme+look.glyphs+"-"+scene.Name, func(t *testing.T) {
				bubble(t, func(t *testing.T) {
					opt := testOptions()
					opt.Theme, opt.Glyphs, opt.Getenv = look.theme, look.glyphs, look.env
					d := open(t, scene, 120, 40, opt)
					for i, v := range views {
						v.open(d)
						one := (i + j) % len(at)
						for _, size := range scratch.Sized(at[one:one+1], at) {
							d.send(tea.WindowSizeMsg{Width: size[0], Height: size[1]})
							checkFrame(t, d.m.frame, size[0], size[1], look.glyphs == "ascii")
						}
					}
				})
			})
		}
	}
}

// TestEverySizeDraws goes through sizes from 1x1 to 250x80 on every screen, with
// hostile text, with and without something over the page.
func TestEverySizeDraws(t *testing.T) {
	long(t)
	type step struct {
		view, w, h int
		keys       []string
	}
	keys := []string{"?", "M", "t", "K", "esc", "tab", "j", "k", "G", "g", "l", "f", "x", "q", "n", "pgdown", ":", "o", "c", "T", "space", "A", "H", "s", "/", "p"}
	var steps []step
	rapid.Check(t, func(t *rapid.T) {
		steps = append(steps, step{
			rapid.IntRange(0, len(views)-1).Draw(t, "view"), rapid.IntRange(1, 250).Draw(t, "w"), rapid.IntRange(1, 80).Draw(t, "h"),
			rapid.SliceOfN(rapid.SampledFrom(keys), 0, 4).Draw(t, "keys"),
		})
	})
	for w := 1; w <= 250; w += 7 {
		steps = append(steps, step{view: w % len(views), w: w, h: 1 + w*80/250})
	}
	bubble(t, func(t *testing.T) {
		opt := testOptions()
		opt.Embedded = false
		d := open(t, uitest.Hostile(), 80, 24, opt)
		for _, s := range steps {
			d.press("esc", "1")
			views[s.view].open(d)
			d.press(s.keys...)
			d.send(tea.WindowSizeMsg{Width: s.w, Height: s.h})
			checkFrame(t, d.m.frame, s.w, s.h, false)
			d.press("esc", "esc", "n")
		}
	})
}

// TestStateWordsRemain: with all colour and bold removed nothing is ambiguous,
// because each state's word is there.
func TestStateWordsRemain(t *testing.T) {
	want := map[string][]string{
		"overview": {"LIVE", "on time"},
		"accounts": {"SYNCING", "QUEUED", "DONE", "FAILED", "NEVER"},
		"jobs":     {"RUNNING", "RETRYABLE", "HELD", "AVAILABLE"},
		"limits":   {"BACKING OFF"},
		"matches":  {"STORED", "RETRYABLE", "TOO OLD"},
		"reports":  {"PARTIAL"},
		"account":  {"SYNCING", "stored", "gave up", "retrying"},
		"job":      {"RETRYABLE", "given up"},
	}
	for _, size := range sizes {
		bubble(t, func(t *testing.T) {
			d := open(t, uitest.Busy(), size[0], size[1], testOptions())
			for _, v := range views {
				d.press("1")
				v.open(d)
				text := ansi.Strip(d.m.frame)
				for _, word := range want[v.name] {
					if !strings.Contains(text, word) {
						t.Errorf("%s at %dx%d lacks %s", v.name, size[0], size[1], word)
					}
				}
			}
		})
	}
}

// TestW5g_TheCauseOfAFreezeIsSaidWithLittleRoom: what waits is told where there is room for it too.
func TestW5g_TheCauseOfAFreezeIsSaidWithLittleRoom(t *testing.T) {
	bubble(t, func(t *testing.T) {
		s := uitest.DevKey(60, uitest.Noon)
		s.Update.Engine.Pace = "2,903 calls wait: match calls are frozen until somebody resumes them"
		for i := range s.Update.Accounts {
			if a := &s.Update.Accounts[i]; a.Status.Open() {
				a.Stand = engine.StandHeld
			}
		}
		for i := range s.Jobs {
			if j := &s.Jobs[i]; j.State == engine.Available {
				j.Why, j.Stand, j.Until = "match calls to europe are frozen by an operator", engine.StandHeld, time.Time{}
			}
		}
		d := open(t, s, 120, 40, testOptions())
		if row := strings.Split(d.screen(), "\n")[1]; !strings.Contains(row, " match calls are frozen until somebody resumes them ") {
			t.Errorf("row 2: %q", row)
		}
		d.press("2")
		if row := d.rowWith("▌"); !strings.Contains(row, " held ") {
			t.Errorf("the next call of one that is held: %q", row)
		}
	})
}

// TestTheWayIsCutBeforeItsLastStep: the page on top is the one that must be read.
func TestTheWayIsCutBeforeItsLastStep(t *testing.T) {
	busy(t, func(d *desk) {
		d.press("2", "enter", "L")
		forms := d.m.paths(d.m.view(d.m.now()))
		whole := strings.Split(forms[0], " ▸ ")
		if last := forms[len(forms)-1]; len(whole) < 2 || last != "… ▸ "+whole[len(whole)-1] {
			t.Errorf("%q", forms)
		}
	})
}
