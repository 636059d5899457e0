package payload

import (
	"bytes"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"sync"
	"sync/atomic"
	"time"

	"github.com/rs/zerolog"
	bolt "go.etcd.io/bbolt"

	"github.com/farsight-console/farsight/engine"
	"github.com/farsight-console/farsight/engine/crash"
	"github.com/farsight-console/farsight/engine/league"
	"github.com/farsight-console/farsight/engine/regular"
	"github.com/farsight-console/farsight/storage/internal/disk"
)

// ShardIdle is how long a shard that nobody uses stays open.
const ShardIdle = 5 * time.Minute

// Versions of a shard's schema. An archived one is of version 2, so that a Farsight that cannot
// read it says so.
const (
	shardArrived  = 1
	shardArchived = 2
)

// The tables of a payload shard, payload/2026-11.db:
//
//	meta             name                                    schema version, month, instance, archived, erased
//	p                match id -> nested table                keys m and t: payload_frame.go

// Shard is the payload file of one month. Users hold its lock for reading while they use the open
// file.
//
// A month per file, because months end: a closed one is archived as a whole, copied by a backup
// once, and dropped by deleting a file, which gives the disk its room back at once.
type Shard struct {
	Month, Path string
	readOnly    bool
	log         zerolog.Logger
	commits     *disk.WriteTimes

	mu   sync.RWMutex
	Bolt *bolt.DB     // nil = closed
	last atomic.Int64 // when it was last used, in Unix nanoseconds

	queueMu sync.Mutex
	Queue   []*shardPut
	Leading bool // somebody commits; it passes the lead on to the head of the queue
}

// shardPut is one payload that waits for a commit.
type shardPut struct {
	match  string
	key, v []byte
	answer chan shardAnswer
}

type shardAnswer struct {
	lead bool // commit the queue yourself
	err  error
}

// acquire opens the shard if it is closed and keeps it open until release. Without create, a shard
// that is not there is ErrNotFound. On success the caller holds the lock for reading. It is a loop
// because the lock cannot be turned from one for writing into one for reading: between open and the
// next look somebody may have closed the file, or the archiver have put another one in its place.
func (s *Shard) acquire(create bool) error {
	for {
		s.mu.RLock()
		if s.Bolt != nil {
			return nil
		}
		s.mu.RUnlock()
		if err := s.open(create); err != nil {
			return err
		}
	}
}

// release lets the file be closed once it has been idle.
func (s *Shard) release() {
	s.last.Store(time.Now().UnixNano())
	s.mu.RUnlock()
}

// open opens the file, and makes it if that is wanted. Its month is checked: a file that was
// copied by hand under another name would give one month's payloads for another's.
func (s *Shard) open(create bool) error {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.Bolt != nil {
		return nil
	}
	// Somebody else may have opened it while this one waited for the lock: that was looked at
	// above.
	there, err := disk.Exists(s.Path)
	if err != nil {
		return disk.Unusable(s.Path, err)
	}
	if !there && !create {
		return fmt.Errorf("payloads of %s: %w", s.Month, engine.ErrNotFound)
	}
	if !there {
		if err := s.create(); err != nil {
			return err
		}
	}
	o := disk.BoltOptions()
	o.ReadOnly = s.readOnly
	b, err := disk.OpenFile(s.Path, o, s.log)
	if err != nil {
		return err
	}
	err = s.Guard(func() error { return b.View(s.checkSchema) })
	if err != nil {
		return errors.Join(err, b.Close())
	}
	s.Bolt = b
	s.last.Store(time.Now().UnixNano())
	return nil
}

// create makes the file with its tables. The folder is synced before anything lies in it: a
// payload that was stored must not be lost with the folder's own name.
func (s *Shard) create() error {
	dir := filepath.Dir(s.Path)
	if err := regular.Mkdir(dir); err != nil && !errors.Is(err, os.ErrExist) {
		return disk.Unusable(dir, err)
	}
	// One that is there may have been made just before a crash.
	if err := regular.SyncDir(filepath.Dir(dir)); err != nil {
		return disk.Unusable(dir, err)
	}
	return disk.CreateFile(s.Path, func(b *bolt.Tx) error { return createShard(b, s.Month, shardArrived) })
}

