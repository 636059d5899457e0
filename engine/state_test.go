package engine

import "testing"

// TestALimitIsNamedAsInTheListOfLimits: by its host, its method and its window.
func TestALimitIsNamedAsInTheListOfLimits(t *testing.T) {
	for name, want := range map[string]string{
		"app:asia 120s": "asia 2 min", "app:asia 100/120s": "asia 2 min", "match-v5.match:europe 10s": "europe match 10 s", "": "", "a hold": "a hold",
	} {
		if got := LimitWords(name); got != want {
			t.Errorf("%q: %q, want %q", name, got, want)
		}
	}
}
