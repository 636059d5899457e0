package storage

import (
	"fmt"
	"strconv"

	"github.com/farsight-console/farsight/engine"
	"github.com/farsight-console/farsight/storage/key"
)

// A job id is the decimal number of a sequence, led by a letter that tells how many digits follow: a7, b12, c812. It is
// short enough to type and sorts as text in the order of creation.

func jobID(n uint64) engine.JobID {
	var b [21]byte
	digits := strconv.AppendUint(b[1:1], n, 10)
	b[0] = idLetter(len(digits))
	return engine.JobID(b[:1+len(digits)])
}

func idLetter(digits int) byte { return 'a' + byte(digits) - 1 }

// jobNumber is the opposite of jobID; ErrNotFound for what no job can be called.
func jobNumber(id engine.JobID) (uint64, error) {
	if len(id) < 2 || id[0] != idLetter(len(id)-1) || id[1] == '0' {
		return 0, noJob(id)
	}
	n, err := strconv.ParseUint(string(id[1:]), 10, 64)
	if err != nil {
		return 0, noJob(id)
	}
	return n, nil
}

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
	return t.key(n), nil
}

// keyJob is a job's number in a key.
func keyJob(c *key.Coder, id *engine.JobID) {
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
