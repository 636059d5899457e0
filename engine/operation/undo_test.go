package operation

import "testing"

func TestNoneToUndo(t *testing.T) {
	for n, want := range map[int]string{
		0:  "no command was given yet that can be undone",
		1:  "the one command so far is none that can be undone",
		50: "none of the last 50 commands can be undone",
	} {
		if got := noneToUndo(n); got != want {
			t.Errorf("of %d commands: %q, want %q", n, got, want)
		}
	}
}
