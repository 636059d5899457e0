package tempdir

import (
	"errors"
	"os"
	"path/filepath"
	"sync"
	"testing"
)

func write(t *testing.T, path string) {
	t.Helper()
	if err := errors.Join(os.MkdirAll(filepath.Dir(path), 0o700), os.WriteFile(path, []byte("x"), 0o600)); err != nil {
		t.Fatal(err)
	}
}

func there(path string) bool { _, err := os.Lstat(path); return err == nil }

// What a process that is gone has left is removed; what one uses, is another's or was
// never made here stays.
func TestNew_RemovesWhatNobodyUses(t *testing.T) {
	base := t.TempDir()
	dead, err := New(base, "demo-")
	if err != nil {
		t.Fatal(err)
	}
	live, err := New(base, "demo-")
	if err != nil {
		t.Fatal(err)
	}
	write(t, filepath.Join(dead.Path, "data-1", "state.db"))
	write(t, filepath.Join(live.Path, "data-1", "state.db"))
	strange, file, empty := filepath.Join(base, "demo-strange", "state.db"), filepath.Join(base, "demo-file"), filepath.Join(base, "demo-empty")
	write(t, strange)
	write(t, file)
	if err := os.Mkdir(empty, 0o700); err != nil {
		t.Fatal(err)
	}
	link := filepath.Join(base, "demo-link")
	if err := os.Symlink(filepath.Dir(strange), link); err != nil {
		t.Fatal(err)
	}
	_ = dead.lock.Close() // as the kernel does for one that was killed

	next, err := New(base, "demo-")
	if err != nil {
		t.Fatal(err)
	}
	for path, stays := range map[string]bool{
		dead.Path: false, empty: false, next.Path: true, strange: true, file: true, link: true,
		filepath.Join(live.Path, "data-1", "state.db"): true,
	} {
		if there(path) != stays {
			t.Errorf("%s is there: %v, want %v", path, !stays, stays)
		}
	}
	if err := errors.Join(next.Remove(), live.Remove()); err != nil || there(next.Path) || there(live.Path) {
		t.Errorf("their own users cannot remove them: %v", err)
	}
}

// A removal that is broken off is completed by the next.
func TestRemove_KeepsTheLockToTheEnd(t *testing.T) {
	base := t.TempDir()
	d, err := New(base, "demo-")
	if err != nil {
		t.Fatal(err)
	}
	write(t, filepath.Join(d.Path, "a"))
	if err := d.empty(); err != nil {
		t.Fatal(err)
	}
	_ = d.lock.Close()
	if Sweep(base, "demo-"); there(d.Path) {
		t.Error("what was left of it is not removed")
	}
}

// One place has one user; the next finds it empty.
func TestClaim_OneAtATime(t *testing.T) {
	path := filepath.Join(t.TempDir(), "slot")
	first, err := Claim(path)
	if err != nil {
		t.Fatal(err)
	}
	write(t, filepath.Join(path, "old"))
	if _, err := Claim(path); !errors.Is(err, errHeld) {
		t.Errorf("a second claim: %v", err)
	}
	_ = first.lock.Close()
	second, err := Claim(path)
	if err != nil || there(filepath.Join(path, "old")) {
		t.Errorf("after its user is gone: %v", err)
	}
	if err := second.Remove(); err != nil {
		t.Error(err)
	}
}

// Whoever makes directories while others sweep gets one that stays.
func TestNew_ManyAtOnce(t *testing.T) {
	base := t.TempDir()
	var wg sync.WaitGroup
	for range 8 {
		wg.Go(func() {
			for range 50 {
				d, err := New(base, "demo-")
				if err != nil {
					t.Error(err)
					return
				}
				file := filepath.Join(d.Path, "f")
				if err := os.WriteFile(file, nil, 0o600); err != nil || !there(file) {
					t.Errorf("one that is in use was removed: %v", err)
				}
				if err := d.Remove(); err != nil {
					t.Error(err)
				}
			}
		})
	}
	wg.Wait()
	if left, _ := os.ReadDir(base); len(left) != 0 {
		t.Errorf("%v are left", left)
	}
}

// Where there is no directory for temporary files one is made.
func TestNew_WithoutATemporaryDirectory(t *testing.T) {
	base := filepath.Join(t.TempDir(), "none", "yet")
	t.Setenv("TMPDIR", base)
	d, err := New("", "x-")
	if err != nil || filepath.Dir(d.Path) != base {
		t.Fatalf("%+v, %v", d, err)
	}
	if err := d.Remove(); err != nil {
		t.Error(err)
	}
}
