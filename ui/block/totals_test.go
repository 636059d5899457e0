package block_test

import (
	"testing"
	"time"

	"github.com/farsight-console/farsight/ui/block"
)

// TestV1n_ABurstIsWithinWhatIsAllowed: 59 calls of a minute are within 100 of two.
func TestV1n_ABurstIsWithinWhatIsAllowed(t *testing.T) {
	for want, window := range map[string]time.Duration{"max 100/2 min": 2 * time.Minute, "key allows 500": 12 * time.Second} {
		if got := block.KeyAllows(100, window, time.Minute); got != want {
			t.Errorf("of %v: %q, want %q", window, got, want)
		}
	}
}
