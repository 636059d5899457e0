package demo

import (
	"cmp"
	"context"
	"crypto/rand"
	"crypto/sha256"
	"encoding/json"
	"fmt"
	"net"
	"net/http"
	"sync/atomic"
	"time"

	"github.com/farsight-console/farsight/engine"
	"github.com/farsight-console/farsight/engine/await"
	"github.com/farsight-console/farsight/riot"
	"github.com/farsight-console/farsight/riot/sim"
)

// World is the simulated Riot that all members of one demo call. The first one leaves it to the
// others in their database:
//
//	{"id": "GNRWK…", "addr": "127.0.0.1:41873", "host": "lab-2", "seed": 4, "speed": 1, "epoch": "2026-11-23T13:00:00Z"}
type World struct {
	ID       string    `json:"id"`   // random: the key follows from it
	Addr     string    `json:"addr"` // of a loopback interface
	On       string    `json:"host"` // whose
	Seed     uint64    `json:"seed"`
	Speed    float64   `json:"speed"`              // above 0; 1 = the usual
	Headless bool      `json:"headless,omitempty"` // the players of a run that nobody watches
	Epoch    time.Time `json:"epoch"`              // of the newest game
}

// NewWorld has an id and an epoch; the rest is for the caller to say.
func NewWorld() World { return World{ID: rand.Text(), Epoch: time.Now().Truncate(time.Hour).UTC()} }

// Key is a key that only the simulator takes. No two demos have the same, so that they share no
// limiter state by accident.
func (w World) Key() riot.Key {
	b := sha256.Sum256([]byte("farsight demo " + w.ID))
	key, err := riot.ParseKey(fmt.Sprintf("RGAPI-%x-%x-%x-%x-%x", b[:4], b[4:6], b[6:8], b[8:10], b[10:16]))
	if err != nil {
		panic("demo: " + err.Error())
	}
	return key
}

// Host lets one process serve the simulator at an address. While it does, that of every other
// process rests; when it has gone another one serves, with the same world and counts of its own.
type Host struct {
	addr   string
	sim    *sim.Sim
	serves atomic.Bool
	calls  http.Client
	seen   atomic.Pointer[sim.Stats] // of the process that serves, as of at most statsEvery ago
}

// hostLook is how often a process looks whether the address is free.
const hostLook = 100 * time.Millisecond

// newHost asks with a client of its own, whose connections end with the demo.
func newHost(addr string, s *sim.Sim) *Host {
	h := &Host{addr: addr, sim: s, calls: http.Client{Timeout: time.Second, Transport: &http.Transport{}}}
	h.serves.Store(true) // no other process can serve a simulator in memory
	return h
}

// Serve answers at the address, or waits until this process can, until ctx ends. l listens there; nil =
// another process does.
func (d *Demo) Serve(ctx context.Context, l net.Listener, serve func(context.Context, net.Listener) error) error {
	h := d.Host
	defer h.calls.CloseIdleConnections()
	if l == nil {
		if l = h.wait(ctx); l == nil {
			return nil
		}
		d.Stage.note(engine.LevelWarn, "the demo that had the simulated Riot has ended: it goes on in this one, and its counts begin anew")
	}
	return serve(ctx, l)
}

// wait takes the address over when it comes free, and reads the counts of who has it until then; nil =
// ctx ended before.
func (h *Host) wait(ctx context.Context) net.Listener {
	h.serves.Store(false)
	ctx, end := context.WithCancel(ctx)
	defer end()
	go func() {
		for await.Pause(ctx, statsEvery) {
			if s, err := h.fetch(ctx); err == nil {
				h.seen.Store(&s)
			}
		}
	}()
	for await.Pause(ctx, hostLook) {
		if l, err := net.Listen("tcp", h.addr); err == nil {
			h.serves.Store(true)
			return l
		}
	}
	return nil
}

// Stats are the counts of the process that serves, without a wait: for who draws them. They are zero
// until the first have come.
func (h *Host) Stats() sim.Stats {
	if h.serves.Load() {
		return h.sim.Stats()
	}
	if s := h.seen.Load(); s != nil {
		return *s
	}
	return sim.Stats{}
}

// Ask asks the process that serves for its counts as of now; it fails while none does.
func (h *Host) Ask(ctx context.Context) (sim.Stats, error) {
	if h.serves.Load() {
		return h.sim.Stats(), nil
	}
	return h.fetch(ctx)
}

// fetch asks over HTTP, as anybody could: GET /sim/stats.
func (h *Host) fetch(ctx context.Context) (s sim.Stats, err error) {
	ask, err := http.NewRequestWithContext(ctx, http.MethodGet, "http://"+h.addr+"/sim/stats", nil)
	if err != nil {
		return s, err
	}
	res, err := h.calls.Do(ask)
	if err != nil {
		return s, err
	}
	err = json.NewDecoder(res.Body).Decode(&s)
	return s, cmp.Or(err, res.Body.Close())
}
