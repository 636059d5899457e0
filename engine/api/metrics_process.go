package api

import (
	"runtime/metrics"
	"time"
)

// runtimeMetrics is what is told of what the Go runtime measures, by its own names.
var runtimeMetrics = map[string]*metric{
	"/sched/goroutines:goroutines": {kind: "gauge", name: "go_goroutines", help: "Number of goroutines that currently exist."},
	"/sched/threads/total:threads": {kind: "gauge", name: "go_threads", help: "Number of OS threads."},
	"/memory/classes/heap/objects:bytes": {kind: "gauge", name: "go_memstats_alloc_bytes",
		help: "Number of bytes allocated in heap and currently in use."},
	"/gc/heap/allocs:bytes": {kind: "counter", name: "go_memstats_alloc_bytes_total",
		help: "Total number of bytes allocated in heap until now, even if released already."},
	"/gc/heap/objects:objects": {kind: "gauge", name: "go_memstats_heap_objects", help: "Number of currently allocated objects."},
	"/gc/heap/goal:bytes": {kind: "gauge", name: "go_memstats_next_gc_bytes",
		help: "Number of heap bytes when next garbage collection will take place."},
	"/memory/classes/total:bytes": {kind: "gauge", name: "go_memstats_sys_bytes", help: "Number of bytes obtained from system."},
}

// What the operating system measures.
var (
	metricProcessor    = &metric{kind: "counter", name: "process_cpu_seconds_total", help: "Total user and system CPU time spent in seconds."}
	metricMemory       = &metric{kind: "gauge", name: "process_resident_memory_bytes", help: "Resident memory size in bytes."}
	metricProcessStart = &metric{kind: "gauge", name: "process_start_time_seconds", help: "Start time of the process since unix epoch in seconds."}

	processStart = time.Now()
)

// process tells what this process takes of its machine.
func (s sheet) process() {
	for name, m := range runtimeMetrics {
		sample := []metrics.Sample{{Name: name}}
		if metrics.Read(sample); sample[0].Value.Kind() == metrics.KindUint64 {
			s.add(m, float64(sample[0].Value.Uint64()))
		}
	}
	s.add(metricProcessor, processorTime().Seconds())
	if n := residentMemory(); n > 0 {
		s.add(metricMemory, float64(n))
	}
	s.add(metricProcessStart, float64(processStart.UnixMilli())/1000)
}
