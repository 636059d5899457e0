package disk

import (
	"context"
	"errors"
	"fmt"
	"hash/crc32"
	"os"
	"runtime/debug"

	bolt "go.etcd.io/bbolt"

	"github.com/farsight-console/farsight/engine/human"
	"github.com/farsight-console/farsight/engine/regular"
)

const (
	// syncEvery bounds what a copy leaves to be written at once: a commit that has to be synced
	// waits behind it.
	syncEvery = 4 << 20
	// MinRoom is the free space below which nothing is written that can wait.
	MinRoom = 512 << 20
)

// CopyWriter writes a file in small synced steps and sums it up.
// Bytes that the kernel holds back are written when the next fsync asks for them, whoever asks: an
// engine's commit would wait for the gigabyte of a backup. So it syncs as it goes.
type CopyWriter struct {
	ctx context.Context
	f   *os.File
	// Size and Crc are of all that was written so far; they go into the manifest.
	Size     int64
	unsynced int
	Crc      uint32
	moved    func(n int)
}

func (w *CopyWriter) Write(b []byte) (int, error) {
	// A copy of hundreds of gigabytes can be broken off between any two pieces.
	if w.ctx.Err() != nil {
		return 0, context.Cause(w.ctx)
	}
	n, err := w.f.Write(b)
	w.Size += int64(n)
	w.Crc = crc32.Update(w.Crc, castagnoli, b[:n])
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

// WriteCopy makes a file of ours at path, in place of what an interrupted copy may have left there.
// The file is complete and synced when it returns without error, and gone when it does not.
func WriteCopy(ctx context.Context, path string, moved func(int), fill func(*CopyWriter) error) (*CopyWriter, error) {
	if err := os.Remove(path); err != nil && !errors.Is(err, os.ErrNotExist) {
		return nil, Unusable(path, err)
	}
	f, err := os.OpenFile(path, os.O_CREATE|os.O_EXCL|os.O_WRONLY|regular.NoFollow, FileMode)
	if err != nil {
		return nil, Unusable(path, err)
	}
	w := &CopyWriter{ctx: ctx, f: f, moved: moved}
	err = fill(w)
	if err == nil {
		err = f.Sync()
	}
	if err = errors.Join(err, f.Close()); err == nil {
		return w, nil
	}
	_ = os.Remove(path)
	switch {
	case ctx.Err() != nil:
		return nil, context.Cause(ctx)
	case IsDamage(err): // of what was to be copied
		return nil, err
	}
	return nil, Unusable(path, err)
}

// Snapshot copies an open database as one transaction sees it, while others write. seq is that
// transaction's number.
func Snapshot(ctx context.Context, b *bolt.DB, path string, moved func(int)) (w *CopyWriter, seq uint64, err error) {
	err = b.View(func(tx *bolt.Tx) error {
		seq = uint64(tx.ID())
		w, err = WriteCopy(ctx, path, moved, func(w *CopyWriter) error {
			_, err := tx.WriteTo(w)
			return err
		})
		return err
	})
	return w, seq, err
}

// CopyFile copies a file that nobody writes to, and compares it with the sum it must have.
// A read that fails half way ends the copy like its end does, and the sum tells the two apart.
func CopyFile(ctx context.Context, from, to string, want uint32, moved func(int)) error {
	src, _, err := regular.Open(from, regular.NoFollow)
	if err != nil {
		return Unusable(from, err)
	}
	defer src.Close()
	_, err = WriteCopy(ctx, to, moved, func(w *CopyWriter) error {
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
		if w.Crc != want {
			return &Damaged{Path: from, Why: "it is not the file that the backup wrote"}
		}
		return nil
	})
	return err
}

// SumFile is the checksum of a whole file.
func SumFile(ctx context.Context, path string) (crc uint32, size int64, err error) {
	f, _, err := regular.Open(path, regular.NoFollow)
	if err != nil {
		return 0, 0, Unusable(path, err)
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

// GuardFile runs code of bbolt's on the file at path. A page that cannot be read, or an assertion,
// becomes an error. It covers the goroutine that calls it and no other: what bbolt starts by itself
// (the walk for its free pages when it opens a file) has to be safe beforehand, see [Preflight].
func GuardFile(path string, f func() error) (err error) {
	defer debug.SetPanicOnFault(debug.SetPanicOnFault(true))
	defer func() {
		if r := recover(); r != nil { // only bbolt's code runs in f
			err = &Damaged{Path: path, Why: fmt.Sprint(r)}
		}
	}()
	return f()
}

// UsedBytes is how much of a database file is in use: the file itself grows in steps.
// Free pages below the highest one in use count as in use.
func UsedBytes(path string) (int64, error) {
	m, err := FileMeta(path)
	return int64(m.High) * int64(m.PageSize), err
}

// Size is how many bytes files have together; one that has gone has none.
func Size(paths ...string) (n int64, err error) {
	for _, path := range paths {
		info, err := os.Stat(path)
		if err != nil && !errors.Is(err, os.ErrNotExist) {
			return 0, Unusable(path, err)
		}
		if err == nil {
			n += info.Size()
		}
	}
	return n, nil
}

// FileMeta reads the meta page that counts, without opening the database.
func FileMeta(path string) (m BoltMeta, err error) {
	f, info, err := regular.Open(path, regular.NoFollow)
	if err != nil {
		return m, Unusable(path, err)
	}
	defer f.Close()
	if m, _, err = NewestMeta(f, info.Size()); err != nil {
		return m, &Damaged{Path: path, Why: err.Error()}
	}
	return m, nil
}

// NeedRoom refuses to begin what would leave too little free space beside it.
func NeedRoom(dir, what string, need int64) error {
	free, err := FreeBytes(dir)
	if err != nil {
		return err
	}
	if free >= uint64(need)+MinRoom {
		return nil
	}
	return fmt.Errorf("%s needs %s beside a reserve of %s, and %s has %s: %w",
		what, human.Bytes(need), human.Bytes(MinRoom), dir, human.Bytes(int64(min(free, 1<<62))), ErrDiskFull)
}
