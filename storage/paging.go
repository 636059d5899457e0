package storage

import (
	"bytes"
	"encoding/hex"

	"github.com/farsight-console/farsight/storage/internal/both"
)

// maxScan rows are looked at for one page of a filtered list; a page that ends there has a cursor
// to go on.
const maxScan = 20_000

func encodeCursor(k, prefix []byte) string { return hex.EncodeToString(k[len(prefix):]) }

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
