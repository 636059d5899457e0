package riot

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"hash/crc32"
	"io"
	"sync"

	"github.com/klauspost/compress/gzip"
	"golang.org/x/sync/semaphore"
)

// Bounds of a body in bytes: as it is or unpacked, and packed. The largest recorded timeline has 0.8 MB, and
// packed 0.07; half a megabyte of gzip can hold half a gigabyte of zeros.
const (
	maxBody   = 8 << 20
	maxPacked = 2 << 20
)

// The memory of all bodies that are read at once. While an answer comes it needs a place only above smallBody, so
// that those that come a byte at a time hold up no other. One that has come needs a place to be unpacked and
// scanned, which waits for nothing.
const (
	smallBody    = 128 << 10 // bytes
	ordinaryBody = 1 << 20   // bytes
)

var (
	arriving  = semaphore.NewWeighted(4) // answers above smallBody, each of up to maxBody
	unpacking = make(places, 4)          // each of up to maxBody
)

// places are those of a budget. Whoever has one waits for nothing, so that to wait for it ends by itself; and a test in
// simulated time may share them with another, as it may not a semaphore.Weighted.
type places chan struct{}

func (p places) take()  { p <- struct{}{} }
func (p places) leave() { <-p }

// Codec says how a Payload's Body is packed.
type Codec uint8

// Gzip is the only codec of the wire.
const Gzip Codec = 1

// Payload is Riot's answer, kept as the bytes that arrived: packing again at this point buys nothing.
type Payload struct {
	Body   []byte // packed by Codec
	Codec  Codec
	RawLen int    // length of the JSON inside, in bytes
	CRC    uint32 // CRC-32C (Castagnoli) of the JSON inside
}

var castagnoli = crc32.MakeTable(crc32.Castagnoli)

var errTooLarge = fmt.Errorf("is larger than %d MiB, or packed than %d", maxBody>>20, maxPacked>>20)

// raw inflates the JSON, under the same limit as when it came, and checks its length and checksum.
func (p Payload) raw() ([]byte, error) {
	if p.Codec != Gzip {
		return nil, fmt.Errorf("payload of unknown codec %d", p.Codec)
	}
	var raw bytes.Buffer
	// RawLen comes from the store and may be damaged: it only suggests how much to take at once.
	raw.Grow(min(max(p.RawLen, 0), maxBody) + bytes.MinRead)
	if err := inflate(&raw, p.Body, maxBody); err != nil {
		return nil, fmt.Errorf("payload %w", err)
	}
	if raw.Len() != p.RawLen || crc32.Checksum(raw.Bytes(), castagnoli) != p.CRC {
		return nil, fmt.Errorf("payload is damaged: %d bytes inside where %d were stored, or another checksum", raw.Len(), p.RawLen)
	}
	return raw.Bytes(), nil
}

// body is an answer while it is being read: both buffers go back to the pool.
type body struct {
	wire *bytes.Buffer // as it came
	raw  *bytes.Buffer // inflated; the same buffer when it came unpacked

	large bool // it has a place of those arriving
}

// readBody reads the answer to its end, up to one byte beyond limit. Above smallBody it waits for a place until ctx
// ends. The error is of the network, of ctx or errTooLarge; what was read until then is in the body, which must be
// released either way.
func readBody(ctx context.Context, r io.Reader, limit int64) (body, error) {
	b := body{wire: borrow()}
	b.raw = b.wire
	b.wire.Grow(smallBody + bytes.MinRead) // at once: doubling would leave as much behind for the collector
	err := readAtMost(b.wire, r, smallBody, limit, func() error {
		err := arriving.Acquire(ctx, 1)
		b.large = err == nil
		return err
	})
	return b, err
}

