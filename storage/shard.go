package storage

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
)

// payloadTable holds one nested table per match. As plain values a leaf would split only above four entries, so that each
// write would copy its neighbours (4.9 times the data, against 1.5 with nested tables and 1.1 in groups of eight).
const payloadTable = "p"

// shard is the payload file of one month. Users hold its lock for reading while they use the open file.
type shard struct {
	month, path string
	readOnly    bool
	log         zerolog.Logger
	commits     *writeTimes

	mu    sync.RWMutex
	bolt  *bolt.DB // nil = closed
	dicts *dictionaries
	last  atomic.Int64

	queueMu sync.Mutex
	queue   []*shardPut
	leading bool // somebody commits; it passes the lead on to the head of the queue
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

// acquire opens the shard if it is closed and keeps it open until release. Without create, a shard that is not there is
// ErrNotFound.
func (s *shard) acquire(create bool) error {
	for {
		s.mu.RLock()
		if s.bolt != nil {
			return nil
		}
		s.mu.RUnlock()
		if err := s.open(create); err != nil {
			return err
		}
	}
}

func (s *shard) release() {
	s.last.Store(time.Now().UnixNano())
	s.mu.RUnlock()
}

func (s *shard) open(create bool) error {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.bolt != nil {
		return nil
	}
	there, err := exists(s.path)
	if err != nil {
		return unusable(s.path, err)
	}
	if !there && !create {
		return fmt.Errorf("payloads of %s: %w", s.month, engine.ErrNotFound)
	}
	if !there {
		if err := s.create(); err != nil {
			return err
		}
	}
	o := boltOptions()
	o.ReadOnly = s.readOnly
	b, err := openFile(s.path, o, s.log)
	if err != nil {
		return err
	}
	var dicts *dictionaries
	err = s.guard(func() error {
		return b.View(func(tx *bolt.Tx) error {
			dicts = readDicts(tx)
			return s.checkSchema(tx)
		})
	})
	if err != nil {
		return errors.Join(err, b.Close())
	}
	s.bolt, s.dicts = b, dicts
	s.last.Store(time.Now().UnixNano())
	return nil
}

func (s *shard) create() error {
	dir := filepath.Dir(s.path)
	if err := os.Mkdir(dir, dirMode); err != nil && !errors.Is(err, os.ErrExist) {
		return unusable(dir, err)
	}
	if err := syncDir(filepath.Dir(dir)); err != nil {
		return unusable(dir, err)
	}
	return createFile(s.path, func(b *bolt.Tx) error { return createShard(b, s.month, shardArrived) })
}

// createShard makes the tables of a new payload file. Its instance tells it from every other file that ever had its name.
func createShard(b *bolt.Tx, month string, version uint64) error {
	for _, name := range []string{tMeta.name, payloadTable} {
		if _, err := b.CreateBucket([]byte(name)); err != nil {
			return err
		}
	}
	t := newTx(b, wallNow())
	return errors.Join(
		t.putNumber(tMeta, metaSchema, version),
		t.putText(tMeta, metaMonth, month),
		t.putText(tMeta, metaInstance, randomID()))
}

var (
	metaMonth    = []byte("month")
	metaArchived = []byte("archived") // transaction of the archiver's last write: nothing was added since if it is the last
	metaErased   = []byte("erased")   // transaction of the last deletion: free pages and dictionaries may have what was deleted
)

func (s *shard) checkSchema(b *bolt.Tx) error {
	if b.Bucket([]byte(tMeta.name)) == nil || b.Bucket([]byte(payloadTable)) == nil {
		return &Damaged{Path: s.path, Why: "it is a database, but not a payload file of Farsight's"}
	}
	t := newTx(b, wallNow())
	have, ok, err := t.number(tMeta, metaSchema)
	if err != nil || !ok {
		return &Damaged{Path: s.path, Why: "its schema version cannot be read"}
	}
	if have > shardArchived {
		return &ErrNewer{Path: s.path, Have: int(have), Know: shardArchived}
	}
	if month, _, err := t.text(tMeta, metaMonth); err != nil || month != s.month {
		return &Damaged{Path: s.path, Why: fmt.Sprintf("it holds the payloads of %q", month)}
	}
	return nil
}

// get returns a copy of a stored value.
func (s *shard) get(match string, k []byte) (v []byte, err error) {
	err = s.guard(func() error {
		return s.bolt.View(func(b *bolt.Tx) error {
			if m := b.Bucket([]byte(payloadTable)).Bucket([]byte(match)); m != nil {
				v = bytes.Clone(m.Get(k))
			}
			return nil
		})
	})
	if err == nil && v == nil {
		err = fmt.Errorf("payload of %s in %s: %w", match, s.month, engine.ErrNotFound)
	}
	return v, err
}

// holds reports whether a payload is there already, whole and readable, in whatever codec.
func (s *shard) holds(match string, part league.Part, k []byte, ref league.PayloadRef) bool {
	v, err := s.get(match, k)
	if err != nil {
		return false
	}
	f, err := openPayload(s.month, match, part, v)
	return err == nil && f.same(ref) && s.dicts.usable(f.dict)
}

// put commits a value together with those that others put meanwhile. There is no goroutine: whoever finds nobody leading
// commits a group, which holds its own value, and passes the lead on.
func (s *shard) put(match string, k, v []byte) error {
	o := &shardPut{match: match, key: k, v: v, answer: make(chan shardAnswer, 1)}
	s.queueMu.Lock()
	s.queue = append(s.queue, o)
	lead := !s.leading
	s.leading = true
	s.queueMu.Unlock()
	if !lead {
		a := <-o.answer
		if !a.lead {
			return a.err
		}
	}
	return s.lead(o)
}

// lead commits the head of the queue, which begins with o.
func (s *shard) lead(o *shardPut) error {
	group := s.take()
	err := s.guard(func() error { return s.commit(group) })
	for _, p := range group {
		if p != o {
			p.answer <- shardAnswer{err: err}
		}
	}
	s.queueMu.Lock()
	defer s.queueMu.Unlock()
	if len(s.queue) == 0 {
		s.leading = false
		return err
	}
	s.queue[0].answer <- shardAnswer{lead: true}
	return err
}

func (s *shard) take() []*shardPut {
	s.queueMu.Lock()
	defer s.queueMu.Unlock()
	n, size := 0, 0
	for n < len(s.queue) && n < maxGroupOps && size < maxGroupBytes {
		size += len(s.queue[n].v)
		n++
	}
	group := s.queue[:n:n]
	s.queue = s.queue[n:]
	return group
}

func (s *shard) commit(group []*shardPut) error {
	crash.Point("before-payload-commit")
	defer s.commits.add(time.Now())
	err := s.bolt.Update(func(b *bolt.Tx) error {
		if err := crash.Fault("payload-commit"); err != nil {
			return err
		}
		p := b.Bucket([]byte(payloadTable))
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
	case noRoom(err): // a payload may be put again, whether it is there or not
		return fmt.Errorf("write %s: %w: %w", s.path, ErrDiskFull, err)
	}
	return fmt.Errorf("write %s: %w: %w", s.path, ErrUnknown, err)
}

// guard turns a page that cannot be read, or an assertion of bbolt's, into an error.
func (s *shard) guard(f func() error) error { return guardFile(s.path, f) }

func (s *shard) closeIdle() {
	if time.Since(time.Unix(0, s.last.Load())) < shardIdle || !s.mu.TryLock() {
		return
	}
	defer s.mu.Unlock()
	if err := s.closeLocked(); err != nil {
		s.log.Warn().Str("path", s.path).Err(err).Msg("closed a payload file with an error")
	}
}

func (s *shard) close() error {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.closeLocked()
}

func (s *shard) closeLocked() error {
	if s.bolt == nil {
		return nil
	}
	b := s.bolt
	s.dicts.close()
	s.bolt, s.dicts = nil, nil
	return b.Close()
}

func (s *shard) drop() error {
	s.mu.Lock()
	defer s.mu.Unlock()
	if err := s.closeLocked(); err != nil {
		return fmt.Errorf("close %s: %w", s.path, err)
	}
	if err := os.Remove(s.path); err != nil && !errors.Is(err, os.ErrNotExist) {
		return unusable(s.path, err)
	}
	return syncDir(filepath.Dir(s.path))
}

func isNotFound(err error) bool { return errors.Is(err, engine.ErrNotFound) }

func isDamage(err error) bool {
	_, corrupt := errors.AsType[*ErrCorrupt](err)
	_, damaged := errors.AsType[*Damaged](err)
	return corrupt || damaged
}
