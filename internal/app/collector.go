package app

import (
	"os"
	"runtime"
	"runtime/debug"
	"runtime/metrics"
)

// heapFloor is how large the heap may grow before it is collected, in bytes. What an engine keeps is
// mostly 5 MB: by Go's usual ratio it would be collected at 10 MB, 25 times a second under load.
const heapFloor = 32 << 20

// keepHeapFloor sets the collector's ratio anew after each collection, so that the next one comes at
// heapFloor, or at the usual double of what is in use. GOGC in the environment wins over it.
func keepHeapFloor() {
	if os.Getenv("GOGC") == "" {
		setGrowth(new(int))
	}
}

// setGrowth carries on by being the finalizer of an object that nobody holds.
func setGrowth(percent *int) {
	live := []metrics.Sample{{Name: "/gc/heap/live:bytes"}}
	metrics.Read(live)
	if p := growth(live[0].Value.Uint64()); p != *percent {
		debug.SetGCPercent(p)
		*percent = p
	}
	runtime.SetFinalizer(&struct{ percent *int }{percent}, func(s *struct{ percent *int }) { setGrowth(s.percent) })
}

// growth is how much garbage may come upon so many bytes in use, in percent, rounded so that it seldom changes.
func growth(live uint64) int {
	return max(100, (int(heapFloor*100/max(live, 1<<20))-100)/50*50)
}