// unpack inflates a body that has come, up to one byte beyond limit. The error is errTooLarge or errPacking.
func (b *body) unpack(encoding string, limit int64) error {
	switch encoding {
	case "", "identity":
		return nil
	case "gzip", "x-gzip":
		b.raw = unpacked.Get().(*bytes.Buffer)
		return inflate(b.raw, b.wire.Bytes(), limit)
	}
	return fmt.Errorf("%w: unknown content encoding %q", errPacking, cut(encoding, 40))
}

// readAtMost appends r to dst, up to one byte beyond limit, which is errTooLarge. Where r is longer than first, enlarge
// is asked before more is read.
func readAtMost(dst *bytes.Buffer, r io.Reader, first, limit int64, enlarge func() error) error {
	first = min(first, limit+1)
	n, err := dst.ReadFrom(io.LimitReader(r, first))
	if err == nil && n == first && n <= limit {
		if err := enlarge(); err != nil {
			return err
		}
		dst.Grow(int(limit+1-n) + bytes.MinRead)
		var rest int64
		rest, err = dst.ReadFrom(io.LimitReader(r, limit+1-n))
		n += rest
	}
	if err == nil && n > limit {
		return errTooLarge
	}
	return err
}

// payload copies the body out of the pool, packed.
func (b *body) payload() (Payload, error) {
	raw := b.raw.Bytes()
	// It came unpacked, as from a proxy that inflates: the store has one form for all.
	if b.wire == b.raw {
		return pack(raw)
	}
	packed := bytes.Clone(b.wire.Bytes())
	return Payload{Body: packed, Codec: Gzip, RawLen: len(raw), CRC: crc32.Checksum(raw, castagnoli)}, nil
}

func (b *body) release() {
	if b.raw != b.wire { // kept whatever its size: there are no more of them than places in unpacking
		b.raw.Reset()
		unpacked.Put(b.raw)
	}
	giveBack(b.wire)
	if b.large {
		arriving.Release(1)
	}
	*b = body{}
}

// pack makes the Payload of a JSON text that did not come packed.
func pack(raw []byte) (Payload, error) {
	var packed bytes.Buffer
	w := gzip.NewWriter(&packed)
	if _, err := w.Write(raw); err != nil {
		return Payload{}, fmt.Errorf("pack payload: %w", err)
	}
	if err := w.Close(); err != nil {
		return Payload{}, fmt.Errorf("pack payload: %w", err)
	}
	if packed.Len() > maxPacked {
		return Payload{}, errTooLarge
	}
	return Payload{Body: packed.Bytes(), Codec: Gzip, RawLen: len(raw), CRC: crc32.Checksum(raw, castagnoli)}, nil
}

var errPacking = errors.New("is not whole gzip")

// inflate unpacks all of src into dst. One byte beyond limit ends it with errTooLarge, before more is
// inflated; a checksum that is wrong, a cut end and garbage behind the end are errPacking.
func inflate(dst *bytes.Buffer, src []byte, limit int64) error {
	z := unpackers.Get().(*gzip.Reader)
	defer unpackers.Put(z)
	err := z.Reset(bytes.NewReader(src))
	if err == nil {
		err = readAtMost(dst, z, ordinaryBody, limit, func() error { return nil })
	}
	if err != nil && !errors.Is(err, errTooLarge) {
		return fmt.Errorf("%w: %w", errPacking, err)
	}
	return err
}

var (
	unpackers = sync.Pool{New: func() any { return new(gzip.Reader) }}
	buffers   = sync.Pool{New: func() any { return new(bytes.Buffer) }} // of what comes
	unpacked  = sync.Pool{New: buffers.New}
)

// keepBuffer bounds a buffer that is kept of what comes, in bytes.
const keepBuffer = 2 * smallBody

func borrow() *bytes.Buffer { return buffers.Get().(*bytes.Buffer) }

func giveBack(b *bytes.Buffer) {
	// One hostile answer must not keep its memory for every worker.
	if b == nil || b.Cap() > keepBuffer {
		return
	}
	b.Reset()
	buffers.Put(b)
}

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
	unpacking.take()
	defer unpacking.leave()
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
