package ui

import (
	"strings"
	"testing"

	tea "charm.land/bubbletea/v2"

	"github.com/farsight-console/farsight/ui/keys"
	"github.com/farsight-console/farsight/ui/page"
	"github.com/farsight-console/farsight/ui/uitest"
)

// TestHelpIsSearchedByTyping: letters look for a key by what it does or by itself, at
// once; esc shows all again, and only then closes.
func TestHelpIsSearchedByTyping(t *testing.T) {
	long(t)
	for _, size := range sizes {
		bubble(t, func(t *testing.T) {
			d := open(t, uitest.Busy(), size[0], size[1], testOptions())
			d.press("3", "?")
			d.wants("type what you want to do")
			d.text("reason")
			d.wants("find reason", "group by why they wait", "say why, for the next act")
			d.lacks("cancel the job or sync", "pause, resume the queue")
			d.press("esc")
			d.wants("cancel the job or sync")
			d.text("quit now please")
			d.wants("no key of this screen fits: : looks through all commands")
			d.press("esc")
			d.send(tea.PasteMsg{Content: "freeze"})
			d.wants("freeze the view only")
			d.lacks("pause, resume the queue")
			d.press("esc", "esc")
			d.lacks(helpTitle(size[0]) + "Jobs")
			d.press("?", "j", "k", "q") // letters, not motions
			d.wants(helpTitle(size[0])+"Jobs", "find jkq")
			d.press("esc", "?")
			d.lacks(helpTitle(size[0]) + "Jobs")
			d.none()
		})
	}
}

// helpTitle is what the help is called on a screen of w cells: the largest has keys and words
// at once.
func helpTitle(w int) string {
	if w == 200 {
		return "HELP of "
	}
	return "KEYS of "
}

// TestHelpShowsAllWhereThereIsRoom: keys and words side by side, and no key that turns from
// one to the other.
func TestHelpShowsAllWhereThereIsRoom(t *testing.T) {
	long(t)
	bubble(t, func(t *testing.T) {
		d := open(t, uitest.Busy(), 200, 60, testOptions())
		d.press("3", "?")
		d.wants("HELP of Jobs", "sync an account", "ready, waits for its turn", "ON OTHER SCREENS")
		d.lacks("tab words")
		d.text("with its sync")
		d.reads("ended by somebody, or with its sync")
	})
}

// TestHelpTurnsToTheWords: one key away from the keys stands what the words of the screen
// mean, where both have no room at once, and both say so.
func TestHelpTurnsToTheWords(t *testing.T) {
	long(t)
	for _, size := range sizes[:2] {
		bubble(t, func(t *testing.T) {
			d := open(t, uitest.Busy(), size[0], size[1], testOptions())
			d.press("3", "?")
			d.wants("KEYS of Jobs", "tab words")
			d.lacks("ready, waits for its turn")
			d.press("tab")
			d.wants("WORDS of Jobs", "tab keys", "in line", "ready, waits for its turn")
			d.lacks("sync an account")
			d.text("with its sync")
			d.reads("ended by somebody, or with its sync")
			d.press("esc", "tab")
			d.wants("KEYS of Jobs")
			d.press("esc", "M", "?", "tab") // no word of its own
			d.wants("WORDS of Messages", "ON OTHER SCREENS")
		})
	}
}

// A key is found by its own name, and every word that was typed has to fit.
func TestHelpFits(t *testing.T) {
	groups := keys.Builtin.Groups(keys.On(page.ScreenJobs), func(page.Action) bool { return false })
	for text, want := range map[string]string{
		"@": "run a waiting job at a time", "queue pause": "pause, resume the queue", "PURGE": "purge jobs that ended", "ctrl+l": "paint the screen again",
	} {
		var found []string
		for _, g := range fitting(groups, text) {
			for _, h := range g.Hints {
				found = append(found, h.Does)
			}
		}
		if len(found) == 0 || len(found) > 3 || !strings.Contains(strings.Join(found, "|"), want) {
			t.Errorf("%q finds %q, want %q", text, found, want)
		}
	}
	if got := fitting(groups, "zzz"); len(got) != 0 {
		t.Errorf("zzz finds %v", got)
	}
	if got := fitting(groups, "  "); len(got) != len(groups) {
		t.Errorf("nothing typed leaves %d groups of %d", len(got), len(groups))
	}
}
