package storage

import (
	"bytes"
	"encoding/hex"
	"fmt"

	"github.com/farsight-console/farsight/engine"
)

const (
	defaultPage = 100
	maxPage     = 500
	// maxScan rows are looked at for one page of a filtered list; a page that ends there has a cursor to go on.
	maxScan = 20_000
)

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

func encodeCursor(k, prefix []byte) string { return hex.EncodeToString(k[len(prefix):]) }

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
