//go:build unix

package pgtest

import (
	"fmt"
	"hash/crc32"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"

	"github.com/farsight-console/farsight/internal/tempdir"
)

// initdbArgs are those of initdb, but for the folder. Nothing is written through to the disk (-N),
// and the log is in segments of 1 MB instead of 16, so that an empty server is quickly made and
// copied. Without a locale texts are ordered by their bytes, on every machine alike.
var initdbArgs = []string{"-U", "farsight", "-A", "trust", "-E", "UTF8", "--locale=C", "-N", "--wal-segsize=1"}

// makeCluster makes the files of a new server in data: a copy of what initdb has made once on
// this machine, for initdb takes ten times as long as the copy.
func makeCluster(bin, data string, as *syscall.Credential) error {
	kept := keptCluster(bin)
	if kept != "" && copyCluster(kept, data, as) == nil {
		return nil
	}
	if err := os.RemoveAll(data); err != nil { // half a copy, on a full disk
		return err
	}
	made := exec.Command(filepath.Join(bin, "initdb"), append([]string{"-D", data}, initdbArgs...)...)
	made.Dir, made.SysProcAttr = filepath.Dir(data), &syscall.SysProcAttr{Credential: as}
	if said, err := made.CombinedOutput(); err != nil {
		return fmt.Errorf("initdb: %w: %s", err, said)
	}
	if kept != "" {
		keepCluster(data, kept)
	}
	return nil
}

// keptCluster is where the files lie that initdb of this version makes, as
// ~/.cache/farsight-tests/postgres-5f0a1b2c; "" = this user has no such place. The number is of the
// version and the arguments, since others make other files.
func keptCluster(bin string) string {
	cache, err := os.UserCacheDir()
	version, asked := exec.Command(filepath.Join(bin, "initdb"), "--version").Output()
	if err != nil || asked != nil {
		return ""
	}
	of := crc32.ChecksumIEEE(append(version, strings.Join(initdbArgs, " ")...))
	return filepath.Join(cache, "farsight-tests", fmt.Sprintf("postgres-%08x", of))
}

// keepCluster keeps a copy for others. They see all of it or none; who cannot keep one has done
// without.
func keepCluster(data, kept string) {
	base := filepath.Dir(kept)
	if os.MkdirAll(base, 0o755) != nil {
		return
	}
	making, err := tempdir.New(base, "making-")
	if err != nil {
		return
	}
	whole := filepath.Join(making.Path, "data")
	if copyCluster(data, whole, nil) == nil {
		_ = os.Rename(whole, kept) // fails where another process was first
	}
	_ = making.Remove()
}

// copyCluster copies a server's files, and gives them to whoever runs it; nil = this user.
func copyCluster(from, to string, as *syscall.Credential) error {
	if err := os.CopyFS(to, os.DirFS(from)); err != nil {
		return err
	}
	if err := os.Chmod(to, 0o700); err != nil || as == nil { // a server takes no other
		return err
	}
	return filepath.WalkDir(to, func(path string, _ fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		return os.Chown(path, int(as.Uid), int(as.Gid))
	})
}
