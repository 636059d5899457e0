package collection

import (
	"time"

	bolt "go.etcd.io/bbolt"

	"github.com/farsight-console/farsight/storage/key"
)

// arenaChunk holds the keys and records of an ordinary group.
const arenaChunk = 256 << 10

// arena gives out memory that lasts until the next reset: bbolt keeps the values that it is given
// until the transaction ends, and copies the keys. A nil arena gives memory from the heap.
type arena struct{ rest, chunk []byte }

// take gives an empty slice with room for n bytes; an append beyond that moves to the heap.
func (a *arena) take(n int) []byte {
	if a == nil || n > arenaChunk/8 {
		return make([]byte, 0, n)
	}
	if n > len(a.rest) {
		a.chunk = make([]byte, arenaChunk)
		a.rest = a.chunk
	}
	b := a.rest[:0:n]
	a.rest = a.rest[n:]
	return b
}

// reset takes everything back. Nobody may hold any of it.
func (a *arena) reset() { a.rest = a.chunk }

// Memory is what a committer's transactions use one after the other, so that a row costs as little
// memory as it may.
type Memory struct {
	mem     arena
	draft   []byte
	log     []byte
	buckets []*bolt.Bucket
	cursors []*bolt.Cursor
}

// NewMemory is that of one file: a transaction uses it at a time.
func NewMemory() *Memory {
	return &Memory{buckets: make([]*bolt.Bucket, len(Tables)), cursors: make([]*bolt.Cursor, len(Tables))}
}

// Begin gives a transaction what the one before it used. That one must have ended.
func (m *Memory) Begin(b *bolt.Tx, now time.Time) Tx {
	m.mem.reset()
	clear(m.buckets)
	clear(m.cursors)
	return Tx{
		Bolt: b, Now: now, writable: b.Writable(),
		mem: &m.mem, draft: m.draft, log: m.log[:0], buckets: m.buckets, cursors: m.cursors,
	}
}

// Keep takes over, after the commit of t, the memory that t has made.
func (m *Memory) Keep(t *Tx) { m.draft, m.log = t.draft, t.log }

// Take gives an empty slice with room for n bytes that lasts as long as the transaction.
func (t *Tx) Take(n int) []byte { return t.mem.take(n) }

// NumberKey is the key of one number, for this transaction only.
func (t *Tx) NumberKey(n uint64) []byte { return key.AppendUint64(t.Take(8), n) }
