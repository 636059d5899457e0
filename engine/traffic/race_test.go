//go:build race

package traffic

// Under the race detector everything is many times slower, and a crowd of some
// hundreds races as one of thousands does.
func init() { crowded = 800 }
