package storage

import (
	"fmt"
	"slices"
	"time"

	bolt "go.etcd.io/bbolt"

	"github.com/farsight-console/farsight/engine"
	"github.com/farsight-console/farsight/storage/internal/collection"
	"github.com/farsight-console/farsight/storage/internal/disk"
)

// txn is one transaction: a reading one, or the part of a group commit that one Write is. It is an
// engine.Tx. It must not be used after the function that it was given to has returned, nor by
// another goroutine.
type txn struct {
	collection.Tx

	changes []engine.Change    // in the order of Emit; published after the commit
	touched []string           // accounts whose row changed; their rows are made once, before the commit
	days    map[string]*dayRow // what was added to days' sums; written once, before the commit

	region func(platform string) string // for account rows: "euw1" -> "europe"

	last engine.Job // the job that was read last: whoever moves a job reads it several times
	live engine.Job // memory for the live job that is read

	// Of the committer's transactions only: see job.
	moved   map[uint64]*engine.Job // jobs that were written: how they run now; nil = they do not
	running map[uint64]*engine.Job // before this transaction
}

var _ engine.Tx = (*txn)(nil)

// dayRow is one UTC day in table days. A job counts on the day it ended, as long as it stays ended:
// one that is opened again is taken back, and counts when it ends the next time. An attempt counts
// on the day it ended.
//
// pruned is the part of all whose jobs and attempts Prune has removed, so that check can recount
// the day: all is what is there, and pruned.
type dayRow struct{ all, pruned engine.DaySum }

// newTx is a transaction with memory of its own, of a store whose platforms have no region.
func newTx(b *bolt.Tx, now time.Time) *txn { return txnOn(collection.Begin(b, now)) }

func txnOn(t collection.Tx) *txn {
	return &txn{Tx: t, region: noRegion}
}

func noRegion(string) string { return "" }

// own gives our transaction back. Another backend's is a programming error.
func own(tx engine.Tx) *txn {
	t, ok := tx.(*txn)
	if !ok {
		panic(fmt.Sprintf("storage: a transaction of type %T is not from this store", tx))
	}
	return t
}

// Emit adds a change that is published after the commit of this transaction, and never if it fails.
func (t *txn) Emit(c engine.Change) { t.changes = append(t.changes, c) }

// touch asks for the account's row to be emitted as it is at the end of the transaction.
func (t *txn) touch(account string) {
	if account != "" && !slices.Contains(t.touched, account) {
		t.touched = append(t.touched, account)
	}
}

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
