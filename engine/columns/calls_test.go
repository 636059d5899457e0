package columns

import (
	"testing"

	"github.com/farsight-console/farsight/engine"
)

// TestCountsStandByWindow: Riot names the windows in any order.
func TestCountsStandByWindow(t *testing.T) {
	for header, want := range map[string]string{"": "", "3:1": "3:1", "83:120,17:1": "17:1,83:120", "17:1,83:120": "17:1,83:120", "x,y": "x,y"} {
		if got := byWindow(header); got != want {
			t.Errorf("%q is %q, want %q", header, got, want)
		}
	}
}

// TestA429SaysWhoseLimitItWas: else two classes of errors read the same.
func TestA429SaysWhoseLimitItWas(t *testing.T) {
	said := "riot: match-v5.match on europe: status 429: Rate limit exceeded"
	for class, want := range map[engine.Class]string{
		"429.app": "429 application", "429.service": "429 service", "429.method": "429 method", "429.other": "429 rate limit",
	} {
		if got := Answer(class, said); got != want {
			t.Errorf("%s: %q, want %q", class, got, want)
		}
	}
}

// TestARefusalIsToldInWords: a class is a name for filters.
func TestARefusalIsToldInWords(t *testing.T) {
	for class, want := range map[engine.Class]string{"403.key": "refused", "401.key": "refused", "400.decrypt": "other project's id"} {
		if got := NoteCell(&call{Status: 403, Class: class}); got.Text != want {
			t.Errorf("%s: %q, want %q", class, got.Text, want)
		}
	}
}
