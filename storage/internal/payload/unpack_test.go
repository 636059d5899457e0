package payload

import (
	"bytes"
	"compress/gzip"
	"runtime"
	"runtime/debug"
	"sync"
	"testing"

	"github.com/farsight-console/farsight/engine/league"
	"github.com/farsight-console/farsight/storage/internal/rec"
)

// TestB18_StoredBombsHaveOneBudget: many payloads that unpack to the most that one may are read at once.
func TestB18_StoredBombsHaveOneBudget(t *testing.T) {
	const reads, most = 100, 200 << 20
	defer debug.SetGCPercent(debug.SetGCPercent(100)) // as the program runs, whatever GOGC the tests have
	raw := make([]byte, maxInflated)
	var packed bytes.Buffer
	w := gzip.NewWriter(&packed)
	_, _ = w.Write(raw)
	_ = w.Close()
	ref := league.PayloadRef{Codec: CodecGzip, RawLen: len(raw), CRC: rec.Sum(raw)}
	heap := func() int64 { // its address space never shrinks: its growth is that of the peak
		var m runtime.MemStats
		runtime.ReadMemStats(&m)
		return int64(m.HeapSys)
	}
	before := heap()
	var all sync.WaitGroup
	for range reads {
		all.Go(func() {
			if got, err := Raw(ref, packed.Bytes(), nil); err != nil || len(got) != len(raw) {
				t.Errorf("%d bytes: %v", len(got), err)
			}
		})
	}
	all.Wait()
	if grown := heap() - before; grown > most {
		t.Errorf("the heap grew by %d MiB, want at most %d", grown>>20, most>>20)
	}
	ref.RawLen = -1
	if _, err := Raw(ref, packed.Bytes(), nil); err == nil {
		t.Error("a length below 0 is taken")
	}
}
