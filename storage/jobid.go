package storage

import (
	"fmt"

	"github.com/farsight-console/farsight/engine"
	"github.com/farsight-console/farsight/storage/key"
)

func jobID(n uint64) engine.JobID { return engine.JobID(key.JobID(n)) }

// jobNumber is the opposite of jobID; ErrNotFound for what no job can be called.
func jobNumber(id engine.JobID) (uint64, error) {
	n, ok := key.JobNumber(string(id))
	if !ok {
		return 0, noJob(id)
	}
	return n, nil
}

// noJob is the error of an id that no job has, as `job "b41": not found`.
func noJob(id engine.JobID) error { return fmt.Errorf("job %q: %w", id, engine.ErrNotFound) }

// jobKey is the key of a job's rows.
func jobKey(id engine.JobID) ([]byte, error) {
	n, err := jobNumber(id)
	if err != nil {
		return nil, err
	}
	return key.Uint64(n), nil
}

// jobKey is the same in the transaction's memory.
func (t *txn) jobKey(id engine.JobID) ([]byte, error) {
	n, err := jobNumber(id)
	if err != nil {
		return nil, err
	}
	return t.NumberKey(n), nil
}

// keyJob is a job's number in a key.
func keyJob(c *key.Coder, id *engine.JobID) {
	// When a key is read the id is not set yet: n is then 0, and set by the key.
	n := mustNumber(*id)
	if c.Uint64(&n); c.Reading() {
		*id = jobID(n)
	}
}

// mustNumber is jobNumber for an id that has been checked already.
func mustNumber(id engine.JobID) uint64 {
	n, _ := jobNumber(id)
	return n
}
