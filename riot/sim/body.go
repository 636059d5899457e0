package sim

import (
	"bytes"
	"sync"

	"github.com/klauspost/compress/gzip"
)

var (
	scratch     = sync.Pool{New: func() any { b := make([]byte, 0, 1<<20); return &b }}
	compressors = sync.Pool{New: func() any { return newCompressor() }}
)

// compressLevel is the fastest: a match has a quarter more bytes than at the default level, for less than half of its
// time (measured), and a simulator at full speed mostly compresses.
const compressLevel = gzip.BestSpeed

func newCompressor() *gzip.Writer {
	w, err := gzip.NewWriterLevel(nil, compressLevel)
	if err != nil {
		panic(err) // the level is a constant
	}
	return w
}

// gzipped is the compressed form of what write appends.
func gzipped(write func([]byte) []byte) []byte {
	// The plain text is needed no longer than it takes to pack it.
	buf := scratch.Get().(*[]byte)
	*buf = write((*buf)[:0])
	gz := compress(*buf)
	scratch.Put(buf)
	return gz
}

func compress(raw []byte) []byte {
	var out bytes.Buffer
	w := compressors.Get().(*gzip.Writer)
	w.Reset(&out)
	_, err1 := w.Write(raw)
	if err2 := w.Close(); err1 != nil || err2 != nil {
		panic("sim: compressing into memory failed") // a bytes.Buffer takes everything
	}
	compressors.Put(w)
	return out.Bytes()
}
