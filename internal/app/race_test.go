//go:build race

package app

// Under the race detector, which is many times slower, the pace of a sync says nothing. What
// runs in a process of its own is built without the detector, which sees nothing of it: those
// tests are for the usual run.
func init() {
	paceMatters = false
	unseen = "the race detector does not see into the program that this starts"
}
