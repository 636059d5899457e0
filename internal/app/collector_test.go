package app

import (
	"runtime"
	"runtime/debug"
	"testing"
)

// A small heap is collected when it has grown to the floor, a large one when it has doubled.
func TestTheHeapHasAFloor(t *testing.T) {
	for live, want := range map[uint64]int{0: 3100, 5 << 20: 500, 16 << 20: 100, 1 << 30: 100} {
		if got := growth(live); got != want {
			t.Errorf("%d bytes in use: %d %%, want %d %%", live, got, want)
		}
	}
	t.Setenv("GOGC", "")
	defer debug.SetGCPercent(debug.SetGCPercent(100))
	keepHeapFloor()
	var before, after runtime.MemStats
	runtime.ReadMemStats(&before)
	var kept []byte
	for range 300 {
		kept = make([]byte, 1<<20)
	}
	runtime.KeepAlive(kept)
	runtime.ReadMemStats(&after)
	if n := after.NumGC - before.NumGC; n > 30 {
		t.Errorf("300 MB of garbage are collected %d times", n)
	}
}
