package ui

import (
	"flag"
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/charmbracelet/x/ansi"

	"github.com/farsight-console/farsight/internal/scratch"
	"github.com/farsight-console/farsight/ui/screen/accounts"
	"github.com/farsight-console/farsight/ui/uitest"
)

var update = flag.Bool("update", false, "write the golden frames anew")

var sizes = [][2]int{{80, 24}, {120, 40}, {200, 60}}

// frames are the states that goldens are kept of: the scenes, and a frozen view.
func frameStates() map[string]func(t *testing.T, w, h int) *desk {
	states := map[string]func(t *testing.T, w, h int) *desk{
		"frozen": func(t *testing.T, w, h int) *desk {
			d := open(t, uitest.Busy(), w, h, testOptions())
			d.press("f")
			d.send(uitest.Hostile().Update)
			return d
		},
	}
	for _, s := range uitest.Scenes() {
		states[s.Name] = func(t *testing.T, w, h int) *desk { return open(t, s, w, h, testOptions()) }
	}
	return states
}

// TestGoldenFrames compares every screen in every state at three sizes with the
// frames in testdata; the usual run has one of the sizes of each. Run with -update after looking at the change.
func TestGoldenFrames(t *testing.T) {
	t.Parallel()
	long(t)
	states := frameStates()
	for i, state := range slices.Sorted(maps.Keys(states)) {
		for j, v := range views {
			one := (i + j) % len(sizes)
			for _, size := range scratch.Sized(sizes[one:one+1], sizes) {
				name := fmt.Sprintf("%s-%s-%dx%d", state, v.name, size[0], size[1])
				t.Run(name, func(t *testing.T) {
					bubble(t, func(t *testing.T) {
						d := states[state](t, size[0], size[1])
						v.open(d)
						compare(t, name, ansi.Strip(d.m.frame))
					})
				})
			}
		}
	}
}

// TestGoldenStates does the same for the reasons why an engine is not at full pace, on the
// screens that have to say so.
func TestGoldenStates(t *testing.T) {
	t.Parallel()
	long(t)
	for _, s := range uitest.States() {
		for _, size := range sizes[:2] {
			for _, v := range views {
				if !slices.Contains([]string{"overview", "jobs", "limits", "account"}, v.name) {
					continue
				}
				name := fmt.Sprintf("state-%s-%s-%dx%d", s.Name, v.name, size[0], size[1])
				t.Run(name, func(t *testing.T) {
					bubble(t, func(t *testing.T) {
						d := open(t, s, size[0], size[1], testOptions())
						if v.name == "account" {
							d.show(accounts.NewAccount("d-heron"))
						} else {
							v.open(d)
						}
						compare(t, name, ansi.Strip(d.m.frame))
					})
				})
			}
		}
	}
}

// TestGoldenHosts does the same for the limits of one host and of several.
func TestGoldenHosts(t *testing.T) {
	t.Parallel()
	for _, n := range []int{1, 3, 6} {
		for _, size := range sizes {
			name := fmt.Sprintf("hosts%d-limits-%dx%d", n, size[0], size[1])
			t.Run(name, func(t *testing.T) {
				bubble(t, func(t *testing.T) {
					d := open(t, uitest.Hosts(n), size[0], size[1], testOptions())
					d.press("5")
					compare(t, name, ansi.Strip(d.m.frame))
				})
			})
		}
	}
}

// TestV6d_GoldenDevelopmentKey does the same for a development key with one account and with many.
func TestV6d_GoldenDevelopmentKey(t *testing.T) {
	for _, n := range []int{1, 60, 210} {
		for screen, key := range map[string]string{"overview": "1", "accounts": "2", "limits": "5"} {
			name := fmt.Sprintf("devkey%d-%s-120x40", n, screen)
			t.Run(name, func(t *testing.T) {
				bubble(t, func(t *testing.T) {
					d := open(t, uitest.DevKey(n, uitest.Noon), 120, 40, testOptions())
					d.press(key)
					compare(t, name, ansi.Strip(d.m.frame))
				})
			})
		}
	}
}

// TestGoldenOverlays does the same for what lies over a screen.
func TestGoldenOverlays(t *testing.T) {
	t.Parallel()
	long(t)
	for name, keys := range map[string]string{
		"help": "?", "help-words": "? tab", "word": "3 D p u r", "messages": "M", "quit": "q", "cancel": "2 j x", "sync": "t", "key": "K", "filter": "2 / k r",
		"filter-wrong": "3 / s t a t e : f o o wait", "palette": ":", "palette-typed": ": k r", "sort": "3 o", "columns": "3 c", "marks": "3 j space space j space",
		"freeze": "5 tab p + 1 0 m", "themes": "T", "matches-all": "6 H", "matches-account": "2 enter 6", "report-numbers": "7 n Z", "bulk": "3 A x", "rail": "3 Q j", "retries-near": "4 <", "retries-far": "4 > >", "job-raw": "4 enter v",
	} {
		shown := sizes[:2]
		if name == "help" { // the largest has room for the words as well
			shown = sizes
		}
		for _, size := range shown {
			name := fmt.Sprintf("over-%s-%dx%d", name, size[0], size[1])
			t.Run(name, func(t *testing.T) {
				bubble(t, func(t *testing.T) {
					opt := testOptions()
					if name == "over-themes-80x24" || name == "over-themes-120x40" {
						opt.Getenv, opt.Theme = trueColor, "dark"
					}
					d := open(t, uitest.Busy(), size[0], size[1], opt)
					for _, k := range strings.Fields(keys) {
						if k == "wait" {
							d.wait(debounce)
							continue
						}
						d.press(k)
					}
					compare(t, name, ansi.Strip(d.m.frame))
				})
			})
		}
	}
}

func compare(t *testing.T, name, got string) {
	t.Helper()
	path := filepath.Join("testdata", name+".golden")
	lines := strings.Split(got, "\n")
	for i := range lines {
		lines[i] = strings.TrimRight(lines[i], " ")
	}
	got = strings.Join(lines, "\n") + "\n"
	if *update {
		if err := os.MkdirAll("testdata", 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(path, []byte(got), 0o644); err != nil {
			t.Fatal(err)
		}
		return
	}
	want, err := os.ReadFile(path)
	if err != nil {
		t.Fatalf("%v: run with -update", err)
	}
	if got != string(want) {
		t.Errorf("the frame differs from %s:\n%s", path, firstDifference(got, string(want)))
	}
}

func firstDifference(got, want string) string {
	g, w := strings.Split(got, "\n"), strings.Split(want, "\n")
	for i := range min(len(g), len(w)) {
		if g[i] != w[i] {
			return fmt.Sprintf("line %d\n got %s\nwant %s", i+1, g[i], w[i])
		}
	}
	return fmt.Sprintf("%d lines, want %d", len(g), len(w))
}

// TestV8a_FewAccountsLeaveRoomForTheLimits: no void stands beside the departures of one account.
func TestV8a_FewAccountsLeaveRoomForTheLimits(t *testing.T) {
	for n, want := range map[int]bool{1: true, 60: false} {
		bubble(t, func(t *testing.T) {
			d := open(t, uitest.DevKey(n, uitest.Noon), 120, 40, testOptions())
			if got := strings.Contains(d.screen(), "LIMITS europe"); got != want {
				t.Errorf("%d accounts: limits are shown: %v\n%s", n, got, d.screen())
			}
		})
	}
}
