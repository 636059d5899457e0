package ingest_test

import (
	"os"
	"syscall"
	"testing"

	"go.uber.org/goleak"
)

// No goroutine outlives the tests. Their stores are kept in memory where there is
// room: some hundred engines commit a few thousand times, and how long a disk takes
// to sync that is not what they prove.
func TestMain(m *testing.M) {
	const memory, room = "/dev/shm", 1 << 30 // a container may have as good as none
	var fs syscall.Statfs_t
	if syscall.Statfs(memory, &fs) == nil && fs.Bavail*uint64(fs.Bsize) >= room {
		_ = os.Setenv("TMPDIR", memory)
	}
	goleak.VerifyTestMain(m)
}

// long leaves a test out of the run under the race detector, which is many times
// slower: the shorter tests go the same ways. The usual run has all of them.
func long(t *testing.T) {
	t.Helper()
	if testing.Short() {
		t.Skip("long: left out by -short")
	}
}
