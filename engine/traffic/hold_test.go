package traffic

import (
	"testing"
	"testing/synctest"
	"time"

	"github.com/farsight-console/farsight/riot/limit"
)

// TestW5f_AHoldOfTodayHasItsHour: a hold that ends today says the hour alone, a later one its day too.
func TestW5f_AHoldOfTodayHasItsHour(t *testing.T) {
	synctest.Test(t, func(*testing.T) { // the clock stands at midnight
		for wait, want := range map[time.Duration]string{
			time.Hour:      "held by a 503 until 01:00 UTC",
			25 * time.Hour: "held by a 503 until 2000-01-02 01:00 UTC",
		} {
			if got := holdWords(limit.Hold{Kind: limit.Unavailable, Until: time.Now().Add(wait)}); got != want {
				t.Errorf("after %v: %q, want %q", wait, got, want)
			}
		}
	})
}
