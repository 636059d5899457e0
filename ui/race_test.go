//go:build race

package ui

import "flag"

// Under the race detector everything is many times slower, and a race that a
// property shows at all is shown by a few rounds of it.
func init() {
	_ = flag.Set("rapid.checks", "20")
	bytesMatter = false
}
