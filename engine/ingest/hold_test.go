package ingest_test

import (
	"io"
	"net/http"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/farsight-console/farsight/engine"
	"github.com/farsight-console/farsight/riot/sim"
)

// refusing answers calls of matches in Riot's place until an instant.
type refusing struct {
	http.RoundTripper
	until  time.Time
	status int
	header http.Header
	calls  *answers
}

// answers are when calls were answered so.
type answers struct {
	sync.Mutex
	at []time.Time
}

func (r refusing) RoundTrip(req *http.Request) (*http.Response, error) {
	if !time.Now().Before(r.until) || !strings.Contains(req.URL.Path, "/matches/EUW1_") {
		return r.RoundTripper.RoundTrip(req)
	}
	r.calls.Lock()
	defer r.calls.Unlock()
	r.calls.at = append(r.calls.at, time.Now())
	return &http.Response{
		StatusCode: r.status, Header: r.header.Clone(), Body: io.NopCloser(strings.NewReader("")), Request: req,
		Proto: "HTTP/1.1", ProtoMajor: 1, ProtoMinor: 1,
	}, nil
}

// refused starts a sync whose matches are refused for a time, by so many workers.
func refused(t *testing.T, workers int, within time.Duration, status int, pairs ...string) (*rig, *answers) {
	s := newSim(sim.Options{Players: []sim.PlayerSpec{player("Ana#EUW", 60)}})
	h, calls := http.Header{}, &answers{}
	for i := 0; i < len(pairs); i += 2 {
		h.Set(pairs[i], pairs[i+1])
	}
	r := start(t, s, func(set *setup) {
		set.transport, set.workers = refusing{s.RoundTripper(), time.Now().Add(within), status, h, calls}, workers
	})
	r.trigger("Ana#EUW", engine.SyncAsk{Timelines: "none"})
	return r, calls
}

// A 503 that says when to come back holds the method: within its time nobody else runs into it.
func TestB14c_A503HoldsItsMethod(t *testing.T) {
	inBubble(t, func(t *testing.T) {
		const workers = 8 // they are under way when the first is answered
		r, calls := refused(t, workers, 10*time.Minute, 503, "Retry-After", "60")
		row := r.settle("Ana#EUW", time.Hour)
		if row.Result != "completed" || row.Matches.Stored != 60 || len(calls.at) > workers+10 {
			t.Errorf("%d calls ran into it: %+v", len(calls.at), row)
		}
		for i := workers; i < len(calls.at); i++ {
			if gap := calls.at[i].Sub(calls.at[i-1]); gap < 60*time.Second {
				t.Errorf("call %d came %v after the one before", i, gap)
			}
		}
	})
}

// An absurd Retry-After is asked about every ten minutes, told as a hold with its instant, and ended by
// the first call that is served, or by an operator.
func TestB11_AnAbsurdRetryAfterIsNotForADay(t *testing.T) {
	for name, thaw := range map[string]bool{"served": false, "thawed": true} {
		t.Run(name, func(t *testing.T) {
			inBubble(t, func(t *testing.T) {
				r, calls := refused(t, 1, 25*time.Minute, 429, "X-Rate-Limit-Type", "application", "Retry-After", "99999999999999999999")
				time.Sleep(24 * time.Minute)
				holds := r.limits.LongHolds()
				if len(calls.at) != 3 || len(holds) != 1 || holds[0].Host != "europe" || holds[0].Until.Before(time.Now().Add(23*time.Hour)) {
					t.Fatalf("%d calls, held %+v", len(calls.at), holds)
				}
				if h := r.limits.Held("europe/match-v5.match"); h.Stand != engine.StandHeld || !strings.Contains(h.Reason, "europe is held by a 429 application until 20") {
					t.Errorf("the lane is told as %+v", h)
				}
				time.Sleep(time.Minute)
				within := 6 * time.Minute
				if thaw {
					held, err := r.limits.Thaw(engine.Bucket{Host: "europe"})
					if !strings.HasPrefix(held, "held by a 429 application until") || err != nil {
						t.Errorf("ended %q, %v", held, err)
					}
					within = 2 * time.Minute
				}
				if row := r.settle("Ana#EUW", within); row.Result != "completed" || row.Matches.Stored != 60 {
					t.Errorf("%+v", row)
				}
				if len(r.limits.LongHolds()) > 0 {
					t.Error("still held")
				}
			})
		})
	}
}
