package riot

import (
	"errors"
	"math/rand/v2"
	"net/http"
	"runtime"
	"runtime/debug"
	"sync"
	"sync/atomic"
	"testing"

	"github.com/farsight-console/farsight/riot/route"
)

// meeting answers nobody before all have asked.
type meeting struct {
	all     sync.WaitGroup
	n       atomic.Int32
	answers []http.RoundTripper // in turn
}

func (m *meeting) RoundTrip(req *http.Request) (*http.Response, error) {
	m.all.Done()
	m.all.Wait()
	return m.answers[int(m.n.Add(1))%len(m.answers)].RoundTrip(req)
}

func TestB18_ManyBombsAtOnceHaveOneBudget(t *testing.T) {
	const calls, most = 300, 300 << 20
	defer debug.SetGCPercent(debug.SetGCPercent(100)) // as the program runs, whatever GOGC the tests have
	noise := make([]byte, 7<<20)                      // what cannot be packed is as large on the wire as inflated
	_, _ = rand.NewChaCha8([32]byte{}).Read(noise)
	small := say(200, bomb(t), "Content-Encoding", "gzip")
	large := say(200, packed(t, string(noise))+bomb(t), "Content-Encoding", "gzip")
	m := &meeting{answers: []http.RoundTripper{small, small, large}}
	m.all.Add(calls)
	c, _ := client(t, m)
	before := heldFromSystem()
	var all sync.WaitGroup
	for range calls {
		all.Go(func() {
			_, err := c.Match(t.Context(), route.Europe, "EUW1_1")
			// On a busy machine some are still waiting for a place when their time is over.
			if e, ok := errors.AsType[*Error](err); !ok || e.Class != ClassPayload && e.Class != ClassTimeout {
				t.Error(err)
			}
		})
	}
	all.Wait()
	grown := heldFromSystem() - before
	t.Logf("the heap grew by %d MiB", grown>>20)
	if grown > most {
		t.Errorf("the heap grew by %d MiB, want at most %d", grown>>20, most>>20)
	}
	if !c.bodies.TryAcquire(maxBodies) || !c.large.TryAcquire(maxLarge) {
		t.Error("places are still taken after the last answer")
	}
}

// heldFromSystem is the heap's address space in bytes, which never shrinks: its growth is that of the peak.
func heldFromSystem() int64 {
	var m runtime.MemStats
	runtime.ReadMemStats(&m)
	return int64(m.HeapSys)
}
