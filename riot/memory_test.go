package riot

import (
	"context"
	"errors"
	"io"
	"math/rand/v2"
	"net/http"
	"runtime"
	"runtime/debug"
	"sync"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

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
}

// TestB18_ATrickleHoldsNobodyUp: while many answers come a byte at a time, another one is taken at once.
func TestB18_ATrickleHoldsNobodyUp(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var n atomic.Int32
		c, _ := client(t, reply(func(req *http.Request) (*http.Response, error) {
			if n.Add(1) > 300 {
				return say(200, "[]").RoundTrip(req)
			}
			body, more := io.Pipe()
			context.AfterFunc(req.Context(), func() { _ = more.CloseWithError(context.Cause(req.Context())) })
			go func() { _, _ = io.WriteString(more, "[") }()
			return &http.Response{StatusCode: 200, Header: http.Header{}, Body: body}, nil
		}))
		var all sync.WaitGroup
		for range 300 {
			all.Go(func() { _, _ = c.LeagueEntries(t.Context(), route.EUW1, "p") })
		}
		synctest.Wait()
		began := time.Now()
		if _, err := c.LeagueEntries(t.Context(), route.EUW1, "p"); err != nil || time.Since(began) > 0 {
			t.Errorf("it took %v: %v", time.Since(began), err)
		}
		all.Wait()
	})
}

// heldFromSystem is the heap's address space in bytes, which never shrinks: its growth is that of the peak.
func heldFromSystem() int64 {
	var m runtime.MemStats
	runtime.ReadMemStats(&m)
	return int64(m.HeapSys)
}
