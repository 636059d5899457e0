//go:build race

package main

import "github.com/farsight-console/farsight/riot/sim"

// Under the race detector the simulator, which runs in the test process, is many
// times slower: fewer kills and smaller games prove the same there, and the pace
// of a sync says nothing.
func init() {
	defaultKills, usualShapes, paceMatters = 8, []sim.Shape{sim.Swarm, sim.Remake}, false
	crashesOf = 30
}
