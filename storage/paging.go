package storage

import (
	"bytes"
	"encoding/hex"

	"github.com/farsight-console/farsight/storage/internal/both"
)

// maxScan rows are looked at for one page of a filtered list; a page that ends there has a cursor
// to go on.
const maxScan = 20_000

// encodeCursor makes a place that other programs keep from a key: what the list is of (prefix) is
// asked for anew each time and not in it.
func encodeCursor(k, prefix []byte) string { return hex.EncodeToString(k[len(prefix):]) }

// decodeCursor gives the key back; nil = at the beginning. What is no hexadecimal is refused as the
// caller's fault.
func decodeCursor(s string, prefix []byte) ([]byte, error) {
	if s == "" {
		return nil, nil
	}
	b, err := hex.DecodeString(s)
	if err != nil {
		return nil, both.BadPage(s)
	}
	return append(bytes.Clone(prefix), b...), nil
}
