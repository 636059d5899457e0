package terminal

import (
	"strings"
	"testing"
)

// TestNoOutletWithoutATerminal: a pipe and a buffer have no deadline of ours.
func TestNoOutletWithoutATerminal(t *testing.T) {
	if o := newOutlet(&strings.Builder{}, 0, nil); o != nil {
		t.Error("a buffer is no terminal")
	}
}
