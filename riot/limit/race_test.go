//go:build race

package limit

import "flag"

// Under the race detector everything is many times slower, and a race that shows at
// all is shown by a few rounds: how near the budget is to its bound is seen without.
func init() {
	_ = flag.Set("rapid.checks", "20")
	budgetRules = []string{"sliding"}
}
