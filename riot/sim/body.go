package sim

import (
	"bytes"
	"container/list"
	"sync"

	"github.com/klauspost/compress/gzip"
)

// bodies makes payloads and keeps the compressed ones that were asked for last.
type bodies struct {
	mu    sync.Mutex
	limit int
	size  int
	order *list.List // of *cached, latest use first
	byKey map[string]*list.Element
}

type cached struct {
	key string
	gz  []byte
}

func newBodies(limit int) *bodies {
	return &bodies{limit: limit, order: list.New(), byKey: map[string]*list.Element{}}
}

var (
	scratch     = sync.Pool{New: func() any { b := make([]byte, 0, 1<<20); return &b }}
	compressors = sync.Pool{New: func() any { return newCompressor() }}
)

// compressLevel is where size and cost meet: bodies are about a tenth larger than at the default level of
// compress/gzip, for half of its time on a match and a third on a timeline (measured).
const compressLevel = 5

func newCompressor() *gzip.Writer {
	w, err := gzip.NewWriterLevel(nil, compressLevel)
	if err != nil {
		panic(err) // the level is a constant
	}
	return w
}

// gzipped is the compressed form of what write appends; key names it in the cache, "" for never.
func (c *bodies) gzipped(key string, write func([]byte) []byte) []byte {
	if gz := c.find(key); gz != nil {
		return gz
	}
	buf := scratch.Get().(*[]byte)
	*buf = write((*buf)[:0])
	gz := compress(*buf)
	scratch.Put(buf)
	c.keep(key, gz)
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

func (c *bodies) find(key string) []byte {
	c.mu.Lock()
	defer c.mu.Unlock()
	e, ok := c.byKey[key]
	if !ok {
		return nil
	}
	c.order.MoveToFront(e)
	return e.Value.(*cached).gz
}

func (c *bodies) keep(key string, gz []byte) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if _, there := c.byKey[key]; there || key == "" || len(gz) > c.limit {
		return
	}
	c.byKey[key] = c.order.PushFront(&cached{key, gz})
	c.size += len(gz)
	for c.size > c.limit {
		e := c.order.Back()
		old := c.order.Remove(e).(*cached)
		delete(c.byKey, old.key)
		c.size -= len(old.gz)
	}
}
