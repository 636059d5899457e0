package keys

import (
	"strings"
	"testing"

	"github.com/farsight-console/farsight/themes"
	"github.com/farsight-console/farsight/ui/page"
	"github.com/farsight-console/farsight/ui/part"
)

// TestNoKeyIsBoundTwice: in one context a key means one thing.
func TestNoKeyIsBoundTwice(t *testing.T) {
	for at := onOverview; at <= InMenu; at <<= 1 {
		seen := map[string]page.Action{}
		for _, b := range bindings {
			if b.In&at == 0 {
				continue
			}
			for _, k := range b.Keys {
				if other, ok := seen[k]; ok {
					t.Errorf("context %b: %s is bound to %q and to %q", at, k, other, b.Act)
				}
				seen[k] = b.Act
			}
		}
	}
}

// TestHelpLabelsFit: nothing that a key does is cut in a column of the help.
func TestHelpLabelsFit(t *testing.T) {
	for _, b := range bindings {
		if len(b.Help) > part.HelpLabel {
			t.Errorf("%q takes %d cells, at most %d are there", b.Help, len(b.Help), part.HelpLabel)
		}
	}
}

// TestForbiddenKeys: keys that terminals confuse, or that vim and k9s mean
// otherwise, are never bound.
func TestForbiddenKeys(t *testing.T) {
	for _, b := range bindings {
		for _, k := range b.Keys {
			switch {
			case strings.HasPrefix(k, "alt+"), k == "ctrl+i", k == "ctrl+m", k == "ctrl+h", k == "ctrl+[", k == "ctrl+k":
				t.Errorf("%s is bound to %q", k, b.Act)
			case k == "ctrl+d" && b.Act != page.HalfDown && b.Act != page.PageDown:
				t.Errorf("ctrl+d is bound to %q", b.Act)
			}
		}
	}
}

// TestEveryKeyIsInTheHelp: what can be pressed on a page is listed.
func TestEveryKeyIsInTheHelp(t *testing.T) {
	never := func(page.Action) bool { return false }
	for at := onOverview; at <= onChaos; at <<= 1 {
		listed := map[string]bool{}
		for _, g := range Builtin.Groups(at, never) {
			for _, h := range g.Hints {
				listed[h.Key] = true
				if h.Does == "" {
					t.Errorf("context %b: %s has no word of help", at, h.Key)
				}
			}
		}
		for k, b := range Builtin.at[at] {
			if !listed[Shown(b.Keys)] {
				t.Errorf("context %b: %s is not in the help", at, k)
			}
		}
	}
}

// TestHintsAreKeys: the hint line names only keys that are bound there, and always
// the help and the way out.
func TestHintsAreKeys(t *testing.T) {
	for at := onOverview; at <= onChaos; at <<= 1 {
		kept := 0
		for _, h := range Builtin.Hints(at, func(page.Action) bool { return false }, func(page.Action) string { return "" }) {
			if _, ok := Builtin.Meaning(at, h.Key); !ok {
				t.Errorf("context %b: the hint %s is bound to nothing", at, h.Key)
			}
			if h.Keep {
				kept++
			}
		}
		if kept != 2 {
			t.Errorf("context %b: %d hints are kept, want ? and q", at, kept)
		}
	}
	if len(part.Help(themes.NewMono(themes.Unicode), 80, Builtin.Groups(onOverview, func(page.Action) bool { return false }))) == 0 {
		t.Error("no help")
	}
}
