//go:build race

package world

// What one goroutine computes from a seed has no race in it, and takes minutes
// under the detector.
func init() { shapesSkipped = "one goroutine: there is nothing for the race detector" }
