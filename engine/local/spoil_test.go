package local_test

import (
	"bytes"
	"encoding/binary"
	"fmt"
	"os"
	"strconv"

	bolt "go.etcd.io/bbolt"

	"github.com/farsight-console/farsight/engine"
)

// spoil flips a bit of a live job's record, wherever it lies in the state file.
// The file may be open: it is mapped, and sees the change. What the record is, a
// copy of the file tells.
func spoil(path string, id engine.JobID) error {
	n, err := strconv.ParseUint(string(id[1:]), 10, 64)
	if err != nil {
		return err
	}
	row, err := rowOf(path, binary.BigEndian.AppendUint64(nil, n))
	if err != nil {
		return err
	}
	f, err := os.OpenFile(path, os.O_RDWR, 0)
	if err != nil {
		return err
	}
	defer f.Close()
	raw, err := os.ReadFile(path)
	if err != nil {
		return err
	}
	found := 0
	for from := 0; ; found++ {
		at := bytes.Index(raw[from:], row)
		if at < 0 {
			break
		}
		at += from
		last := at + len(row) - 5 // of the body: the sum is in the last four
		if _, err := f.WriteAt([]byte{raw[last] ^ 4}, int64(last)); err != nil {
			return err
		}
		from = at + len(row)
	}
	if found == 0 {
		return fmt.Errorf("the record of job %s is not in %s", id, path)
	}
	return nil
}

// rowOf reads key and value of a job's state as they lie side by side on a page.
func rowOf(path string, k []byte) (row []byte, err error) {
	raw, err := os.ReadFile(path)
	if err != nil {
		return nil, err
	}
	dir, err := os.MkdirTemp("", "spoil")
	if err != nil {
		return nil, err
	}
	defer os.RemoveAll(dir)
	if err := os.WriteFile(dir+"/copy.db", raw, 0o600); err != nil {
		return nil, err
	}
	db, err := bolt.Open(dir+"/copy.db", 0o600, nil)
	if err != nil {
		return nil, err
	}
	defer db.Close()
	err = db.View(func(tx *bolt.Tx) error {
		v := tx.Bucket([]byte("job_state")).Get(k)
		if v == nil {
			return fmt.Errorf("no row %x", k)
		}
		row = append(bytes.Clone(k), v...)
		return nil
	})
	return row, err
}
