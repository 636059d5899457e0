package ingest_test

import (
	"os"
	"testing"

	"github.com/farsight-console/farsight/internal/leak"
	"github.com/farsight-console/farsight/internal/scratch"
)

// No goroutine outlives the tests.
func TestMain(m *testing.M) {
	if os.Getenv("FARSIGHT_ACCOUNTS") != "" { // a week of 10,000 writes a gigabyte: TMPDIR says where
		leak.Main(scratch.OnDisk(m))
		return
	}
	leak.Main(scratch.InMemory(m))
}

// long leaves a test out of the run under the race detector, which is many times
// slower: the shorter tests go the same ways. The usual run has all of them.
func long(t *testing.T) {
	t.Helper()
	if testing.Short() {
		t.Skip("long: left out by -short")
	}
}
