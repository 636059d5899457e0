package storage

import (
	"context"
	"crypto/rand"
	"errors"
	"os"
	"path/filepath"
	"testing"

	"golang.org/x/sys/unix"

	"github.com/farsight-console/farsight/engine"
	"github.com/farsight-console/farsight/engine/crash"
	"github.com/farsight-console/farsight/storage/internal/disk"
)

// kept is how many bytes a directory keeps for orders; -1 = there is no such file.
func kept(t *testing.T, dir string) int64 {
	t.Helper()
	var st unix.Stat_t
	if err := unix.Lstat(filepath.Join(dir, "full-disk.ballast"), &st); err != nil {
		return -1
	}
	return min(st.Size, st.Blocks*512)
}

// blob is a write that needs new pages: so many of them are free in no small file.
func blob(name string) func(engine.Tx) error {
	return func(tx engine.Tx) error { return own(tx).PutBlob(tState, []byte(name), make([]byte, 256<<10)) }
}

// On a disk without a free byte an order is written, and what the engine does by itself is not.
func TestB17d_AnOrderIsWrittenOnAFullDisk(t *testing.T) {
	db := start(t, filepath.Join(smallDisk(t), "data"))
	write(t, db, step{"a", 1, "ok"}.run)
	if made, err := disk.MakeBallast(db.dir); !made || err != nil || kept(t, db.dir) != disk.BallastBytes {
		t.Fatalf("%t, %v, %d bytes", made, err, kept(t, db.dir))
	}
	fill(t, filepath.Dir(db.dir))
	ctx := context.Background()
	if err := db.Write(ctx, blob("outcome")); !errors.Is(err, disk.ErrDiskFull) {
		t.Fatalf("the disk is not full: %v", err)
	}
	if kept(t, db.dir) != disk.BallastBytes {
		t.Error("the engine's own write used what is kept for orders")
	}
	// One for the ballast, and then there is room for more of its kind.
	for _, order := range []string{"cancel", "pause"} {
		if err := db.Write(engine.AsOrder(ctx), blob(order)); err != nil {
			t.Errorf("%s: %v", order, err)
		}
	}
	if kept(t, db.dir) != -1 {
		t.Error("the ballast is still there")
	}
}

// smallDisk is a file system of its own, of 16 MiB.
func smallDisk(t *testing.T) string {
	t.Helper()
	dir := t.TempDir()
	if err := unix.Mount("none", dir, "tmpfs", 0, "size=16m"); err != nil {
		t.Skip("no file system can be mounted here: ", err)
	}
	t.Cleanup(func() { must(t, unix.Unmount(dir, unix.MNT_DETACH)) })
	return dir
}

// fill takes what is free on the disk of dir, to the last byte.
func fill(t *testing.T, dir string) {
	t.Helper()
	f, err := os.Create(filepath.Join(dir, "others"))
	must(t, err)
	defer f.Close()
	for size := 1 << 20; size > 0; size /= 2 {
		for err = nil; err == nil; {
			_, err = f.Write(make([]byte, size))
		}
	}
	if free, err := disk.FreeBytes(dir); free != 0 || err != nil {
		t.Fatalf("%d bytes are free: %v", free, err)
	}
}

// What is kept for orders is made while there is much room, made anew when it is not whole, used up by an order,
// and stays where another limit than the disk's is reached.
func TestB17d_RoomIsKeptForOrders(t *testing.T) {
	db, err := Open(Options{Dir: filepath.Join(t.TempDir(), "data"), MaxState: 1 << 20})
	must(t, err)
	defer func() { must(t, db.Close()) }()
	defer serve(t, db)()
	path := filepath.Join(db.dir, "full-disk.ballast")
	for _, before := range []string{"missing", "whole", "cut"} {
		if before == "cut" {
			must(t, os.Truncate(path, 1<<20))
		}
		if free, ok := db.Room(); !ok {
			t.Skipf("only %d bytes are free here", free)
		}
		if kept(t, db.dir) != disk.BallastBytes {
			t.Errorf("%s: %d bytes are kept", before, kept(t, db.dir))
		}
	}
	big := func(tx engine.Tx) error { return own(tx).PutBlob(tState, []byte("big"), make([]byte, 1<<20)) }
	if err := db.Write(engine.AsOrder(context.Background()), big); !errors.Is(err, disk.ErrDiskFull) {
		t.Errorf("an order beyond the largest size: %v", err)
	}
	if kept(t, db.dir) != disk.BallastBytes {
		t.Error("the ballast was given up for a state.db that may not grow")
	}
	defer crash.ArmFaults(func(op string) error {
		if op == "state-commit" && kept(t, db.dir) != -1 {
			return unix.ENOSPC
		}
		return nil
	})()
	must(t, db.Write(engine.AsOrder(context.Background()), step{"a", 1, "ok"}.run))
	if kept(t, db.dir) != -1 {
		t.Error("the ballast is still there")
	}
	// Nothing but a file of ours is made or removed.
	foreign := filepath.Join(t.TempDir(), "foreign")
	must(t, errors.Join(os.WriteFile(foreign, []byte(rand.Text()), disk.FileMode), os.Symlink(foreign, path)))
	made, err := disk.MakeBallast(db.dir)
	if info, broken := os.Lstat(path); made || err != nil || disk.GiveUpBallast(db.dir) || broken != nil || info.Mode().IsRegular() {
		t.Errorf("a link in its place: made %t, %v, %v", made, err, broken)
	}
}
