package storage

import (
	"context"
	"errors"
	"fmt"
	"hash/crc32"
	"os"
	"path/filepath"
	"runtime/debug"

	"github.com/rs/zerolog"
	bolt "go.etcd.io/bbolt"
	"golang.org/x/sys/unix"

	"github.com/farsight-console/farsight/engine/human"
	"github.com/farsight-console/farsight/storage/internal/rec"
)

// Verifier proves that a file that nobody has open is a sound copy. CheckCopy is one; main runs it in a process of its own,
// since a damaged page can end the process that reads it.
type Verifier func(ctx context.Context, path string) error

// verify runs v, or what can be proved safely in this process.
func (v Verifier) verify(ctx context.Context, path string) error {
	if v == nil {
		return checkCopy(ctx, path, false)
	}
	return v(ctx, path)
}

const (
	// syncEvery bounds what a copy leaves to be written at once: a commit that has to be synced waits behind it.
	syncEvery = 4 << 20
	// minRoom is the free space below which nothing is written that can wait.
	minRoom = 512 << 20
)

// copyWriter writes a file in small synced steps and sums it up.
type copyWriter struct {
	ctx      context.Context
	f        *os.File
	size     int64
	unsynced int
	crc      uint32
	moved    func(n int)
}

func (w *copyWriter) Write(b []byte) (int, error) {
	if w.ctx.Err() != nil {
		return 0, context.Cause(w.ctx)
	}
	n, err := w.f.Write(b)
	w.size += int64(n)
	w.crc = crc32.Update(w.crc, castagnoli, b[:n])
	if w.moved != nil {
		w.moved(n)
	}
	if w.unsynced += n; err == nil && w.unsynced >= syncEvery {
		w.unsynced = 0
		err = w.f.Sync()
	}
	return n, err
}

var castagnoli = crc32.MakeTable(crc32.Castagnoli)

// writeCopy makes a file of ours at path, in place of what an interrupted copy may have left there. The file is complete
// and synced when it returns without error, and gone when it does not.
func writeCopy(ctx context.Context, path string, moved func(int), fill func(*copyWriter) error) (*copyWriter, error) {
	if err := os.Remove(path); err != nil && !errors.Is(err, os.ErrNotExist) {
		return nil, unusable(path, err)
	}
	f, err := os.OpenFile(path, os.O_CREATE|os.O_EXCL|os.O_WRONLY|unix.O_NOFOLLOW, fileMode)
	if err != nil {
		return nil, unusable(path, err)
	}
	w := &copyWriter{ctx: ctx, f: f, moved: moved}
	err = fill(w)
	if err == nil {
		err = f.Sync()
	}
	if err = errors.Join(err, f.Close()); err == nil {
		return w, nil
	}
	os.Remove(path)
	switch {
	case ctx.Err() != nil:
		return nil, context.Cause(ctx)
	case isDamage(err): // of what was to be copied
		return nil, err
	}
	return nil, unusable(path, err)
}

// snapshot copies an open database as one transaction sees it, while others write. seq is that transaction's number.
func snapshot(ctx context.Context, b *bolt.DB, path string, moved func(int)) (w *copyWriter, seq uint64, err error) {
	err = b.View(func(tx *bolt.Tx) error {
		seq = uint64(tx.ID())
		w, err = writeCopy(ctx, path, moved, func(w *copyWriter) error {
			_, err := tx.WriteTo(w)
			return err
		})
		return err
	})
	return w, seq, err
}

// copyFile copies a file that nobody writes to, and compares it with the sum it must have.
func copyFile(ctx context.Context, from, to string, want uint32, moved func(int)) error {
	src, err := os.OpenFile(from, os.O_RDONLY|unix.O_NOFOLLOW, 0)
	if err != nil {
		return unusable(from, err)
	}
	defer src.Close()
	_, err = writeCopy(ctx, to, moved, func(w *copyWriter) error {
		buf := make([]byte, 1<<20)
		for {
			n, readErr := src.Read(buf)
			if _, err := w.Write(buf[:n]); err != nil {
				return err
			}
			if readErr != nil {
				break
			}
		}
		if w.crc != want {
			return &Damaged{Path: from, Why: "it is not the file that the backup wrote"}
		}
		return nil
	})
	return err
}

