package cli

import (
	"testing"

	"go.uber.org/goleak"

	"github.com/farsight-console/farsight/internal/scratch"
)

// No goroutine outlives the tests.
func TestMain(m *testing.M) { goleak.VerifyTestMain(scratch.OnDisk(m)) }
