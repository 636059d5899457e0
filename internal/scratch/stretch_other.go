//go:build !linux

package scratch

import (
	"io"
	"os"
)

// stretch is all that a file has from an offset on.
func stretch(f *os.File, from int64) (at, end int64, err error) {
	end, err = f.Seek(0, io.SeekEnd)
	if err == nil && from >= end {
		err = io.EOF
	}
	return from, end, err
}
