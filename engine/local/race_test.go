//go:build race

package local_test

import "flag"

// Under the race detector everything is many times slower, and a race that shows at
// all is shown by fewer rounds.
func init() {
	_ = flag.Set("rapid.checks", "20")
	walks, dueAtOnce, cancelRaces = 1, 5_000, 200
}