// createShard makes the tables of a new payload file. Its instance tells it from every other file
// that ever had its name.
func createShard(b *bolt.Tx, month string, version uint64) error {
	for _, name := range []string{disk.MetaTable, Table} {
		if _, err := b.CreateBucket([]byte(name)); err != nil {
			return err
		}
	}
	m := disk.MetaOf(b)
	return errors.Join(m.PutNumber(disk.MetaSchema, version), m.PutText(metaMonth, month),
		m.PutText(disk.MetaInstance, disk.RandomID()))
}

var (
	metaMonth = []byte("month")
	// The transaction of the archiver's last write: nothing was added since if it is the file's last.
	metaArchived = []byte("archived")
	// The instance of the file that an archived one was made of, or of that one's origin.
	metaOrigin = []byte("origin")
	// The transaction of the last deletion: free pages may have what was deleted.
	metaErased = []byte("erased")
)

// Origin is the instance of the first file that these payloads lay in: archiving gives them a new file
// with the same ones. "" where it cannot be read.
func Origin(tx *bolt.Tx) string {
	m := disk.MetaOf(tx)
	origin, ok, err := m.Text(metaOrigin)
	if err == nil && !ok {
		origin, _, err = m.Text(disk.MetaInstance)
	}
	if err != nil {
		return ""
	}
	return origin
}

// checkSchema refuses what is no payload file, one of a newer Farsight, and one of another month.
func (s *Shard) checkSchema(b *bolt.Tx) error {
	if !disk.MetaOf(b).Exists() || b.Bucket([]byte(Table)) == nil {
		return &disk.Damaged{Path: s.Path, Why: "it is a database, but not a payload file of Farsight's"}
	}
	if _, err := disk.SchemaOf(b, s.Path, shardArchived); err != nil {
		return err
	}
	// The month is in the file as well as in its name: see open.
	if month, _, err := disk.MetaOf(b).Text(metaMonth); err != nil || month != s.Month {
		return &disk.Damaged{Path: s.Path, Why: fmt.Sprintf("it holds the payloads of %q", month)}
	}
	return nil
}

// Get returns a copy of a stored value, since bbolt's own bytes are gone with the transaction.
// engine.ErrNotFound if there is none.
func (s *Shard) Get(match string, k []byte) (v []byte, err error) {
	err = s.View(func(b *bolt.Tx) error {
		if m := b.Bucket([]byte(Table)).Bucket([]byte(match)); m != nil {
			v = bytes.Clone(m.Get(k))
		}
		return nil
	})
	if err == nil && v == nil {
		err = fmt.Errorf("payload of %s in %s: %w", match, s.Month, engine.ErrNotFound)
	}
	return v, err
}

// holds reports whether a payload is there already, whole and readable, in whatever codec.
func (s *Shard) holds(match string, part league.Part, k []byte, ref league.PayloadRef) bool {
	v, err := s.Get(match, k)
	if err != nil {
		return false
	}
	f, err := Open(s.Month, match, part, v)
	return err == nil && f.same(ref) && f.dict == 0
}

// putGrouped commits a value together with those that others put meanwhile. There is no goroutine: whoever
// finds nobody leading commits a group, which holds its own value, and passes the lead on.
//
// Each commit costs an fsync or two, whatever is in it. Workers that store at the same time share
// one; a single worker waits for nobody. What it returns holds for this value alone only in so far
// as a group is committed or not as a whole.
func (s *Shard) putGrouped(match string, k, v []byte) error {
	o := &shardPut{match: match, key: k, v: v, answer: make(chan shardAnswer, 1)}
	s.queueMu.Lock()
	s.Queue = append(s.Queue, o)
	lead := !s.Leading
	s.Leading = true
	s.queueMu.Unlock()
	// A value that is not in the leader's group waits on: the next answer is the lead, or that of
	// another group.
	if !lead {
		a := <-o.answer
		if !a.lead {
			return a.err
		}
	}
	return s.lead(o)
}

