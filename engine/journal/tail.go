package journal

import (
	"bufio"
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"time"

	"github.com/farsight-console/farsight/engine"
	"github.com/farsight-console/farsight/engine/regular"
)

// Bounds of reading a log file.
const (
	maxLine   = 1 << 20
	pollEvery = 250 * time.Millisecond
)

// Tail reads the end of a log file: its newest records, and then what is appended.
// The file may belong to a running engine. It is for one goroutine.
type Tail struct {
	path  string
	clean func([]byte) []byte
	file  *os.File
	rest  []byte // a line that is not whole yet
}

// NewTail makes a Tail of a file that need not be there yet. clean takes out of
// each line what may not be shown; nil = nothing is.
func NewTail(path string, clean func([]byte) []byte) *Tail {
	if clean == nil {
		clean = func(b []byte) []byte { return b }
	}
	return &Tail{path: path, clean: clean}
}

// Fill reads what the end of the file holds, and of the file set aside before it
// when that is not enough, into a ring. Follow goes on from there. A file that is
// not there is an empty one.
func (t *Tail) Fill(r *Ring) error {
	room := int64(r.rows.bytes)
	if st, err := os.Stat(t.path); err == nil && st.Size() < room {
		aside := &Tail{path: t.path + ".1", clean: t.clean}
		defer aside.Close()
		if err := aside.fill(r, room-st.Size()); err != nil {
			return err
		}
		if len(aside.rest) > 0 { // its last line was cut off, and nothing follows
			aside.yieldLine(aside.rest, func(row engine.LogRow) bool { r.Add(row); return true })
		}
	}
	return t.fill(r, room)
}

// fill reads the last n bytes of the file.
func (t *Tail) fill(r *Ring, n int64) error {
	if err := t.open(); err != nil || t.file == nil {
		return err
	}
	if err := skipTo(t.file, n); err != nil {
		return fmt.Errorf("read the log %s: %w", t.path, err)
	}
	return t.read(func(row engine.LogRow) bool {
		r.Add(row)
		return true
	})
}

// skipTo leaves the last n bytes of a file to be read, from the next whole line.
func skipTo(f *os.File, n int64) error {
	st, err := f.Stat()
	if err != nil || st.Size() <= n {
		return err
	}
	// Where that falls into a line, what is left of it is no record.
	at := st.Size() - n
	if _, err := f.Seek(at, io.SeekStart); err != nil {
		return err
	}
	head := make([]byte, min(n, maxLine))
	got, err := io.ReadFull(f, head)
	if err != nil && !errors.Is(err, io.ErrUnexpectedEOF) && !errors.Is(err, io.EOF) {
		return err
	}
	_, err = f.Seek(at+int64(bytes.IndexByte(head[:got], '\n')+1), io.SeekStart)
	return err
}

// Follow hands over each record that is appended from now on, until ctx ends or
// yield answers false. A file that was set aside is read to its end first.
func (t *Tail) Follow(ctx context.Context, yield func(engine.LogRow) bool) error {
	tick := time.NewTicker(pollEvery)
	defer tick.Stop()
	for {
		if err := t.more(yield); err != nil {
			if errors.Is(err, errEnough) {
				return nil
			}
			return err
		}
		select {
		case <-ctx.Done():
			return nil
		case <-tick.C:
		}
	}
}

// errEnough ends Follow: its reader wants no more.
var errEnough = errors.New("enough")

// more reads what was appended, and goes over to a new file when there is one.
func (t *Tail) more(yield func(engine.LogRow) bool) error {
	if t.file == nil {
		if err := t.open(); err != nil || t.file == nil {
			return err
		}
	}
	// Asked before the rest is read: what is appended between the two is not lost with the old file.
	aside := t.replaced()
	if err := t.read(yield); err != nil || !aside {
		return err
	}
	t.Close()
	if err := t.open(); err != nil || t.file == nil {
		return err
	}
	return t.read(yield)
}

// replaced reports whether the path names another file by now, or a shorter one. A shorter one was cut
// by somebody: what is in it now was not read.
func (t *Tail) replaced() bool {
	ours, err1 := t.file.Stat()
	now, err2 := os.Stat(t.path)
	at, err3 := t.file.Seek(0, io.SeekCurrent)
	return err1 == nil && err2 == nil && err3 == nil && (!os.SameFile(ours, now) || now.Size() < at)
}

// open opens the file, if there is one.
func (t *Tail) open() error {
	f, _, err := regular.Open(t.path, regular.NoFollow)
	if errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	if err != nil {
		return fmt.Errorf("read the log: %w", err)
	}
	t.file, t.rest = f, nil
	return nil
}

// read takes all whole lines up to the end of the file; what is left waits for its end.
func (t *Tail) read(yield func(engine.LogRow) bool) error {
	for lines := bufio.NewReaderSize(t.file, 64<<10); ; {
		part, err := lines.ReadSlice('\n')
		t.rest = append(t.rest, part...)
		switch {
		case err == nil:
			if !t.yieldLine(t.rest, yield) {
				return errEnough
			}
			t.rest = t.rest[:0]
		case len(t.rest) > maxLine:
			t.rest = nil // no record is that long
		}
		// The end of a file that an engine still writes is not the end of its log: Follow comes again.
		if errors.Is(err, io.EOF) {
			return nil
		}
		if err != nil && !errors.Is(err, bufio.ErrBufferFull) {
			return fmt.Errorf("read the log %s: %w", t.path, err)
		}
	}
}

// yieldLine hands one line over, cleaned. An empty one is no record.
func (t *Tail) yieldLine(line []byte, yield func(engine.LogRow) bool) bool {
	if len(bytes.TrimSpace(line)) == 0 {
		return true
	}
	row, _ := Decode(t.clean(line))
	return yield(row)
}

// Close lets go of the file.
func (t *Tail) Close() {
	if t.file != nil {
		_ = t.file.Close()
	}
	t.file, t.rest = nil, nil
}
