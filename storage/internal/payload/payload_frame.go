package payload

import (
	"bytes"
	"encoding/binary"
	"errors"
	"fmt"
	"io"

	"github.com/klauspost/compress/gzip"
	"github.com/klauspost/compress/zstd"

	"github.com/farsight-console/farsight/engine/league"
	"github.com/farsight-console/farsight/storage/internal/rec"
)

// A stored payload is a header, the bytes as they arrived or as the archiver packed them, and the
// CRC-32C of both and of the match and part they belong to. The header's own sum is that of the raw
// JSON. The header is the truth about codec and size: a match row keeps those of the day it was
// fetched. (little-endian)
//
//	format 1: codec byte | raw length u32 | CRC-32C of raw u32 | bytes … | CRC-32C u32
//	format 2: the same with a u32 before the bytes, which is 0; written by the archiver
const (
	formatArrived  = 1
	formatArchived = 2
	HeaderSize     = 10
	archivedHeader = HeaderSize + 4
	SumSize        = 4
)

// Codecs on disk, and their names in a league.PayloadRef.
var codecs = [...]string{1: CodecIdentity, 2: CodecGzip, 3: codecZstd, 4: codecColumns}

const (
	CodecIdentity = "identity"
	CodecGzip     = "gzip"
	codecZstd     = "zstd"
	codecColumns  = "zstd-columns" // the JSON taken apart into columns (columns.go), then zstd
)

func codecNumber(name string) (byte, error) {
	for i, n := range codecs {
		if n == name && i > 0 {
			return byte(i), nil
		}
	}
	return 0, fmt.Errorf("payload codec %q is not known: use identity, gzip, zstd or zstd-columns", name)
}

var payloadSeed = rec.TableSeed(Table)

// Frame is a stored payload, taken apart. Its body points into the value it was read from.
type Frame struct {
	Ref  league.PayloadRef
	dict uint32 // number of the dictionary that it needs, as archives had until 2026-11; 0 = none
	Body []byte
}

// Seal makes the value to store for a payload as it arrived.
func Seal(match string, part league.Part, ref league.PayloadRef, body []byte) ([]byte, error) {
	return sealFrame(match, part, Frame{Ref: ref, Body: body})
}

func sealFrame(match string, part league.Part, f Frame) ([]byte, error) {
	codec, err := codecNumber(f.Ref.Codec)
	if err != nil {
		return nil, err
	}
	if len(f.Body) == 0 || f.Ref.RawLen <= 0 || f.Ref.RawLen > maxInflated || len(f.Body) > maxInflated {
		return nil, fmt.Errorf("payload of %d bytes (%d raw): outside 1 to %d", len(f.Body), f.Ref.RawLen, maxInflated)
	}
	// A payload that arrived keeps the first format, which every Farsight reads: only what was
	// archived needs the second.
	format := byte(formatArrived)
	if f.archived() {
		format = formatArchived
	}
	v := make([]byte, 0, archivedHeader+len(f.Body)+SumSize)
	v = append(v, format, codec)
	v = binary.LittleEndian.AppendUint32(v, uint32(f.Ref.RawLen))
	v = binary.LittleEndian.AppendUint32(v, f.Ref.CRC)
	if format == formatArchived {
		v = binary.LittleEndian.AppendUint32(v, 0)
	}
	v = append(v, f.Body...)
	return binary.LittleEndian.AppendUint32(v, payloadSeed.Of(payloadKey(match, part), v)), nil
}

// archived reports whether the archiver packed the payload.
func (f Frame) archived() bool { return f.Ref.Codec == codecColumns }

// packed reports whether there is nothing left for the archiver to do.
func (f Frame) packed() bool { return f.Ref.Codec == codecColumns || f.Ref.Codec == codecZstd }

// same reports whether both hold the same JSON.
func (f Frame) same(o league.PayloadRef) bool { return f.Ref.CRC == o.CRC && f.Ref.RawLen == o.RawLen }

// Open checks a stored value and takes it apart.
func Open(month, match string, part league.Part, v []byte) (f Frame, err error) {
	if len(v) < HeaderSize+SumSize {
		return f, errors.New("shorter than its frame")
	}
	framed, sum := v[:len(v)-SumSize], binary.LittleEndian.Uint32(v[len(v)-SumSize:])
	if payloadSeed.Of(payloadKey(match, part), framed) != sum {
		return f, rec.ErrSum
	}
	format, codec, header := framed[0], int(framed[1]), HeaderSize
	if format == formatArchived {
		header = archivedHeader
	}
	if format != formatArrived && format != formatArchived || codec == 0 || codec >= len(codecs) || len(framed) < header {
		return f, fmt.Errorf("format %d, codec %d: not known", format, codec)
	}
	if format == formatArchived {
		f.dict = binary.LittleEndian.Uint32(framed[HeaderSize:])
	}
	f.Body = framed[header:]
	f.Ref = league.PayloadRef{
		Month:  month,
		Codec:  codecs[codec],
		Size:   len(f.Body),
		RawLen: int(binary.LittleEndian.Uint32(framed[2:])),
		CRC:    binary.LittleEndian.Uint32(framed[6:]),
	}
	return f, nil
}

func payloadKey(match string, part league.Part) []byte { return []byte(match + "/" + string(part)) }

// Raw gives the JSON of a payload and proves that it is the one that was stored.
func (f Frame) Raw() ([]byte, error) {
	if f.dict != 0 {
		return nil, errDictionary
	}
	return Raw(f.Ref, f.Body, func() ([]byte, error) {
		switch f.Ref.Codec {
		case codecZstd:
			return decoder.DecodeAll(f.Body, nil)
		case codecColumns:
			cols, err := decoder.DecodeAll(f.Body, nil)
			if err != nil {
				return nil, err
			}
			return joinColumns(cols, f.Ref.RawLen)
		}
		return Unknown()
	})
}

// errDictionary is why a payload cannot be read that was packed with a dictionary.
var errDictionary = errors.New("a Farsight of before the first release has packed it with a dictionary, which this one does not read: " +
	"`farsight check --repair` has it fetched again")

// byDictionary reports whether a stored value is such a payload.
func byDictionary(v []byte) bool {
	return len(v) > archivedHeader && v[0] == formatArchived && binary.LittleEndian.Uint32(v[HeaderSize:]) != 0
}

// decoder unpacks what the archiver has packed. It refuses a body that claims to be larger than any payload may be, in
// columns too, before memory is taken for it. It is made at the start: made at its first use in a bubble of synctest, it
// would belong to that.
var decoder = func() *zstd.Decoder {
	d, err := zstd.NewReader(nil, zstd.WithDecoderMaxMemory(2*maxInflated), zstd.WithDecoderConcurrency(cap(unpacking)))
	if err != nil {
		panic(err) // these options are right
	}
	return d
}()

// Table holds one nested table per match. As plain values a leaf would split only above four
// entries, so that each write would copy its neighbours (4.9 times the data, against 1.5 with
// nested tables and 1.1 in groups of eight).
const Table = "p"

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
