package columns

import "testing"

// TestCountsStandByWindow: Riot names the windows in any order.
func TestCountsStandByWindow(t *testing.T) {
	for header, want := range map[string]string{"": "", "3:1": "3:1", "83:120,17:1": "17:1,83:120", "17:1,83:120": "17:1,83:120", "x,y": "x,y"} {
		if got := byWindow(header); got != want {
			t.Errorf("%q is %q, want %q", header, got, want)
		}
	}
}
