package app

import (
	"os"
	"os/exec"
	"runtime"
	"strconv"
	"testing"
)

// A small heap is collected when it has grown to the floor, a large one when it has doubled.
func TestTheHeapHasAFloor(t *testing.T) {
	for live, want := range map[uint64]int{0: 3100, 5 << 20: 500, 16 << 20: 100, 1 << 30: 100} {
		if got := growth(live); got != want {
			t.Errorf("%d bytes in use: %d %%, want %d %%", live, got, want)
		}
	}
	self, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	cmd := exec.Command(self)
	cmd.Env = []string{roleEnv + "=garbage"}
	out, err := cmd.Output()
	if n, wrong := strconv.Atoi(string(out)); err != nil || wrong != nil || n < 1 || n > 30 {
		t.Errorf("300 MB of garbage are collected %q times (%v)", out, err)
	}
}

// It is another process that counts: who keeps a floor keeps it for good, and so would all tests that follow.
func init() {
	roles["garbage"] = func() int {
		keepHeapFloor()
		var before, after runtime.MemStats
		runtime.ReadMemStats(&before)
		var kept []byte
		for range 300 {
			kept = make([]byte, 1<<20)
		}
		runtime.KeepAlive(kept)
		runtime.ReadMemStats(&after)
		_, _ = os.Stdout.WriteString(strconv.Itoa(int(after.NumGC - before.NumGC)))
		return 0
	}
}
