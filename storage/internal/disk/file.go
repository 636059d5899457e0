package disk

import (
	"errors"
	"math/bits"
	"os"
	"time"

	"github.com/rs/zerolog"
	bolt "go.etcd.io/bbolt"
	berrors "go.etcd.io/bbolt/errors"

	"github.com/farsight-console/farsight/engine/crash"
	"github.com/farsight-console/farsight/engine/regular"
)

// lockPatience makes bbolt try its own file lock exactly once (it waits in steps of 50 ms). Ours is
// held already, so a held one means a foreign program.
const lockPatience = time.Millisecond

// A file that this process has just closed may be open for another moment: in a child that is being
// started and is not yet another program. bbolt does not unlock what it had open for reading.
const (
	lockTries = 4
	lockPause = 20 * time.Millisecond
)

// BoltOptions are those of every file of ours. NoFreelistSync: a large free list would be written
// with each small commit (774 KB against 20 KB after a big delete); markClosed writes it. Never
// NoSync, NoGrowSync or StrictMode. No Logger: bbolt tells it nothing that its errors do not say,
// formats a line for each key that is put, and would write keys into a log.
func BoltOptions() *bolt.Options {
	return &bolt.Options{
		Timeout:        lockPatience,
		FreelistType:   bolt.FreelistMapType,
		NoFreelistSync: true,
		OpenFile:       openNoFollow,
	}
}

// openNoFollow refuses a symbolic link in the place of a file of ours: whoever can make one could
// have us write anywhere.
func openNoFollow(path string, flag int, mode os.FileMode) (*os.File, error) {
	f, _, err := regular.OpenFile(path, flag|regular.NoFollow, mode)
	return f, err
}

// OpenNew is openNoFollow for a file that must not be there yet.
func OpenNew(path string, flag int, mode os.FileMode) (*os.File, error) {
	return openNoFollow(path, flag|os.O_EXCL, mode)
}

// StateMap is the address space that the state file reserves, so that growing it does not wait for
// readers: without it one slow reader and one growing write froze all other readers for seconds.
func StateMap() int {
	// No memory is taken for it. 32 bits of addresses have no such space to spare.
	var size int64 = 4 << 30
	if bits.UintSize < 64 {
		return 0
	}
	return int(size)
}

// CreateFile makes a bbolt file at path in one step that a crash cannot halve: it is filled under
// another name, closed, synced and then renamed. A power cut inside bbolt's own first write leaves
// one file in eight unusable.
func CreateFile(path string, fill func(*bolt.Tx) error) error {
	temp := path + ".new"
	if err := os.Remove(temp); err != nil && !errors.Is(err, os.ErrNotExist) {
		return Unusable(temp, err) // what a crash left of an earlier creation
	}
	if err := fillFile(temp, fill); err != nil {
		_ = os.Remove(temp)
		return Unusable(temp, err)
	}
	crash.Point("creation-before-rename")
	if err := regular.Rename(temp, path); err != nil {
		return Unusable(path, err)
	}
	crash.Point("creation-after-rename")
	return nil
}

func fillFile(path string, fill func(*bolt.Tx) error) error {
	o := BoltOptions()
	o.OpenFile = OpenNew
	b, err := bolt.Open(path, FileMode, o)
	if err != nil {
		return err
	}
	crash.Point("creation-before-tables")
	err = b.Update(fill)
	if err := errors.Join(err, b.Close()); err != nil {
		return err
	}
	crash.Point("creation-before-sync")
	return SyncFile(path)
}

// SyncFile makes what was written to a file survive a power cut.
func SyncFile(path string) error {
	f, err := os.OpenFile(path, os.O_RDWR|regular.NoFollow, 0)
	if err != nil {
		return err
	}
	return errors.Join(f.Sync(), f.Close())
}

// OpenFile opens an existing bbolt file after its preflight. A fault of the mapping or a panic of
// bbolt's becomes an error.
func OpenFile(path string, o *bolt.Options, log zerolog.Logger) (*bolt.DB, error) {
	note, err := Preflight(path)
	if err != nil {
		return nil, err
	}
	// A torn meta page is repaired by the next commit, which writes over it.
	if note != "" {
		log.Warn().Str("path", path).Msg(note)
	}
	return openGuarded(path, o)
}

func openGuarded(path string, o *bolt.Options) (b *bolt.DB, err error) {
	err = GuardFile(path, func() (err error) {
		// At most 4 × 20 ms: longer than a child needs to become another program.
		for range lockTries {
			if b, err = bolt.Open(path, FileMode, o); !errors.Is(err, berrors.ErrTimeout) {
				break
			}
			time.Sleep(lockPause)
		}
		if errors.Is(err, berrors.ErrTimeout) {
			return &ErrUnusable{Path: path, Why: "another program has it open", Do: "end that program", Err: err}
		}
		if err != nil {
			return Unusable(path, err)
		}
		return nil
	})
	return b, err
}

// OpenSealed is OpenFile for reading, without the look at every page if the file is as [Seal] left it: a damaged page is then
// found by whoever reads it.
func OpenSealed(path string, o *bolt.Options, log zerolog.Logger) (*bolt.DB, error) {
	if !o.ReadOnly || !sealed(path) {
		return OpenFile(path, o, log)
	}
	return openGuarded(path, o)
}
