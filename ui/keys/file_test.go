package keys

import (
	"strings"
	"testing"
)

// TestUserKeyFaults: a file with any fault changes nothing and is one sentence.
func TestUserKeyFaults(t *testing.T) {
	for _, c := range []struct{ text, wants string }{
		{"[all]\nfreeze = \"q\"", "on Overview the key q would mean both freeze and quit"},
		{"[jobs]\nretry = \"x\"", "on Jobs the key x would mean both retry and cancel"},
		{"[kitchen]\nretry = \"r\"", "there is no screen [kitchen]"},
		{"[jobs]\nretri = \"R\"", `there is no action "retri" in [jobs]: did you mean retry`},
		{"[jobs]\nretry = \"f5\"", "not every terminal has it"},
		{"[jobs]\nretry = \"alt+r\"", "terminals take it for another key"},
		{"[jobs]\nretry = \"ctrl+k\"", "terminals take it for another key"},
		{"[jobs]\ncancel = \"ctrl+d\"", "ctrl+d stays half-page-down"},
		{"[jobs]\nretry = []", "an action cannot be left without one"},
		{"[jobs]\nretry = 3", "name a key in quotes"},
		{"[jobs]\nretry = \"rr\"", `"rr" is no key`},
		{"retry = \"r\"", "line 1"},
		{"[jobs\nretry = \"r\"", "line 1"},
		{"[jobs]\nexit = \"E\"", "there is no action"},
	} {
		m, err := Parse([]byte(c.text))
		if err == nil || !strings.Contains(err.Error(), c.wants) || strings.Contains(err.Error(), "\n") {
			t.Errorf("%q: %v, want %q (%v)", c.text, err, c.wants, m != nil)
		}
	}
}

// FuzzUserKeys: a file gives a table in which each key means one thing, or one
// sentence.
func FuzzUserKeys(f *testing.F) {
	f.Add("[all]\nfreeze = \"F\"")
	f.Add("[jobs]\n'page up' = ['b', 'f1']\n[all]\nquit = \"Q\"")
	f.Fuzz(func(t *testing.T, text string) {
		m, err := Parse([]byte(text))
		if err == nil && m.Check() != nil {
			t.Errorf("%q was taken: %v", text, m.Check())
		}
	})
}
