package disk

import (
	"crypto/rand"
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"syscall"
)

const (
	// ballastFile holds nothing. It keeps room that an order gets on a full disk, and may be deleted.
	ballastFile = "full-disk.ballast"
	// BallastBytes is more than a command on 256 jobs writes that lie far apart: 3.4 MB, measured among 60,000.
	BallastBytes = 4 << 20
)

// MakeBallast takes room on the disk of a data directory, unless that is done already. What is no file
// under its name stays as it is.
func MakeBallast(dir string) (made bool, err error) {
	path := filepath.Join(dir, ballastFile)
	info, err := os.Lstat(path)
	if err == nil && (info.Size() == BallastBytes || !info.Mode().IsRegular()) {
		return false, nil
	}
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		return false, Unusable(path, err)
	}
	// Noise, since a file system that compresses would keep no room for zeros.
	noise := make([]byte, BallastBytes)
	_, _ = rand.Read(noise) // it never fails
	f, err := openNoFollow(path, os.O_WRONLY|os.O_CREATE|os.O_TRUNC, FileMode)
	if err == nil {
		// Not synced: after a power cut it is made anew.
		_, err = f.Write(noise)
		err = errors.Join(err, f.Close())
	}
	if err != nil {
		GiveUpBallast(dir) // half of one would be there for nothing
		return false, Unusable(path, err)
	}
	return true, nil
}

// GiveUpBallast frees the room that MakeBallast took, and reports whether there was any.
func GiveUpBallast(dir string) bool {
	path := filepath.Join(dir, ballastFile)
	info, err := os.Lstat(path)
	return err == nil && info.Mode().IsRegular() && syscall.Unlink(path) == nil
}
