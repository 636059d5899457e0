package storage

import (
	"testing"
	"time"

	"github.com/farsight-console/farsight/engine/league"
)

// A month goes when all of it, and the day after it, is older than what is kept; what is no month stays.
func TestExpired(t *testing.T) {
	keep := league.Span{Years: 1}
	for _, c := range []struct {
		month, now string
		want       bool
	}{
		{"2025-10", "2026-11-01T23:59:59Z", false},
		{"2025-10", "2026-11-02T00:00:01Z", true},
		{"2025-12", "2026-11-26T00:00:00Z", false},
		{"", "2026-11-26T00:00:00Z", false},
		{"2025-13", "2026-11-26T00:00:00Z", false},
	} {
		now, err := time.Parse(time.RFC3339, c.now)
		if err != nil {
			t.Fatal(err)
		}
		if got := expired(c.month, keep, now); got != c.want {
			t.Errorf("%q at %s: %t", c.month, c.now, got)
		}
	}
}
