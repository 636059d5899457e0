package keep

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"golang.org/x/sys/unix"

	"github.com/farsight-console/farsight/engine"
	"github.com/farsight-console/farsight/engine/crash"
	"github.com/farsight-console/farsight/engine/regular"
	"github.com/farsight-console/farsight/storage/internal/disk"
)

// maxManifest bounds what is read as a manifest: two years of months take 5 KB.
const maxManifest = 1 << 20

func sortFiles(files []engine.BackupFile) {
	slices.SortFunc(files, func(a, b engine.BackupFile) int { return strings.Compare(a.Month, b.Month) })
}

func writeManifest(ctx context.Context, dir string, r *engine.BackupDone) error {
	body, err := json.MarshalIndent(Backup{
		Name: r.Name, Taken: r.Taken, Schema: r.Schema, Note: r.Note, Verified: r.Verified,
		State: r.State, Months: r.Months, Failed: r.Failed,
	}, "", "  ")
	if err != nil {
		return fmt.Errorf("write the manifest: %w", err)
	}
	_, err = disk.WriteCopy(ctx, filepath.Join(dir, manifestFile), nil, func(w *disk.CopyWriter) error {
		_, err := w.Write(append(body, '\n'))
		return err
	})
	if err != nil {
		return err
	}
	return disk.SyncDir(dir)
}

// Backups lists the backups in a folder, newest first. One that cannot be used is listed with its
// Problem. A folder that is not there has none.
func Backups(to string) ([]Backup, error) {
	entries, err := os.ReadDir(to)
	if errors.Is(err, fs.ErrNotExist) {
		return nil, nil
	}
	if err != nil {
		return nil, disk.Unusable(to, err)
	}
	var list []Backup
	for _, e := range slices.Backward(entries) { // by name, which is by time
		taken, err := time.Parse(stampForm, e.Name())
		// Whatever else lies there is not ours: payload/, half-made backups, a note of the user's.
		if err != nil || !e.IsDir() {
			continue
		}
		b := readManifest(filepath.Join(to, e.Name()))
		b.Name = e.Name()
		if b.Taken.IsZero() {
			b.Taken = taken
		}
		list = append(list, b)
	}
	return list, nil
}

// readManifest reads one backup and looks whether its files are there.
func readManifest(path string) (b Backup) {
	body, err := readSmall(filepath.Join(path, manifestFile))
	if err == nil {
		err = json.Unmarshal(body, &b)
	}
	b.Path = path
	if err != nil {
		b.Problem = "its manifest cannot be read: " + err.Error()
		return b
	}
	info, err := os.Lstat(filepath.Join(path, disk.StateFile))
	switch {
	case err != nil:
		b.Problem = "its state.db is missing"
	// A copy that was broken off by another program. The checksum is compared when the file is
	// read: see CopyFile.
	case info.Size() != b.State.Size:
		b.Problem = fmt.Sprintf("its state.db has %d bytes, the manifest says %d", info.Size(), b.State.Size)
	}
	return b
}

func readSmall(path string) ([]byte, error) {
	// The folder may be on a stick that anybody has written to.
	f, info, err := regular.Open(path, unix.O_NOFOLLOW)
	if err != nil {
		return nil, err
	}
	defer f.Close()
	if info.Size() > maxManifest {
		return nil, errors.New("it is no small file")
	}
	return io.ReadAll(io.LimitReader(f, maxManifest))
}

// prune removes the oldest backups above the number to keep. Those with a note were made for a
// reason and stay, and so does whatever cannot be read: it may be all that is left.
func (b *backuper) prune() error {
	keep := b.o.Keep
	if keep <= 0 {
		keep = defaultKeep
	}
	all, err := Backups(b.to)
	if err != nil {
		return err
	}
	for _, k := range all {
		if k.Note != "" || k.Problem != "" {
			continue
		}
		if keep--; keep >= 0 {
			continue
		}
		gone := k.Path + partialExt // so that a crash half way leaves no backup that lacks a part
		if err := os.Rename(k.Path, gone); err != nil {
			return disk.Unusable(k.Path, err)
		}
		crash.Point("backup-pruned")
		if err := os.RemoveAll(gone); err != nil {
			return disk.Unusable(gone, err)
		}
		b.report.Removed = append(b.report.Removed, k.Name)
	}
	return disk.SyncDir(b.to)
}

// PayloadHome is the directory whose payloads belong to the state in dir: dir itself, unless dir is
// a backup, which may be read as if it were a data directory. Its payloads lie beside it, for all
// backups.
func PayloadHome(dir string, browse bool) string {
	if !browse || !IsBackup(dir) {
		return dir
	}
	return filepath.Dir(filepath.Clean(dir))
}

// IsBackup reports whether a directory is one of the backups, which are only read.
func IsBackup(dir string) bool {
	_, err := os.Stat(filepath.Join(dir, manifestFile))
	return err == nil
}
