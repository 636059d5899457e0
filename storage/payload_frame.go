package storage

import (
	"bytes"
	"compress/gzip"
	"encoding/binary"
	"errors"
	"fmt"
	"io"

	"github.com/klauspost/compress/zstd"

	"github.com/farsight-console/farsight/engine/league"
	"github.com/farsight-console/farsight/storage/internal/rec"
)

// A stored payload is a header, the bytes as they arrived, and the CRC-32C of both and of the match and part they belong
// to. The header's own sum is that of the raw JSON.
//
//	format 1 | codec 1 | raw length u32 | CRC-32C of raw u32 | bytes … | CRC-32C u32   (little-endian)
const (
	payloadFormat = 1
	payloadHeader = 10
	payloadSum    = 4

	// maxInflated bounds what a payload may become: half a megabyte of gzip can hold half a gigabyte.
	maxInflated = 32 << 20
)

// Codecs on disk, and their names in a league.PayloadRef.
var codecs = [...]string{1: "identity", 2: "gzip", 3: "zstd"}

func codecNumber(name string) (byte, error) {
	for i, n := range codecs {
		if n == name && i > 0 {
			return byte(i), nil
		}
	}
	return 0, fmt.Errorf("payload codec %q is not known: use identity, gzip or zstd", name)
}

var payloadSeed = rec.TableSeed(payloadTable)

// sealPayload makes the value to store for a payload.
func sealPayload(match string, part league.Part, ref league.PayloadRef, body []byte) ([]byte, error) {
	codec, err := codecNumber(ref.Codec)
	if err != nil {
		return nil, err
	}
	if len(body) == 0 || ref.RawLen <= 0 || ref.RawLen > maxInflated || len(body) > maxInflated {
		return nil, fmt.Errorf("payload of %d bytes (%d raw): outside 1 to %d", len(body), ref.RawLen, maxInflated)
	}
	v := make([]byte, 0, payloadHeader+len(body)+payloadSum)
	v = append(v, payloadFormat, codec)
	v = binary.LittleEndian.AppendUint32(v, uint32(ref.RawLen))
	v = binary.LittleEndian.AppendUint32(v, ref.CRC)
	v = append(v, body...)
	return binary.LittleEndian.AppendUint32(v, payloadSeed.Of(payloadKey(match, part), v)), nil
}

// openPayload checks a stored value and returns what its header says, and the bytes as they arrived, which point into v.
func openPayload(month, match string, part league.Part, v []byte) (ref league.PayloadRef, body []byte, err error) {
	if len(v) < payloadHeader+payloadSum {
		return ref, nil, errors.New("shorter than its frame")
	}
	framed, sum := v[:len(v)-payloadSum], binary.LittleEndian.Uint32(v[len(v)-payloadSum:])
	if payloadSeed.Of(payloadKey(match, part), framed) != sum {
		return ref, nil, rec.ErrSum
	}
	codec := int(framed[1])
	if framed[0] != payloadFormat || codec == 0 || codec >= len(codecs) {
		return ref, nil, fmt.Errorf("format %d, codec %d: not known", framed[0], codec)
	}
	body = framed[payloadHeader:]
	return league.PayloadRef{
		Month:  month,
		Codec:  codecs[codec],
		Size:   len(body),
		RawLen: int(binary.LittleEndian.Uint32(framed[2:])),
		CRC:    binary.LittleEndian.Uint32(framed[6:]),
	}, body, nil
}

func payloadKey(match string, part league.Part) []byte { return []byte(match + "/" + string(part)) }

// Inflate gives the raw JSON of a payload and proves that it is what ref says.
func Inflate(ref league.PayloadRef, body []byte) ([]byte, error) {
	if ref.RawLen < 0 || ref.RawLen > maxInflated {
		return nil, fmt.Errorf("raw length %d is above %d", ref.RawLen, maxInflated)
	}
	raw, err := inflate(ref, body)
	if err != nil {
		return nil, fmt.Errorf("inflate %s: %w", ref.Codec, err)
	}
	if len(raw) != ref.RawLen || rec.Sum(raw) != ref.CRC {
		return nil, fmt.Errorf("raw payload of %d bytes is not the one that was stored", len(raw))
	}
	return raw, nil
}

func inflate(ref league.PayloadRef, body []byte) ([]byte, error) {
	switch ref.Codec {
	case "identity":
		return body, nil
	case "gzip":
		r, err := gzip.NewReader(bytes.NewReader(body))
		if err != nil {
			return nil, err
		}
		return readAtMost(r, ref.RawLen)
	case "zstd":
		r, err := zstd.NewReader(bytes.NewReader(body), zstd.WithDecoderMaxMemory(maxInflated), zstd.WithDecoderConcurrency(1))
		if err != nil {
			return nil, err
		}
		defer r.Close()
		return readAtMost(r, ref.RawLen)
	}
	return nil, errors.New("codec is not known")
}

// readAtMost reads to the end, but no more than one byte above size: enough to see that it is too long.
func readAtMost(r io.Reader, size int) ([]byte, error) {
	buf := bytes.NewBuffer(make([]byte, 0, size+bytes.MinRead))
	_, err := buf.ReadFrom(io.LimitReader(r, int64(size)+1))
	return buf.Bytes(), err
}
