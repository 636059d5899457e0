package block_test

import (
	"strings"
	"testing"
	"time"

	"github.com/farsight-console/farsight/ui/block"
)

// TestV1n_ABurstIsWithinWhatIsAllowed: 59 calls of a minute are within 100 of two.
func TestV1n_ABurstIsWithinWhatIsAllowed(t *testing.T) {
	for want, window := range map[string]time.Duration{"100/2 min": 2 * time.Minute, "500": 12 * time.Second} {
		if got, whole := block.KeyAllows(100, window, time.Minute); got != want || whole != strings.Contains(want, "/") {
			t.Errorf("of %v: %q, want %q", window, got, want)
		}
	}
}
