package payload

import (
	"context"
	"errors"
	"fmt"
	"os"

	bolt "go.etcd.io/bbolt"

	"github.com/farsight-console/farsight/engine/crash"
	"github.com/farsight-console/farsight/engine/regular"
	"github.com/farsight-console/farsight/storage/internal/disk"
)

// begin opens the half-made file that an earlier run has left, or makes a new one.
func (a *archiver) begin() error {
	there, err := disk.Exists(a.path)
	if err != nil {
		return disk.Unusable(a.path, err)
	}
	// Archiving a month takes minutes: what was packed before an interruption is not packed again.
	if there && a.reopen() == nil {
		return nil
	}
	// A half-made file of ours that cannot be used holds nothing that the old one does not.
	if err := os.Remove(a.path); err != nil && !errors.Is(err, os.ErrNotExist) {
		return disk.Unusable(a.path, err)
	}
	err = a.use(func(old *bolt.Tx) error {
		return disk.CreateFile(a.path, func(b *bolt.Tx) error {
			return errors.Join(createShard(b, a.Month, shardArchived), disk.MetaOf(b).PutText(metaOrigin, Origin(old)))
		})
	})
	if err != nil {
		return err
	}
	crash.Point("archive-begun")
	return a.reopen()
}

// reopen opens the half-made file.
// It serves twice: to go on with what an earlier run left, and to read from disk what this one
// has written (see [archiver.prove]), past every cache of the handle that wrote it.
func (a *archiver) reopen() (err error) {
	a.end()
	defer func() {
		if err != nil {
			a.end()
		}
	}()
	out, err := disk.OpenFile(a.path, disk.BoltOptions(), a.log)
	if err != nil {
		return err
	}
	a.out = out
	return out.View((&Shard{Month: a.Month, Path: a.path}).checkSchema)
}

// prove closes the new file, reads it from disk and compares it with the old one, payload by
// payload. same is false when the old one has changed meanwhile; seq is its transaction that was
// compared.
func (a *archiver) prove(ctx context.Context) (seq uint64, same bool, err error) {
	if err := a.out.Close(); err != nil {
		return 0, false, disk.Unusable(a.path, err)
	}
	a.out = nil
	// With payloads that could not be read the new file holds them as they are, and so fails the
	// same look as the old one. They are compared below, byte by byte.
	err = a.o.Verify.Verify(ctx, a.path)
	if ctx.Err() != nil {
		return 0, false, context.Cause(ctx)
	}
	if err != nil && a.report.Bad == 0 {
		return 0, false, a.discard(err)
	}
	if err := a.reopen(); err != nil {
		return 0, false, a.discard(err)
	}
	err = a.use(func(old *bolt.Tx) error {
		seq = uint64(old.ID())
		return a.out.View(func(made *bolt.Tx) error {
			same, err = a.compare(ctx, old, made)
			return err
		})
	})
	return seq, same, err
}

// discard removes a new file that is not what it should be; the next run begins another one.
func (a *archiver) discard(why error) error {
	a.end()
	return errors.Join(fmt.Errorf("the new file of %s is not sound, the old one stays: %w", a.Month, why), os.Remove(a.path))
}

// compare reads both files whole. It is what makes it safe to delete the old one.
func (a *archiver) compare(ctx context.Context, old, made *bolt.Tx) (same bool, err error) {
	o, m := old.Bucket([]byte(Table)), made.Bucket([]byte(Table))
	same = true
	n := 0
	err = o.ForEachBucket(func(match []byte) error {
		other := m.Bucket(match)
		n++
		return errors.Join(context.Cause(ctx), o.Bucket(match).ForEach(func(k, v []byte) error {
			same = same && other != nil && a.same(string(match), k, v, other.Get(k))
			return nil
		}))
	})
	if err != nil || !same {
		return false, err
	}
	// More matches than the old file has is no change that was made meanwhile: nothing but the
	// archiver writes the new one. It would mean a fault of ours.
	extra := -n
	err = m.ForEachBucket(func([]byte) error { extra++; return nil })
	if err == nil && extra != 0 {
		err = a.discard(fmt.Errorf("it has %d matches that the old one does not have", extra))
	}
	return err == nil, err
}

// swap puts the new file in the place of the old one, if nothing was put into that since it was
// compared. Writers are let in while both files are compared, which takes minutes, and kept out
// here for the milliseconds of a rename. A false done sends the caller back to copy what has come
// since.
func (a *archiver) swap(ctx context.Context, seq uint64) (done bool, err error) {
	a.mu.Lock() // nobody has the old file open now
	defer a.mu.Unlock()
	if ctx.Err() != nil {
		return false, context.Cause(ctx)
	}
	// Each commit has another number, so the same one means that nobody has put or deleted
	// anything.
	now, err := a.SeqLocked()
	if err != nil || now != seq {
		return false, err
	}
	// Both are closed before the rename: bbolt must never hold the old file under the new one's
	// name.
	if err := errors.Join(a.closeLocked(), a.out.Close()); err != nil {
		return false, disk.Unusable(a.path, err)
	}
	a.out = nil
	crash.Point("archive-before-rename")
	if err := regular.Rename(a.path, a.Shard.Path); err != nil {
		return false, disk.Unusable(a.Shard.Path, err)
	}
	crash.Point("archive-after-rename")
	return true, nil
}

// SeqLocked is the last transaction of the old file.
// It is read from the meta page where the file is closed: opening it would map it for nothing.
// The shard's lock is held by the caller.
func (s *Shard) SeqLocked() (seq uint64, err error) {
	if s.Bolt == nil {
		m, err := disk.FileMeta(s.Path)
		return m.Txid, err
	}
	err = s.Bolt.View(func(b *bolt.Tx) error {
		seq = uint64(b.ID())
		return nil
	})
	return seq, err
}