// lead commits the head of the queue, which begins with o.
// The others are answered before the lead is passed on: the next leader is one of those that
// came later.
func (s *Shard) lead(o *shardPut) error {
	group := s.nextGroup()
	err := s.Guard(func() error { return s.commit(group) })
	for _, p := range group {
		if p != o {
			p.answer <- shardAnswer{err: err}
		}
	}
	s.queueMu.Lock()
	defer s.queueMu.Unlock()
	if len(s.Queue) == 0 {
		s.Leading = false
		return err
	}
	s.Queue[0].answer <- shardAnswer{lead: true}
	return err
}

// nextGroup cuts the next group off the queue: it is bounded, so that one commit does not grow with
// the number of those that wait for it. The first payload is in it however large it is.
func (s *Shard) nextGroup() []*shardPut {
	s.queueMu.Lock()
	defer s.queueMu.Unlock()
	n, size := 0, 0
	for n < len(s.Queue) && n < disk.MaxGroupOps && size < disk.MaxGroupBytes {
		size += len(s.Queue[n].v)
		n++
	}
	group := s.Queue[:n:n]
	s.Queue = s.Queue[n:]
	return group
}

// An error leaves it open whether the group is on disk: see [disk.ErrUnknown]. Putting a payload
// again is harmless, so the caller may.
func (s *Shard) commit(group []*shardPut) error {
	// All values of a group go into one transaction: one sync of the disk for all who wait.
	crash.Point("before-payload-commit")
	defer s.commits.Add(time.Now())
	err := s.Bolt.Update(func(b *bolt.Tx) error {
		if err := crash.Fault("payload-commit"); err != nil {
			return err
		}
		p := b.Bucket([]byte(Table))
		for _, o := range group {
			m, err := p.CreateBucketIfNotExists([]byte(o.match))
			if err != nil {
				return err
			}
			if err := m.Put(o.key, o.v); err != nil {
				return err
			}
		}
		return nil
	})
	crash.Point("after-payload-commit")
	switch {
	case err == nil:
		return nil
	case disk.NoRoom(err): // a payload may be put again, whether it is there or not
		return fmt.Errorf("write %s: %w: %w", s.Path, disk.ErrDiskFull, err)
	}
	return fmt.Errorf("write %s: %w: %w", s.Path, disk.ErrUnknown, err)
}

// Guard turns a page that cannot be read, or an assertion of bbolt's, into an error.
func (s *Shard) Guard(f func() error) error { return disk.GuardFile(s.Path, f) }

// View reads the file in one transaction.
func (s *Shard) View(f func(*bolt.Tx) error) error {
	return s.Guard(func() error { return s.Bolt.View(f) })
}

// closeIdle closes the file if nobody has used it for [ShardIdle]. It never waits: whoever has
// the lock is using it.
func (s *Shard) closeIdle() {
	// TryLock fails while anybody reads, and the next look is in a minute.
	if time.Since(time.Unix(0, s.last.Load())) < ShardIdle || !s.mu.TryLock() {
		return
	}
	defer s.mu.Unlock()
	if err := s.closeLocked(); err != nil {
		s.log.Warn().Str("path", s.Path).Err(err).Msg("closed a payload file with an error")
	}
}

// close waits for those that use the file.
func (s *Shard) close() error {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.closeLocked()
}

// The lock is held for writing.
func (s *Shard) closeLocked() error {
	if s.Bolt == nil {
		return nil
	}
	b := s.Bolt
	s.Bolt = nil
	return b.Close()
}

// drop deletes the file, and what an archiver has left half made of it. A crash before the folder is synced may
// bring them back; the next prune deletes them again.
func (s *Shard) drop() error {
	s.mu.Lock()
	defer s.mu.Unlock()
	if err := s.closeLocked(); err != nil {
		return fmt.Errorf("close %s: %w", s.Path, err)
	}
	for _, path := range []string{s.Path + ArchiveExt, s.Path} {
		if err := os.Remove(path); err != nil && !errors.Is(err, os.ErrNotExist) {
			return disk.Unusable(path, err)
		}
	}
	return regular.SyncDir(filepath.Dir(s.Path))
}
