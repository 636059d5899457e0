// Package leak finds goroutines that outlive a package's tests. It is for tests with real
// sockets and processes: the others use goleak as it is, which waits for half a second.
package leak

import (
	"fmt"
	"os"
	"time"

	"go.uber.org/goleak"
)

// patience is for a busy machine: it takes a while there until the last goroutines have
// seen that their connection is closed.
const patience = time.Minute

// Check is the exit code of tests that ended with one: 1 when they ended well, and a
// goroutine outlives them all the same.
func Check(code int) int {
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
