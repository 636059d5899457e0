package riot

import "context"

// reader reads a part of a match: its fields, beside the bytes that are stored of it.
type reader[T any] struct {
	scan    func(raw []byte, id string) (T, error)
	payload func(*T) *Payload
}

var (
	matchReader    = reader[Match]{scanMatch, func(m *Match) *Payload { return &m.Payload }}
	timelineReader = reader[Timeline]{scanTimeline, func(t *Timeline) *Payload { return &t.Payload }}
)

// ReadMatch reads a payload that was stored, as Client.Match reads one that came over the wire: it must be
// whole and about the match.
func ReadMatch(p Payload, id string) (Match, error) { return stored(p, id, matchReader) }

// ReadTimeline reads a stored payload, as Client.Timeline reads one that came over the wire.
func ReadTimeline(p Payload, id string) (Timeline, error) { return stored(p, id, timelineReader) }

func stored[T any](p Payload, id string, as reader[T]) (v T, err error) {
	_ = unpacking.Acquire(context.Background(), 1) // whoever has a place waits for nothing
	defer unpacking.Release(1)
	raw, err := p.raw()
	if err != nil {
		return v, err
	}
	// The bytes are kept as they were stored: packing them again might give others, and another size.
	if v, err = as.scan(raw, id); err == nil {
		*as.payload(&v) = p
	}
	return v, err
}
