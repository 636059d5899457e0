package storage

import (
	bolt "go.etcd.io/bbolt"

	"github.com/farsight-console/farsight/engine"
	"github.com/farsight-console/farsight/storage/internal/disk"
)

// arenaChunk holds the keys and records of an ordinary group.
const arenaChunk = 256 << 10

// arena gives out memory that lasts until the next reset: bbolt keeps the values that it is given until the transaction
// ends, and copies the keys. A nil arena gives memory from the heap.
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

// reuse is what the committer's transactions use one after the other, so that a job costs as little memory as it may.
type reuse struct {
	mem     arena
	draft   []byte
	changes []engine.Change
	buckets []*bolt.Bucket
	cursors []*bolt.Cursor
	moved   map[uint64]*engine.Job

	// running has the jobs that the commits so far have left running, as they are stored: the outcome of each will ask for
	// it, and only the committer changes it.
	running map[uint64]*engine.Job
}

func newReuse() *reuse {
	return &reuse{
		buckets: make([]*bolt.Bucket, len(tables)),
		cursors: make([]*bolt.Cursor, len(tables)),
		moved:   map[uint64]*engine.Job{},
		running: map[uint64]*engine.Job{},
	}
}

// lend gives t what the transaction before it used. That one must have ended.
func (r *reuse) lend(t *txn) {
	r.mem.reset()
	clear(r.buckets)
	clear(r.cursors)
	clear(r.moved)
	t.mem, t.draft, t.buckets, t.cursors, t.moved, t.running = &r.mem, r.draft, r.buckets, r.cursors, r.moved, r.running
	t.changes = r.changes[:0]
}

// committed takes in what t has changed, after its commit.
func (r *reuse) committed(t *txn) {
	r.draft = t.draft
	for n, j := range t.moved {
		if j == nil {
			delete(r.running, n)
			continue
		}
		r.running[n] = j
	}
}

// takeBack ends the use of a transaction's changes, which keep jobs from being collected. Ones that are unusually many are
// not kept.
func (r *reuse) takeBack(changes []engine.Change) {
	clear(changes)
	if cap(changes) > 8*disk.MaxGroupOps {
		changes = nil
	}
	r.changes = changes[:0]
}
