package filter

import "testing"

func TestDistanceCountsLettersAndNotBytes(t *testing.T) {
	for _, c := range []struct {
		a, b string
		want int
	}{{"", "", 0}, {"queue", "", 5}, {"queu", "queue", 1}, {"staet", "state", 2}, {"ä", "a", 1}, {"kitten", "sitting", 3}} {
		if got, back := Distance(c.a, c.b), Distance(c.b, c.a); got != c.want || back != c.want {
			t.Errorf("%q to %q: %d and %d back, want %d", c.a, c.b, got, back, c.want)
		}
	}
}
