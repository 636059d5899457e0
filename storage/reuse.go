package storage

import (
	bolt "go.etcd.io/bbolt"

	"github.com/farsight-console/farsight/engine"
	"github.com/farsight-console/farsight/storage/internal/collection"
	"github.com/farsight-console/farsight/storage/internal/disk"
)

// reuse is what the committer's transactions use one after the other, so that a job costs as little
// memory as it may.
type reuse struct {
	*collection.Memory
	changes []engine.Change
	moved   map[uint64]*engine.Job // of the transaction that is under way

	// running has the jobs that the commits so far have left running, by number, as they are
	// stored: the outcome of each will ask for it, and only the committer changes it.
	running map[uint64]*engine.Job
}

func newReuse() *reuse {
	return &reuse{
		Memory: collection.NewMemory(), moved: map[uint64]*engine.Job{}, running: map[uint64]*engine.Job{},
	}
}

// begin gives a transaction what the one before it used. That one must have ended.
func (r *reuse) begin(b *bolt.Tx) *txn {
	clear(r.moved)
	t := txnOn(r.Begin(b, disk.Now()))
	t.changes, t.moved, t.running = r.changes[:0], r.moved, r.running
	return t
}

// committed takes in what t has changed, after its commit.
func (r *reuse) committed(t *txn) {
	r.Keep(&t.Tx)
	for n, j := range t.moved {
		if j == nil {
			delete(r.running, n)
			continue
		}
		r.running[n] = j
	}
}

// takeBack ends the use of a transaction's changes, which keep jobs from being collected. Ones that
// are unusually many are not kept.
func (r *reuse) takeBack(changes []engine.Change) {
	clear(changes)
	if cap(changes) > 8*disk.MaxGroupOps {
		changes = nil
	}
	r.changes = changes[:0]
}
