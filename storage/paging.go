package storage

import (
	"bytes"
	"encoding/hex"
	"fmt"

	"github.com/farsight-console/farsight/engine"
)

// maxScan rows are looked at for one page of a filtered list; a page that ends there has a cursor
// to go on.
const maxScan = 20_000

const (
	defaultPage = 100
	// maxPage is the largest page that is given.
	maxPage = 500
)

// pageSize is how many rows a page has at most. 0 and less ask for the usual number, too many for
// the most.
func pageSize(p engine.Page) int {
	if p.Limit <= 0 {
		return defaultPage
	}
	return min(p.Limit, maxPage)
}

// badPage refuses an After that is no page's Next.
func badPage(after string) error {
	return fmt.Errorf("%w: after=%q is no place in this list: give the next that the page before ended with, or none to begin", engine.ErrInvalid, after)
}

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
		return nil, badPage(s)
	}
	return append(bytes.Clone(prefix), b...), nil
}
