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
	"regexp"
	"slices"
	"strings"
	"time"

	"github.com/rs/zerolog"

	"github.com/farsight-console/farsight/engine"
	"github.com/farsight-console/farsight/engine/crash"
	"github.com/farsight-console/farsight/engine/regular"
	"github.com/farsight-console/farsight/storage/internal/disk"
	"github.com/farsight-console/farsight/storage/internal/payload"
)

// maxManifest bounds what is read as a manifest: two years of months take 5 KB.
const maxManifest = 1 << 20

func sortFiles(files []engine.BackupFile) {
	slices.SortStableFunc(files, func(a, b engine.BackupFile) int { return strings.Compare(a.Month, b.Month) })
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
	return regular.SyncDir(dir)
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
	if err == nil {
		err = b.names(filepath.Base(path))
	}
	b.Path = path
	if err != nil {
		b.Months = nil // nothing of it is believed
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

// names refuses a manifest that names other files than a backup writes: somebody else has written it,
// and what it names could lie anywhere.
func (b Backup) names(name string) error {
	if b.State.Name != name+"/"+disk.StateFile {
		return fmt.Errorf("it names %q as its state", b.State.Name)
	}
	seen := map[string]bool{}
	for _, m := range b.Months {
		if copyOf(m.Name) != m.Month || m.Month == "" || seen[m.Month] || m.Size < 0 {
			return fmt.Errorf("it names %q as the copy of %q", m.Name, m.Month)
		}
		seen[m.Month] = true
	}
	return nil
}

// copyName is the copy of one file of a month. The file's origin and the directory (dirID) are in it: a month that
// was lost and begun anew, or is another directory's, has a copy of its own.
func copyName(month, origin, dir string) string {
	return payload.Dir + "/" + month + "." + origin + dir + payload.Ext
}

// Copies of older versions have no directory in their names, or no origin either.
var copyForm = regexp.MustCompile(`^` + payload.Dir + `/(\d{4}-(?:0[1-9]|1[0-2]))(?:\.([0-9a-f]{16}))?(?:\.[0-9a-f]{16})?\` + payload.Ext + `$`)

// copyOf is the month of the copy that is called so; "" of any other name.
func copyOf(name string) (month string) {
	if m := copyForm.FindStringSubmatch(name); m != nil {
		return m[1]
	}
	return ""
}

func readSmall(path string) ([]byte, error) {
	// The folder may be on a stick that anybody has written to.
	f, info, err := regular.Open(path, regular.NoFollow)
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
	mine := b.report.State.Instance // those of another store are not ours to count
	keep := b.o.Keep
	if keep <= 0 {
		keep = defaultKeep
	}
	all, err := Backups(b.to)
	if err != nil {
		return err
	}
	for _, k := range all {
		if k.Note != "" || k.Problem != "" || !sameStore(k.State.Instance, mine) {
			continue
		}
		if keep--; keep >= 0 {
			continue
		}
		gone := k.Path + partialExt // so that a crash half way leaves no backup that lacks a part
		if err := regular.Rename(k.Path, gone); err != nil {
			return disk.Unusable(k.Path, err)
		}
		crash.Point("backup-pruned")
		if err := b.discard(gone); err != nil {
			return err
		}
		b.report.Removed = append(b.report.Removed, k.Name)
	}
	return nil
}

// PayloadsOf are the payloads that belong to the state in dir. A backup may be read as if it were a data
// directory: its payloads lie beside it, for all backups.
func PayloadsOf(dir string, browse bool, log zerolog.Logger) *payload.Store {
	if !browse || !IsBackup(dir) {
		return payload.New(dir, browse, log)
	}
	// Where it lies, whatever the path to it: its manifest says its name.
	path, err := filepath.Abs(dir)
	if err != nil {
		path = filepath.Clean(dir)
	}
	home := filepath.Dir(path)
	p := payload.New(home, true, log)
	p.Copies = map[string]string{}
	for _, m := range readManifest(path).Months {
		p.Copies[m.Month] = filepath.Join(home, m.Name)
	}
	return p
}

// IsBackup reports whether a directory is one of the backups, which are only read.
func IsBackup(dir string) bool {
	_, err := os.Stat(filepath.Join(dir, manifestFile))
	return err == nil
}
