package block_test

import (
	"testing"

	"github.com/farsight-console/farsight/ui/block"
)

// TestShorter_AListKeepsItsRows: its header too, and the sentence of one that is empty.
func TestShorter_AListKeepsItsRows(t *testing.T) {
	for h := range 60 {
		for rows := range 60 {
			if got := block.Shorter(h, rows); got > h || got < min(h, max(rows, 1)+1) {
				t.Errorf("%d rows of %d are given %d", rows, h, got)
			}
		}
	}
}
