// Package leak finds goroutines that outlive a package's tests. It is for tests.
package leak

import (
	"fmt"
	"os"
	"time"

	"go.uber.org/goleak"
)

// patience is for a busy machine: it takes a while there until the last goroutines have
// seen that their connection is closed. goleak by itself waits for half a second.
const patience = time.Minute

// Main runs a package's tests, as its TestMain does, and ends the process: with 1, too, when
// they ended well and a goroutine outlives them.
func Main(tests interface{ Run() int }) { os.Exit(check(tests.Run())) }

// check is the exit code of tests that ended with one.
func check(code int) int {
	if code != 0 {
		return code
	}
	var err error
	for end := time.Now().Add(patience); time.Now().Before(end); {
		if err = goleak.Find(); err == nil {
			return 0
		}
	}
	_, _ = fmt.Fprintln(os.Stderr, "a goroutine outlives the tests:", err)
	return 1
}
