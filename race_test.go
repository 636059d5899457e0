//go:build race

package main

// Under the race detector the simulator, which runs in the test process, is many
// times slower: fewer kills prove the same there.
func init() { defaultKills = 8 }