// sumFile is the checksum of a whole file.
func sumFile(ctx context.Context, path string) (crc uint32, size int64, err error) {
	f, err := os.OpenFile(path, os.O_RDONLY|unix.O_NOFOLLOW, 0)
	if err != nil {
		return 0, 0, unusable(path, err)
	}
	defer f.Close()
	buf := make([]byte, 1<<20)
	for ctx.Err() == nil {
		n, err := f.Read(buf)
		crc = crc32.Update(crc, castagnoli, buf[:n])
		size += int64(n)
		if err != nil {
			return crc, size, nil //nolint:nilerr // the end, or a fault that the sum will show
		}
	}
	return 0, 0, context.Cause(ctx)
}

// CheckCopy verifies one database file that nobody has open: bbolt's own page check, then the checksum of every record,
// payload and dictionary in it. The file is only read. It may end the process over a damaged page: run it in a child.
func CheckCopy(ctx context.Context, path string) error { return checkCopy(ctx, path, true) }

func checkCopy(ctx context.Context, path string, pages bool) (err error) {
	o := boltOptions()
	o.ReadOnly = true
	b, err := openFile(path, o, zerolog.Nop())
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, b.Close()) }()
	if pages {
		if found := pageCheck(filepath.Base(path), b); len(found) > 0 {
			return &Damaged{Path: path, Why: fmt.Sprintf("%d faults in its pages, the first: %s", len(found), found[0].Why)}
		}
	}
	c := &copyCheck{ctx: ctx}
	if err := c.run(b); err != nil {
		return err
	}
	if c.bad > 0 {
		return &Damaged{Path: path, Why: fmt.Sprintf("%d records in it do not have their checksum, the first in %s", c.bad, c.first)}
	}
	return nil
}

// copyCheck verifies every value of a file, whatever tables it has.
type copyCheck struct {
	ctx   context.Context
	bad   int
	first string
}

func (c *copyCheck) run(b *bolt.DB) error {
	return guardFile(b.Path(), func() error { return b.View(c.tables) })
}

func (c *copyCheck) tables(tx *bolt.Tx) error {
	return tx.ForEach(func(name []byte, t *bolt.Bucket) error {
		if string(name) == payloadTable {
			return c.payloads(t)
		}
		seed := rec.TableSeed(string(name))
		return t.ForEach(func(k, v []byte) error {
			_, _, err := seed.Open(k, v)
			return c.note(string(name), k, err)
		})
	})
}

func (c *copyCheck) payloads(t *bolt.Bucket) error {
	return t.ForEachBucket(func(match []byte) error {
		return t.Bucket(match).ForEach(func(k, v []byte) error {
			_, err := openPayload("", string(match), partOfKey(k), v)
			return c.note(payloadTable, match, err)
		})
	})
}

func (c *copyCheck) note(table string, k []byte, err error) error {
	if err != nil {
		if c.bad++; c.first == "" {
			c.first = fmt.Sprintf("table %s under key %s", table, showKey(k))
		}
	}
	return context.Cause(c.ctx)
}

// guardFile runs code of bbolt's on the file at path. A page that cannot be read, or an assertion, becomes an error.
func guardFile(path string, f func() error) (err error) {
	defer debug.SetPanicOnFault(debug.SetPanicOnFault(true))
	defer func() {
		if r := recover(); r != nil { // only bbolt's code runs in f
			err = &Damaged{Path: path, Why: fmt.Sprint(r)}
		}
	}()
	return f()
}

// usedBytes is how much of a database file is in use: the file itself grows in steps.
func usedBytes(path string) (int64, error) {
	m, err := fileMeta(path)
	return int64(m.high) * int64(m.pageSize), err
}

// fileMeta reads the meta page that counts, without opening the database.
func fileMeta(path string) (m boltMeta, err error) {
	f, err := os.OpenFile(path, os.O_RDONLY|unix.O_NOFOLLOW, 0)
	if err != nil {
		return m, unusable(path, err)
	}
	defer f.Close()
	info, err := f.Stat()
	if err != nil {
		return m, unusable(path, err)
	}
	if m, _, err = newestMeta(f, info.Size()); err != nil {
		return m, &Damaged{Path: path, Why: err.Error()}
	}
	return m, nil
}

// needRoom refuses to begin what would leave too little free space beside it.
func needRoom(dir, what string, need int64) error {
	free, err := freeBytes(dir)
	if err != nil {
		return err
	}
	if free >= uint64(need)+minRoom {
		return nil
	}
	return fmt.Errorf("%s needs %s beside a reserve of %s, and %s has %s: %w",
		what, human.Bytes(need), human.Bytes(minRoom), dir, human.Bytes(int64(min(free, 1<<62))), ErrDiskFull)
}
