package cli

import (
	"testing"

	"github.com/farsight-console/farsight/internal/leak"
	"github.com/farsight-console/farsight/internal/scratch"
)

// No goroutine outlives the tests.
func TestMain(m *testing.M) { leak.Main(scratch.OnDisk(m)) }
