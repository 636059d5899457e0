package payload

import (
	"bytes"
	"errors"
	"fmt"
	"io"

	"github.com/klauspost/compress/gzip"

	"github.com/farsight-console/farsight/engine/league"
	"github.com/farsight-console/farsight/storage/internal/rec"
)

// maxInflated bounds what a payload may become, in bytes: half a megabyte of gzip can hold half a gigabyte. It is
// above what is taken of an answer of Riot.
const maxInflated = 8 << 20

// unpacking has the places of the payloads that are unpacked at once, by whomever: 300 of maxInflated would be 2.4 GB.
// Whoever has a place waits for nothing.
var unpacking = make(chan struct{}, 4)

// Unknown is Raw's unpack where there are no other codecs.
func Unknown() ([]byte, error) { return nil, errors.New("codec is not known") }

// Raw gives the JSON of a payload, proved: it has the length and the checksum of what was stored. unpack is for a codec
// that is not one of those in which payloads arrive; it gives at most maxInflated bytes. The error names the codec, or
// says what does not fit.
func Raw(ref league.PayloadRef, body []byte, unpack func() ([]byte, error)) ([]byte, error) {
	if ref.RawLen < 0 || ref.RawLen > maxInflated {
		return nil, fmt.Errorf("raw length %d is above %d", ref.RawLen, maxInflated)
	}
	unpacking <- struct{}{}
	defer func() { <-unpacking }()
	raw, err := body, error(nil)
	switch ref.Codec {
	case CodecIdentity:
	case CodecGzip:
		raw, err = inflate(body, ref.RawLen)
	default:
		raw, err = unpack()
	}
	if err != nil {
		return nil, fmt.Errorf("inflate %s: %w", ref.Codec, err)
	}
	return raw, Prove(ref, raw)
}

// inflate unpacks gzip of so many bytes.
func inflate(body []byte, size int) ([]byte, error) {
	r, err := gzip.NewReader(bytes.NewReader(body))
	if err != nil {
		return nil, err
	}
	// No more than one byte above its size is read: enough to see that it is too long.
	buf := bytes.NewBuffer(make([]byte, 0, size+bytes.MinRead))
	_, err = buf.ReadFrom(io.LimitReader(r, int64(size)+1))
	return buf.Bytes(), err
}

// Prove compares the JSON of a payload with what was said of it when it was stored. CRC-32C finds
// what a disk or a copy has changed; it is no proof against whoever wants to change it.
func Prove(ref league.PayloadRef, raw []byte) error {
	if len(raw) != ref.RawLen || rec.Sum(raw) != ref.CRC {
		return fmt.Errorf("raw payload of %d bytes is not the one that was stored", len(raw))
	}
	return nil
}
