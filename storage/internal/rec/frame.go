// Package rec frames and encodes the records of the store.
//
// A record on disk is one format byte, a body and four bytes of CRC-32C. bbolt itself has no
// checksum on data pages: about four in ten flipped bytes pass its own page check unseen. The sum
// also covers the table's name and the key, so that a record that turns up under another key, or in
// another table, is found out as well.
package rec

import (
	"encoding/binary"
	"errors"
	"hash/crc32"
)

const (
	formatSize = 1
	sumSize    = 4
	// overhead is what a frame adds to a body, in bytes.
	overhead = formatSize + sumSize
)

// Formats of records that are not of one table alone. Formats are on disk: each stands for one
// shape for ever.
const (
	Marker byte = 1
	Number byte = 2
	Text   byte = 3
	Blob   byte = 4
	Boot   byte = 5
	Time   byte = 25
)

// Formats of what the store keeps about itself, numbered apart from the others.
const (
	Dictionary byte = 128 + iota // in shards
	Place
	Sizes
)

// Faults of a frame.
var (
	errShort = errors.New("record is shorter than its frame")
	ErrSum   = errors.New("checksum does not hold")
)

var castagnoli = crc32.MakeTable(crc32.Castagnoli)

// Sum is the CRC-32C of data.
func Sum(data []byte) uint32 { return crc32.Checksum(data, castagnoli) }

// Seed is the part of the sum that all records of a table share.
type Seed uint32

// TableSeed returns the seed of the table called name.
func TableSeed(name string) Seed { return Seed(Sum([]byte(name))) }

// Of is the CRC-32C of data that is stored under key in the seed's table.
func (s Seed) Of(key, data []byte) uint32 {
	return crc32.Update(crc32.Update(uint32(s), castagnoli, key), castagnoli, data)
}

// Seal closes the record that c wrote: the bytes to store under key. c is not used afterwards. The
// error is that of a value that cannot be written as JSON.
func (s Seed) Seal(key []byte, c *Coder) ([]byte, error) {
	return binary.LittleEndian.AppendUint32(c.b, s.Of(key, c.b)), c.err
}

// Open checks the record stored under key and returns its format and body. The body points into
// value.
func (s Seed) Open(key, value []byte) (format byte, body []byte, err error) {
	if len(value) < overhead {
		return 0, nil, errShort
	}
	framed := value[:len(value)-sumSize]
	if s.Of(key, framed) != binary.LittleEndian.Uint32(value[len(framed):]) {
		return 0, nil, ErrSum
	}
	return framed[0], framed[formatSize:], nil
}
