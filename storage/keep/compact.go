package keep

import (
	"context"
	"errors"
	"fmt"
	"os"

	"github.com/rs/zerolog"
	bolt "go.etcd.io/bbolt"

	"github.com/farsight-console/farsight/engine"
	"github.com/farsight-console/farsight/engine/crash"
	"github.com/farsight-console/farsight/engine/regular"
	"github.com/farsight-console/farsight/storage/internal/disk"
	"github.com/farsight-console/farsight/storage/internal/payload"
)

const (
	compactExt = ".compacting"
	// compactBatch bounds the memory of one transaction of the copy.
	compactBatch = 32 << 20
)

// CompactOptions say what to shrink.
// Neither State nor Months is a report of sizes alone.
type CompactOptions struct {
	State   bool // state.db
	Archive payload.ArchiveOptions
	Months  bool // archive closed months, as Archive says
	DryRun  bool
	Verify  payload.Verifier
}

// Compact shrinks a data directory: it archives closed months, beside an engine too, and writes state.db anew without
// its holes where nobody else has it open. Whatever happens, each file is the old one or the new one, whole. Bolt is
// closed after it if state.db was written.
func (s Store) Compact(ctx context.Context, c CompactOptions) (r engine.CompactDone, err error) {
	r.DryRun = c.DryRun
	if r.StateBefore, err = disk.UsedBytes(disk.StatePath(s.Dir)); err != nil {
		return r, err
	}
	r.StateAfter = r.StateBefore
	if c.Months {
		a := c.Archive
		a.DryRun, a.Verify = c.DryRun, c.Verify
		if r.Months, err = s.Payloads.Archive(ctx, a); err != nil {
			return sum(r), err
		}
	}
	if c.State && !c.DryRun {
		if err := s.compactState(ctx, c.Verify); err != nil {
			return sum(r), err
		}
		if r.StateAfter, err = disk.UsedBytes(disk.StatePath(s.Dir)); err != nil {
			return sum(r), err
		}
	}
	return sum(r), nil
}

// sum adds up what was looked at so far; it is given with an error, too.
func sum(r engine.CompactDone) engine.CompactDone {
	r.Before, r.After = r.StateBefore, r.StateAfter
	for _, m := range r.Months {
		r.Before += m.Before
		r.After += m.After
	}
	return r
}

// compactState writes a copy without holes and puts it in the place of the file. It closes the
// file.
func (s Store) compactState(ctx context.Context, verify payload.Verifier) error {
	path := disk.StatePath(s.Dir)
	used, err := disk.UsedBytes(path)
	if err != nil {
		return err
	}
	// Both files lie side by side until the rename.
	if err := disk.NeedRoom(s.Dir, "the copy of state.db", used); err != nil {
		return err
	}
	temp := path + compactExt
	if err := os.Remove(temp); err != nil && !errors.Is(err, os.ErrNotExist) {
		return disk.Unusable(temp, err) // what an interrupted run has left
	}
	err = s.fillCompact(ctx, temp)
	if err == nil {
		err = checkCompacted(ctx, verify, temp, s)
	}
	if err != nil {
		_ = os.Remove(temp)
		return fmt.Errorf("compact %s, which stays as it is: %w", path, err)
	}
	// bbolt maps the old file, and would go on with it after the rename.
	if err := s.Bolt.Close(); err != nil {
		return disk.Unusable(path, err)
	}
	crash.Point("compact-before-rename")
	if err := regular.Rename(temp, path); err != nil {
		return disk.Unusable(path, err)
	}
	crash.Point("compact-after-rename")
	return nil
}

// fillCompact copies every row in the order of the keys, into pages that are nearly full. ctx is
// looked at when it is done: bbolt's own copy cannot be broken off.
func (s Store) fillCompact(ctx context.Context, temp string) error {
	o := disk.BoltOptions()
	// The half-made file of an earlier run is gone: one that is there now is somebody else's.
	o.OpenFile = disk.OpenNew
	to, err := bolt.Open(temp, disk.FileMode, o)
	if err != nil {
		return disk.Unusable(temp, err)
	}
	crash.Point("compact-begun")
	err = s.guarded(func() error { return bolt.Compact(to, s.Bolt, compactBatch) })
	if err = errors.Join(err, context.Cause(ctx), to.Close()); err != nil {
		return err
	}
	crash.Point("compact-filled")
	return disk.SyncFile(temp)
}

// checkCompacted proves that the copy is whole: every checksum, and as many rows in every table.
func checkCompacted(ctx context.Context, verify payload.Verifier, temp string, s Store) error {
	if err := verify.Verify(ctx, temp); err != nil {
		return err
	}
	copied, err := disk.OpenFile(temp, disk.BoltOptions(), zerolog.Nop())
	if err != nil {
		return err
	}
	// Verify has looked at each row of the copy by itself. That none is missing only the original
	// tells.
	have, want := map[string]int{}, map[string]int{}
	err = errors.Join(countRows(copied, have), copied.Close(), s.guarded(func() error { return countRows(s.Bolt, want) }))
	if err != nil {
		return err
	}
	// A table of the copy that the original lacks cannot be: bbolt's own copy makes none.
	for table, n := range want {
		if have[table] != n {
			return fmt.Errorf("the copy has %d rows in table %s, the original %d", have[table], table, n)
		}
	}
	return nil
}

// countRows counts the rows of each table.
func countRows(b *bolt.DB, into map[string]int) error {
	return b.View(func(tx *bolt.Tx) error {
		return tx.ForEach(func(name []byte, t *bolt.Bucket) error {
			into[string(name)] = 0
			return t.ForEach(func(_, _ []byte) error {
				into[string(name)]++
				return nil
			})
		})
	})
}
