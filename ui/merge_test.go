package ui

import (
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"pgregory.net/rapid"

	"github.com/farsight-console/farsight/ui/page"
	"github.com/farsight-console/farsight/ui/uitest"
)

// TestTwoConsolesOfOneUserLoseNothing: each remembers what was chosen in it, none
// forgets what the other one has chosen meanwhile.
func TestTwoConsolesOfOneUserLoseNothing(t *testing.T) {
	state := filepath.Join(t.TempDir(), "farsight", "console.json")
	with := func(f func(ana, bo *desk)) {
		bubble(t, func(t *testing.T) {
			sit := func() *desk {
				opt := testOptions()
				opt.Getenv, opt.Mine = trueColor, LoadMine([]string{t.TempDir()}, state)
				return open(t, uitest.Busy(), 120, 40, opt)
			}
			f(sit(), sit())
		})
	}
	with(func(ana, bo *desk) {
		ana.press("2", "o", "enter")
		bo.press("3", "/")
		bo.text("state:retryable")
		bo.press("enter", "*")
		bo.text("slow")
		bo.press("enter")
		ana.press("3", "c", "j", "enter", "esc")
		bo.line("fps 3")
		ana.line("fps 4")
		bo.line("theme hc-dark")
		ana.press("2", "O")
	})
	with(func(ana, bo *desk) {
		for _, d := range []*desk{ana, bo} {
			if d.m.theme.Name != "hc-dark" {
				t.Errorf("shows %s", d.m.theme.Name)
			}
			d.press("2")
			d.wants("sort: account ↓")
			d.press("3")
			d.lacks("QUEUE ")
			if !slices.Contains(d.m.past, "fps 3") || !slices.Contains(d.m.past, "fps 4") {
				t.Errorf("remembers the lines %q", d.m.past)
			}
		}
		ana.line("f slow")
		ana.wants("/state:retryable")
		ana.line("f -slow") // what one takes away is away, whatever the other one does
		bo.line("theme dark")
	})
	with(func(ana, _ *desk) {
		ana.press("3")
		ana.line("f slow")
		ana.wants("no filter is saved for Jobs")
		if ana.m.theme.Name != "dark" {
			t.Errorf("shows %s", ana.m.theme.Name)
		}
	})
	if left, err := os.ReadDir(filepath.Dir(state)); err != nil || len(left) != 1 {
		t.Errorf("beside the file stand %v, %v", left, err)
	}
}

// TestMergeProperties: what nobody changed stays, what one changed is as they made it,
// and a console that changed nothing changes nothing.
func TestMergeProperties(t *testing.T) {
	lists := rapid.MapOfN(rapid.SampledFrom([]string{"jobs", "accounts", "matches"}), rapid.Custom(func(t *rapid.T) page.ListState {
		return page.ListState{Sort: rapid.SampledFrom([]string{"", "state", "eta"}).Draw(t, "sort"), Wide: rapid.Bool().Draw(t, "wide")}
	}), 0, 3)
	any := rapid.Custom(func(t *rapid.T) saved {
		return saved{
			Version: savedVersion, Theme: rapid.SampledFrom([]string{"", "dark", "light"}).Draw(t, "theme"), Lists: lists.Draw(t, "lists"),
			History: rapid.SliceOfN(rapid.SampledFrom([]string{"a", "b", "c"}), 0, 5).Draw(t, "lines"),
		}
	})
	rapid.Check(t, func(t *rapid.T) {
		base, mine, theirs := any.Draw(t, "base"), any.Draw(t, "mine"), any.Draw(t, "theirs")
		if out := merge(base, base, theirs); !out.same(theirs) {
			t.Fatalf("nothing was changed: %+v, of %+v", out, theirs)
		}
		out := merge(base, mine, theirs)
		for _, key := range keysOfAll(base.Lists, mine.Lists) {
			was, had := base.Lists[key]
			is, has := mine.Lists[key]
			got, kept := out.Lists[key]
			if changed := had != has || !was.Equal(is); changed && (kept != has || !got.Equal(is)) {
				t.Fatalf("%s: %+v, mine is %+v", key, got, is)
			}
		}
		if mine.Theme != base.Theme && out.Theme != mine.Theme {
			t.Fatalf("theme %s, mine is %s", out.Theme, mine.Theme)
		}
		if !strings.HasPrefix(strings.Join(out.History, ""), strings.Join(theirs.History, "")) {
			t.Fatalf("lines %q, theirs were %q", out.History, theirs.History)
		}
	})
}
