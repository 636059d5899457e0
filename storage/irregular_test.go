package storage

import (
	"context"
	"errors"
	"net"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"

	"github.com/farsight-console/farsight/storage/internal/disk"
	"github.com/farsight-console/farsight/storage/internal/payload"
	"github.com/farsight-console/farsight/storage/keep"
)

// What is no file, and what makes it.
var irregular = map[string]func(path string) error{
	"pipe":   func(path string) error { return syscall.Mkfifo(path, disk.FileMode) },
	"link":   func(path string) error { return os.Symlink("elsewhere", path) },
	"folder": func(path string) error { return os.Mkdir(path, disk.DirMode) },
	"socket": func(path string) error {
		l, err := net.ListenUnix("unix", &net.UnixAddr{Name: path, Net: "unix"})
		if err != nil {
			return err
		}
		l.SetUnlinkOnClose(false)
		return l.Close()
	},
}

// Opening a pipe would wait for ever: the test ends by its own deadline then.
func TestB14a_WhatIsNoFileIsRefusedAtOnce(t *testing.T) {
	t.Chdir(t.TempDir()) // the path of a socket has to be short
	for name, put := range irregular {
		for _, place := range []string{disk.StateFile, disk.LockFile, movedFile} {
			if place == movedFile && name == "link" {
				continue // one that leads nowhere says nothing
			}
			dir := filepath.Join(".", name+"-"+place)
			must(t, os.Mkdir(dir, disk.DirMode))
			must(t, put(filepath.Join(dir, place)))
			if place != disk.StateFile {
				must(t, os.WriteFile(disk.StatePath(dir), nil, disk.FileMode))
			}
			for how, open := range map[string]func(Options) (*DB, error){"Open": Open, "OpenReadOnly": OpenReadOnly, "openUpkeep": openUpkeep} {
				if how == "openUpkeep" && place == movedFile {
					continue
				}
				_, err := open(Options{Dir: dir})
				if how != "OpenReadOnly" || name != "link" { // which finds nothing stored
					wantError[*disk.ErrUnusable](t, err)
				}
				if err == nil || !strings.Contains(err.Error(), place) {
					t.Errorf("%s in the place of %s: %s: %v", name, place, how, err)
				}
			}
		}
	}
}

func TestB14a_AMonthAndAManifestThatAreNoFiles(t *testing.T) {
	dir := oldStore(t, 1)
	must(t, upkeepJobs["backup"](dir))
	list, err := keep.Backups(keep.BackupsDir(dir))
	must(t, err)
	for name, put := range irregular {
		if name == "socket" {
			continue // its path would be too long
		}
		for _, path := range []string{filepath.Join(dir, payload.Dir, oldMonth+payload.Ext), filepath.Join(list[0].Path, "manifest.json")} {
			must(t, os.Rename(path, path+".kept"))
			must(t, put(path))
			if strings.HasSuffix(path, payload.Ext) {
				db, err := OpenReadOnly(Options{Dir: dir})
				must(t, err)
				if r, err := db.Check(context.Background()); err != nil || r.Sound() {
					t.Errorf("%s in the place of a month: %+v, %v", name, r, err)
				}
				must(t, db.Close())
			} else if _, err := Restore(context.Background(), Options{Dir: dir}, keep.RestoreOptions{Name: list[0].Name}); err == nil {
				t.Errorf("%s in the place of a manifest was restored", name)
			}
			must(t, errors.Join(os.RemoveAll(path), os.Rename(path+".kept", path)))
		}
	}
}
