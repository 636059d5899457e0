package hub

import (
	"bytes"
	"compress/flate"
	"encoding/json"
	"fmt"
	"io"
	"slices"
	"sync"
	"time"

	"github.com/farsight-console/farsight/engine"
)

// Bounds of the time cursor: one moment per second for ten minutes, each at most
// 4 KiB as it is kept.
const (
	MomentEvery = time.Second
	momentsKept = 600
	momentBytes = 4 << 10
	// momentText bounds a moment that is read back: what is packed was ours.
	momentText = 4 << 20
)

// Moments keeps how the engine stood in each of the last ten minutes' seconds.
// They are packed: a reading of many hosts is large, and nearly all of it is what
// the one before said. It may be used from any goroutine.
type Moments struct {
	mu   sync.Mutex
	ring []packed // oldest at next, once it is full
	next int
	pack *flate.Writer // made with the first moment
	last []byte        // text of the newest
	data []byte        // what it was packed to
}

// packed is a moment as it is kept, its instant beside the data: all moments of a quiet minute share the same
// bytes.
type packed struct {
	at   time.Time
	data []byte
}

// Add keeps a moment. Calls that wait are not part of it, and of a reading that is
// too large only the buckets in use stay, then only the applications'. An error means that this moment
// is missing; those before it stay.
func (m *Moments) Add(moment engine.Moment) error {
	at := moment.At
	moment.At, moment.Limits.At, moment.Limits.Waiting = time.Time{}, time.Time{}, nil
	m.mu.Lock()
	defer m.mu.Unlock()
	for _, tooMuch := range []func(engine.BucketRow) bool{nil, idle, idleOrMethod, every} {
		if tooMuch != nil {
			moment.Limits.Buckets = slices.DeleteFunc(slices.Clone(moment.Limits.Buckets), tooMuch)
		}
		data, err := m.packed(moment)
		if err != nil {
			return fmt.Errorf("keep the moment of %s: %w", at.Format(time.TimeOnly), err)
		}
		if len(data) <= momentBytes {
			m.add(packed{at, data})
			return nil
		}
	}
	return fmt.Errorf("keep the moment of %s: larger than %d bytes", at.Format(time.TimeOnly), momentBytes)
}

// idle buckets say no more than that they are empty.
func idle(b engine.BucketRow) bool {
	return b.Used == 0 && b.Waiting == 0 && b.Blocked.IsZero() && b.Cap == 0
}

// idleOrMethod leaves the buckets of whole hosts, which say most in little room.
func idleOrMethod(b engine.BucketRow) bool { return idle(b) || b.Method != "" }
func every(engine.BucketRow) bool          { return true }

// packed gives the bytes of a moment. One that is like the one before shares its bytes: a quiet minute
// costs sixty instants.
func (m *Moments) packed(moment engine.Moment) ([]byte, error) {
	text, err := json.Marshal(moment)
	if err != nil {
		return nil, err
	}
	if m.data != nil && bytes.Equal(text, m.last) {
		return m.data, nil
	}
	var b bytes.Buffer
	if m.pack == nil {
		if m.pack, err = flate.NewWriter(&b, flate.BestSpeed); err != nil {
			return nil, err
		}
	}
	m.pack.Reset(&b)
	if _, err := m.pack.Write(text); err != nil {
		return nil, err
	}
	if err := m.pack.Close(); err != nil {
		return nil, err
	}
	m.last, m.data = text, bytes.Clone(b.Bytes())
	return m.data, nil
}

// add adds a moment in the place of the oldest.
func (m *Moments) add(p packed) {
	if len(m.ring) < momentsKept {
		m.ring = append(m.ring, p)
		return
	}
	m.ring[m.next] = p
	m.next = (m.next + 1) % momentsKept
}

// Between gives the moments from one instant to another, both included, the
// oldest first; a zero instant is no bound. It unpacks without the lock: the bytes are never changed.
func (m *Moments) Between(from, to time.Time) ([]engine.Moment, error) {
	var out []engine.Moment
	r := flate.NewReader(nil)
	for _, p := range m.chosen(from, to) {
		moment, err := unpack(r, p)
		if err != nil {
			return nil, fmt.Errorf("read the moment of %s: %w", p.at.Format(time.TimeOnly), err)
		}
		out = append(out, moment)
	}
	return out, nil
}

// chosen are the moments of a span as they are kept.
func (m *Moments) chosen(from, to time.Time) (list []packed) {
	m.mu.Lock()
	defer m.mu.Unlock()
	for i := range m.ring {
		p := m.ring[(m.next+i)%len(m.ring)]
		if !p.at.Before(from) && (to.IsZero() || !p.at.After(to)) {
			list = append(list, p)
		}
	}
	return list
}

// unpack reads one moment, with its own instants put back.
func unpack(r io.ReadCloser, p packed) (moment engine.Moment, err error) {
	if err := r.(flate.Resetter).Reset(bytes.NewReader(p.data), nil); err != nil {
		return moment, err
	}
	text, err := io.ReadAll(io.LimitReader(r, momentText))
	if err != nil {
		return moment, err
	}
	err = json.Unmarshal(text, &moment)
	moment.At, moment.Limits.At = p.at, p.at
	return moment, err
}
