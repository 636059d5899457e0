package collection

import (
	"encoding/binary"
	"errors"
	"fmt"

	"github.com/farsight-console/farsight/storage/internal/disk"
)

// A transaction can log what it writes. Whoever carries the log out on a file that was the same before has
// the same rows and numbers after it:
//
//	put     "jobs" <key> <value as it is stored>
//	remove  "jobs" <key>
//	number  "jobs" 812, the last one that Next has given
//
// Each part is its length and its bytes. Rows of tables that are the file's own (Table.Own) are not in it.
const (
	logPut    = 'p'
	logRemove = 'r'
	logNumber = 'n'
)

// longestKey is what the index of a server's table takes of one, in bytes.
const longestKey = 2000

// Logs lets a transaction log what it writes.
func (t *Tx) Logs() { t.logs = true }

// Log is what was written so far. It is valid until the transaction ends.
func (t *Tx) Log() []byte { return t.log }

// note adds a step to the log.
func (t *Tx) note(step byte, tb *Table, parts ...[]byte) {
	if t.logs && !tb.own {
		t.log = appendStep(t.log, step, tb.Name, parts...)
	}
}

// appendStep adds a step to a log.
func appendStep(log []byte, step byte, table string, parts ...[]byte) []byte {
	log = append(log, step)
	log = append(binary.AppendUvarint(log, uint64(len(table))), table...)
	for _, p := range parts {
		log = append(binary.AppendUvarint(log, uint64(len(p))), p...)
	}
	return log
}

// Step is one of a log. Its bytes are the log's.
type Step struct {
	Table      string
	Key, Value []byte // no value = the row is removed
	Number     uint64 // in place of both: the last one that was given
}

var errLog = errors.New("a log of rows is not whole")

// Steps goes through a log.
func Steps(log []byte, do func(s Step) error) error {
	part := func() (p []byte, ok bool) {
		n, size := binary.Uvarint(log)
		if size <= 0 || n > uint64(len(log)-size) {
			return nil, false
		}
		p, log = log[size:size+int(n):size+int(n)], log[size+int(n):]
		return p, true
	}
	for len(log) > 0 {
		step := log[0]
		log = log[1:]
		table, ok := part()
		var first, second []byte
		if ok {
			first, ok = part()
		}
		s := Step{Table: string(table), Key: first}
		switch {
		case !ok:
		case step == logPut:
			second, ok = part()
			s.Value = second
		case step == logNumber:
			ok = len(first) == 8
			if s.Key = nil; ok {
				s.Number = binary.BigEndian.Uint64(first)
			}
		default:
			ok = step == logRemove
		}
		if !ok {
			return errLog
		}
		if err := do(s); err != nil {
			return err
		}
	}
	return nil
}

// Apply carries a log out, and proves each value that it stores.
func (t *Tx) Apply(log []byte) error {
	return Steps(log, t.Do)
}

// Do carries a step out.
func (t *Tx) Do(s Step) error {
	tb := named(s.Table)
	if tb == nil || tb.own {
		return fmt.Errorf("a log of rows has a table %q, which this program does not know", s.Table)
	}
	switch {
	case s.Key == nil:
		t.Dirty = true
		return t.Bucket(tb).SetSequence(s.Number)
	case s.Value == nil:
		return t.Remove(tb, s.Key)
	}
	if err := s.prove(tb); err != nil {
		return err
	}
	if !t.writable {
		return disk.ErrReadOnly
	}
	t.Dirty = true
	return t.Bucket(tb).Put(s.Key, s.Value)
}

// prove compares a row with its checksum.
func (s Step) prove(tb *Table) error {
	if _, _, err := tb.seed.Open(s.Key, s.Value); err != nil {
		return tb.Corrupt(s.Key, err)
	}
	return nil
}

// named is the table of a name; nil = there is none.
func named(name string) *Table {
	for _, tb := range Tables {
		if tb.Name == name {
			return tb
		}
	}
	return nil
}

// All gives every row and number of the tables that are not the file's own, as steps, and proves each.
func (t *Tx) All(do func(s Step) error) error {
	for _, tb := range Tables {
		if tb.own {
			continue
		}
		if n := t.Given(tb); n > 0 {
			if err := do(Step{Table: tb.Name, Number: n}); err != nil {
				return err
			}
		}
		for r := range t.Rows(tb, nil) {
			s := Step{Table: tb.Name, Key: r.Key, Value: r.Value}
			if err := s.prove(tb); err != nil {
				return err
			}
			if err := do(s); err != nil {
				return err
			}
		}
	}
	return nil
}

// Empty removes every row of the tables that are not the file's own.
func (t *Tx) Empty() error {
	for _, tb := range Tables {
		if tb.own {
			continue
		}
		if err := t.Bolt.DeleteBucket([]byte(tb.Name)); err != nil {
			return fmt.Errorf("empty table %s: %w", tb.Name, err)
		}
		if _, err := t.Bolt.CreateBucket([]byte(tb.Name)); err != nil {
			return fmt.Errorf("empty table %s: %w", tb.Name, err)
		}
		t.buckets[tb.at], t.cursors[tb.at] = nil, nil
	}
	t.Dirty = true
	return nil
}
