package sim

import (
	"fmt"
	"os"
	"testing"
	"time"

	"go.uber.org/goleak"
)

// No goroutine outlives the tests. On a busy machine it takes a while until the last
// ones have seen that their connection is closed.
func TestMain(m *testing.M) {
	code := m.Run()
	if code == 0 {
		code = leftBehind()
	}
	os.Exit(code)
}

// leftBehind is not 0 when a goroutine outlives the tests by a minute.
func leftBehind() int {
	var err error
	for end := time.Now().Add(time.Minute); time.Now().Before(end); {
		if err = goleak.Find(); err == nil {
			return 0
		}
	}
	_, _ = fmt.Fprintln(os.Stderr, "a goroutine outlives the tests:", err)
	return 1
}
