package scratch

import (
	"errors"
	"io"
	"os"

	"golang.org/x/sys/unix"
)

// stretch is where a file's next data lie from an offset on: a database is mostly holes at first. At its end it
// gives io.EOF.
func stretch(f *os.File, from int64) (at, end int64, err error) {
	if at, err = f.Seek(from, unix.SEEK_DATA); err == nil {
		end, err = f.Seek(at, unix.SEEK_HOLE)
	}
	if errors.Is(err, unix.ENXIO) {
		err = io.EOF
	}
	return at, end, err
}
