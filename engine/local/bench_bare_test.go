package local_test

import (
	"encoding/binary"
	"runtime"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	bolt "go.etcd.io/bbolt"
)

// bareCommitter gives jobs per second of bbolt and a goroutine that commits what is
// queued: one record of 40 bytes per op, two ops per job. It is the bound of any
// engine on such a store.
func bareCommitter(b *testing.B, jobs int) float64 {
	db, err := bolt.Open(b.TempDir()+"/bare.db", 0o600, &bolt.Options{FreelistType: bolt.FreelistMapType, NoFreelistSync: true})
	if err != nil {
		b.Fatal(err)
	}
	defer db.Close()
	ops := make(chan bareOp, benchWorkers)
	var last atomic.Uint64
	var callers sync.WaitGroup
	start := time.Now()
	for range benchWorkers {
		callers.Go(func() { callBare(ops, &last, jobs) })
	}
	go func() {
		callers.Wait()
		close(ops)
	}()
	for first := range ops {
		if err := commitBare(db, first, ops); err != nil {
			b.Fatal(err)
		}
	}
	return float64(jobs) / time.Since(start).Seconds()
}

// bareOp puts one state under a job's number.
type bareOp struct {
	job  uint64
	done chan struct{}
}

func callBare(ops chan<- bareOp, last *atomic.Uint64, jobs int) {
	done := make(chan struct{}, 1)
	for n := last.Add(1); n <= uint64(jobs); n = last.Add(1) {
		for range 2 {
			ops <- bareOp{n, done}
			<-done
		}
	}
}

func commitBare(db *bolt.DB, first bareOp, ops <-chan bareOp) error {
	runtime.Gosched() // as our store does: those that were just answered may have the next op ready
	group := []bareOp{first}
	err := db.Update(func(tx *bolt.Tx) error {
		table, err := tx.CreateBucketIfNotExists([]byte("state"))
		for i := 0; i < len(group) && err == nil; i++ {
			err = table.Put(binary.BigEndian.AppendUint64(nil, group[i].job), make([]byte, 40))
			if i+1 == len(group) {
				group = joinBare(group, ops)
			}
		}
		return err
	})
	for _, o := range group {
		o.done <- struct{}{}
	}
	return err
}

// joinBare adds an op that is queued already.
func joinBare(group []bareOp, ops <-chan bareOp) []bareOp {
	select {
	case o := <-ops:
		return append(group, o) // they close only when every caller was answered
	default:
		return group
	}
}
