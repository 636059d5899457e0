package keys

import (
	"strings"
	"testing"
)

func TestOwnCommands_AreReadAndBound(t *testing.T) {
	m, err := Parse([]byte(ownSample))
	if err != nil {
		t.Fatal(err)
	}
	for at, key := range map[Context]string{onJobs: "I", onRetries: "I", onMatches: "B"} {
		act, ok := m.Meaning(at, key)
		if _, own := m.Own[act]; !ok || !own {
			t.Errorf("%s means %q", key, act)
		}
	}
	if _, ok := m.Meaning(onAccounts, "I"); ok {
		t.Error("a command is bound where it was not asked for")
	}
	for says, text := range map[string]string{
		`there is no screen [nowhere]`:    "[[command]]\nkey = 'I'\non = 'nowhere'\nrun = 'x'",
		`name its key`:                    "[[command]]\non = 'jobs'\nrun = 'x'",
		`name its screen`:                 "[[command]]\nkey = 'I'\nrun = 'x'",
		`say what a shell shall run`:      "[[command]]\nkey = 'I'\non = 'jobs'",
		`there is no "colour"`:            "[[command]]\nkey = 'I'\non = 'jobs'\nrun = 'x'\ncolour = 'red'",
		`would mean both`:                 "[[command]]\nkey = 'r'\non = 'jobs'\nrun = 'x'",
		`two commands named x`:            "[[command]]\nkey = 'I'\non = 'jobs'\nrun = 'x'\n[[command]]\nkey = 'B'\non = 'jobs'\nrun = 'x'",
		`below [[command]]`:               "[command]\nkey = 'I'",
		`write tables of actions`:         "jobs = 'r'",
		`ctrl+d stays`:                    "[[command]]\nkey = 'ctrl+d'\non = 'audit'\nrun = 'x'",
		`command 1: alt+x cannot be used`: "[[command]]\nkey = 'alt+x'\non = 'jobs'\nrun = 'x'",
	} {
		if _, err := Parse([]byte(text)); err == nil || !strings.Contains(err.Error(), says) {
			t.Errorf("%q: %v, want %q", text, err, says)
		}
	}
}
