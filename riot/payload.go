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

// maxBody bounds a body, both as it comes over the wire and inflated, in bytes. The largest recorded
// timeline has 0.8 MB; half a megabyte of gzip can hold half a gigabyte of zeros.
const maxBody = 8 << 20

// The memory of all bodies that a Client reads at once: maxBodies, each of ordinaryBody over the wire and
// as much inflated, of which maxLarge may be up to maxBody. A body waits for both places in this order, and
// whoever has them waits for no other body.
const (
	ordinaryBody = 1 << 20 // bytes; the largest recorded timeline is smaller
	maxBodies    = 16
	maxLarge     = 2
)

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

var errTooLarge = fmt.Errorf("is larger than %d MiB", maxBody>>20)

// Raw inflates the JSON, under the same limit as when it came, and checks its length and checksum.
func (p Payload) Raw() ([]byte, error) {
	if p.Codec != Gzip {
		return nil, fmt.Errorf("payload of unknown codec %d", p.Codec)
	}
	var raw bytes.Buffer
	// RawLen comes from the store and may be damaged: it only suggests how much to take at once.
	raw.Grow(min(max(p.RawLen, 0), maxBody) + bytes.MinRead)
	if err := inflate(&raw, p.Body, maxBody, nil); err != nil {
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

	large *semaphore.Weighted // where it has a place; nil = it is ordinary
}

// readBody reads the answer to its end and inflates it, each under limit bytes. Above ordinaryBody it waits
// for a place among the large until ctx ends. The error is of the network, errTooLarge, errPacking or
// errNoPlace; what was read until then is in the body, which must be released either way.
func readBody(ctx context.Context, r io.Reader, encoding string, limit int64, large *semaphore.Weighted) (body, error) {
	b := body{wire: borrow()}
	b.raw = b.wire
	enlarge := func() error {
		if b.large != nil {
			return nil
		}
		if err := large.Acquire(ctx, 1); err != nil {
			return fmt.Errorf("%w: %w", errNoPlace, err)
		}
		b.large = large
		return nil
	}
	n, err := readAtMost(b.wire, r, limit, enlarge)
	switch {
	case err != nil:
		return b, err
	case n > limit:
		return b, errTooLarge
	case encoding == "" || encoding == "identity":
		return b, nil
	case encoding != "gzip" && encoding != "x-gzip":
		return b, fmt.Errorf("%w: unknown content encoding %q", errPacking, cut(encoding, 40))
	}
	b.raw = borrow()
	err = inflate(b.raw, b.wire.Bytes(), limit, enlarge)
	return b, err
}

// readAtMost appends r to dst, up to one byte beyond limit. Where r is longer than ordinaryBody, enlarge is
// asked before more is read; nil = it may be.
func readAtMost(dst *bytes.Buffer, r io.Reader, limit int64, enlarge func() error) (int64, error) {
	first := limit + 1
	if enlarge != nil {
		first = min(first, ordinaryBody)
	}
	n, err := dst.ReadFrom(io.LimitReader(r, first))
	if err != nil || n < first || n > limit {
		return n, err
	}
	if err := enlarge(); err != nil {
		return n, err
	}
	dst.Grow(int(limit+1-n) + bytes.MinRead) // at once: doubling would leave as much behind for the collector
	rest, err := dst.ReadFrom(io.LimitReader(r, limit+1-n))
	return n + rest, err
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
	if b.raw != b.wire {
		giveBack(b.raw)
	}
	giveBack(b.wire)
	if b.large != nil {
		b.large.Release(1)
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
	return Payload{Body: packed.Bytes(), Codec: Gzip, RawLen: len(raw), CRC: crc32.Checksum(raw, castagnoli)}, nil
}

var (
	errPacking = errors.New("is not whole gzip")
	errNoPlace = errors.New("no memory for a large answer in time")
)

// inflate unpacks all of src into dst. One byte beyond limit ends it with errTooLarge, before more is
// inflated; a checksum that is wrong, a cut end and garbage behind the end are errPacking.
func inflate(dst *bytes.Buffer, src []byte, limit int64, enlarge func() error) error {
	z := unpackers.Get().(*gzip.Reader)
	defer unpackers.Put(z)
	if err := z.Reset(bytes.NewReader(src)); err != nil {
		return fmt.Errorf("%w: %w", errPacking, err)
	}
	switch n, err := readAtMost(dst, z, limit, enlarge); {
	case errors.Is(err, errNoPlace):
		return err
	case n > limit:
		return errTooLarge
	case err != nil:
		return fmt.Errorf("%w: %w", errPacking, err)
	}
	return nil
}

var (
	unpackers = sync.Pool{New: func() any { return new(gzip.Reader) }}
	buffers   = sync.Pool{New: func() any { return new(bytes.Buffer) }}
)

// keepBuffer bounds what the pool keeps, in bytes: above the largest recorded timeline, below the limit.
const keepBuffer = 2 << 20

func borrow() *bytes.Buffer { return buffers.Get().(*bytes.Buffer) }

func giveBack(b *bytes.Buffer) {
	// One hostile answer must not keep 8 MiB for every worker.
	if b == nil || b.Cap() > keepBuffer {
		return
	}
	b.Reset()
	buffers.Put(b)
}
