// Package engine holds the words and the rules of Farsight, and no I/O.
//
// A command or a timer changes jobs; a worker turns a job into at most one Riot
// call and one transaction; the committed transaction yields changes; the hub
// folds changes into rows; a console gets a snapshot and then merged updates.
// Nothing reaches a screen that is not on disk, with one exception: live
// readings of the rate limiter, which are telemetry.
//
// Everything else of ours may import this package; of ours it imports engine/human
// only, for durations and counts as people read them.
package engine
