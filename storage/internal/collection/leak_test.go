package collection_test

import (
	"testing"

	"github.com/farsight-console/farsight/internal/leak"
)

// No goroutine outlives the tests.
func TestMain(m *testing.M) { leak.Main(m) }
