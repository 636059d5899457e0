package scratch

import (
	"bytes"
	"os"
	"path/filepath"
	"testing"
)

// What lies between holes is found and copied, as is what has none.
func TestFilesWithHolesAreReadAndCopied(t *testing.T) {
	dir, to := t.TempDir(), filepath.Join(t.TempDir(), "copy")
	for name, at := range map[string]int64{"begin": 0, "middle": 1<<20 - 3, "none": -1} {
		f, err := os.Create(filepath.Join(dir, name))
		if err != nil {
			t.Fatal(err)
		}
		if err := f.Truncate(2 << 20); err != nil {
			t.Fatal(err)
		}
		for _, at := range []int64{at, 3 << 20} {
			if at >= 0 {
				if _, err := f.WriteAt([]byte("a text"), at); err != nil {
					t.Fatal(err)
				}
			}
		}
		if err := f.Close(); err != nil {
			t.Fatal(err)
		}
	}
	if err := os.WriteFile(filepath.Join(dir, "empty"), nil, 0o600); err != nil {
		t.Fatal(err)
	}
	if err := Copy(dir, to); err != nil {
		t.Fatal(err)
	}
	for _, name := range []string{"begin", "middle", "none", "empty"} {
		was, err1 := os.ReadFile(filepath.Join(dir, name))
		is, err2 := os.ReadFile(filepath.Join(to, name))
		if err1 != nil || err2 != nil || !bytes.Equal(was, is) {
			t.Errorf("%s has %d bytes, and its copy %d: %v, %v", name, len(was), len(is), err1, err2)
		}
	}
	if paths, err := Holding(to, "a text"); err != nil || len(paths) != 3 {
		t.Errorf("%s hold it, %v", paths, err)
	}
	if paths, err := Holding(to, "b text"); err != nil || len(paths) != 0 {
		t.Errorf("%s hold it, %v", paths, err)
	}
}
