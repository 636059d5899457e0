package saved

import (
	"strings"
	"testing"

	"github.com/farsight-console/farsight/ui/page"
	"pgregory.net/rapid"
)

// TestMergeProperties: what nobody changed stays, what one changed is as they made it,
// and a console that changed nothing changes nothing.
func TestMergeProperties(t *testing.T) {
	lists := rapid.MapOfN(rapid.SampledFrom([]string{"jobs", "accounts", "matches"}), rapid.Custom(func(t *rapid.T) page.ListState {
		return page.ListState{Sort: rapid.SampledFrom([]string{"", "state", "eta"}).Draw(t, "sort"), Wide: rapid.Bool().Draw(t, "wide")}
	}), 0, 3)
	any := rapid.Custom(func(t *rapid.T) State {
		return State{
			Version: version, Theme: rapid.SampledFrom([]string{"", "dark", "light"}).Draw(t, "theme"), Lists: lists.Draw(t, "lists"),
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
