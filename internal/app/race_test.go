//go:build race

package app

import "github.com/farsight-console/farsight/riot/sim"

// Under the race detector the simulator, which runs in the test process, is many
// times slower: smaller games prove the same there, and the pace of a sync says
// nothing. What runs in a process of its own is built without the detector, which
// sees nothing of it: those tests are for the usual run.
func init() {
	usualShapes, paceMatters = []sim.Shape{"swarm", "remake"}, false
	unseen = "the race detector does not see into the program that this starts"
}
