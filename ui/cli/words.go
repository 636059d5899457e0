package cli

import "github.com/farsight-console/farsight/engine/human"

// count prints a number with thousands apart.
func count[T int | int64](n T) string { return human.Count(int64(n)) }
