package ui

import (
	"fmt"
	"maps"
	"regexp"
	"slices"
	"strings"
	"testing"
	"time"

	tea "charm.land/bubbletea/v2"
	"github.com/charmbracelet/x/ansi"

	"github.com/farsight-console/farsight/engine"
	"github.com/farsight-console/farsight/internal/scratch"
	"github.com/farsight-console/farsight/themes"
)

// heading is a word in capitals that may be a title or the head of a column.
var heading = regexp.MustCompile(`[A-Z][A-Z0-9]{2,}`)

// headings tells where the titles and the heads of columns stand on a frame: capitals in
// the colour of figures or of labels that are no state's name.
func headings(th *themes.Theme, frame string) map[string]bool {
	out := map[string]bool{}
	inks := strings.Split(tokenMap(frame, inkOf(th)), "\n")
	for y, row := range strings.Split(ansi.Strip(frame), "\n") {
		cells := []rune(cellsOf(row))
		for _, at := range heading.FindAllStringIndex(row, -1) {
			x := len([]rune(cellsOf(row[:at[0]])))
			word := row[at[0]:at[1]]
			ink := inks[y][x]
			if known := th.State(word).Token != themes.Text; known || ink != 'g' && ink != 'd' || x+len(word) > len(cells) {
				continue
			}
			out[fmt.Sprintf("%s at %d,%d", word, x, y)] = true
		}
	}
	return out
}

// TestNothingChangesItsPlace: in some seconds of a sync, drawn ten times a second, no
// title and no column of Overview and Account moves, while what stands below them does.
func TestNothingChangesItsPlace(t *testing.T) {
	t.Parallel()
	long(t)
	for _, size := range scratch.Sized(sizes[:2], sizes) {
		for _, screen := range []string{"overview", "account"} {
			t.Run(fmt.Sprintf("%s-%dx%d", screen, size[0], size[1]), func(t *testing.T) {
				bubble(t, func(t *testing.T) {
					d, a := openAtWork(t, size[0], size[1])
					for _, v := range views {
						if v.name == screen {
							v.open(d)
						}
					}
					stillFor(t, d, a, time.Duration(scratch.Sized(6, 20))*time.Second)
				})
			})
		}
	}
}

// openAtWork opens a console on an engine that makes ten calls a second, in colours.
func openAtWork(t *testing.T, w, h int) (*desk, *atWork) {
	t.Helper()
	opt := testOptions()
	opt.Theme, opt.Getenv = "dark", trueColor
	a := newAtWork(100*time.Millisecond, true)
	a.began, a.jobs = time.Now(), map[engine.JobID]engine.JobRow{}
	for _, j := range a.Scene.Update.Jobs {
		a.jobs[j.ID] = j
	}
	d := &desk{t: t, fake: a.Fake, msgs: make(chan tea.Msg, 256)}
	d.m = newModel(a, opt)
	d.run(d.m.Init())
	d.send(tea.WindowSizeMsg{Width: w, Height: h})
	d.send(groundEnd{})
	d.send(a.Scene.Update)
	return d, a
}

// stillFor lets the engine work and looks at each frame.
func stillFor(t *testing.T, d *desk, a *atWork, span time.Duration) {
	t.Helper()
	first, seen, done := map[string]bool(nil), map[string]bool{}, 0
	for end := time.Now().Add(span); time.Now().Before(end); {
		d.wait(100 * time.Millisecond)
		now := time.Now()
		calls := int(now.Sub(a.began) * perSecond / time.Second)
		d.send(a.since(done, calls, now))
		done = calls
		d.send(tick{})
		got := headings(d.m.theme, d.m.frame)
		if first == nil {
			first = got
		}
		seen[d.m.frame] = true
		if !maps.Equal(first, got) {
			t.Errorf("after %v\nthere were %v\nnow are %v\n%s", now.Sub(a.began), only(first, got), only(got, first), ansi.Strip(d.m.frame))
			return
		}
	}
	if len(first) < 3 || len(seen) < 20 {
		t.Errorf("%d headings on %d different frames:\n%s", len(first), len(seen), ansi.Strip(d.m.frame))
	}
}

// only are the keys of a that b has not.
func only(a, b map[string]bool) []string {
	var out []string
	for key := range a {
		if !b[key] {
			out = append(out, key)
		}
	}
	slices.Sort(out)
	return out
}
