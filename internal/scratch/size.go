package scratch

import "os"

// Whole says that tests have their whole size: long runs, and every case of what the usual run samples. A step of
// .ci/run asks for it, and names the tests: see TestEachLongRunIsRunByCI.
var Whole = os.Getenv("FARSIGHT_LONG") != ""

// Sized is how much of something a test does.
func Sized[T any](sampled, whole T) T {
	if Whole {
		return whole
	}
	return sampled
}
