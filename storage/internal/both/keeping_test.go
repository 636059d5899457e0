package both

import (
	"bytes"
	"compress/gzip"
	"hash/crc32"
	"runtime"
	"runtime/debug"
	"sync"
	"testing"
	"time"

	"github.com/farsight-console/farsight/engine/league"
)

// A month goes when all of it, and the day after it, is older than what is kept; what is no month stays.
func TestExpired(t *testing.T) {
	keep := league.Span{Years: 1}
	for _, c := range []struct {
		month, now string
		want       bool
	}{
		{"2025-10", "2026-11-01T23:59:59Z", false},
		{"2025-10", "2026-11-02T00:00:01Z", true},
		{"2025-12", "2026-11-26T00:00:00Z", false},
		{"", "2026-11-26T00:00:00Z", false},
		{"2025-13", "2026-11-26T00:00:00Z", false},
	} {
		now, err := time.Parse(time.RFC3339, c.now)
		if err != nil {
			t.Fatal(err)
		}
		if got := Expired(c.month, keep, now); got != c.want {
			t.Errorf("%q at %s: %t", c.month, c.now, got)
		}
	}
}

// TestB18_StoredBombsHaveOneBudget: many payloads that unpack to the most that one may are read at once.
func TestB18_StoredBombsHaveOneBudget(t *testing.T) {
	const reads, most = 100, 200 << 20
	defer debug.SetGCPercent(debug.SetGCPercent(100)) // as the program runs, whatever GOGC the tests have
	raw := make([]byte, MaxInflated)
	var packed bytes.Buffer
	w := gzip.NewWriter(&packed)
	_, _ = w.Write(raw)
	_ = w.Close()
	ref := league.PayloadRef{Codec: CodecGzip, RawLen: len(raw), CRC: crc32.Checksum(raw, castagnoli)}
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
