package regular

import (
	"errors"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"syscall"
	"testing"
)

func TestOnlyFilesAreOpened(t *testing.T) {
	dir := t.TempDir()
	file, pipe, link := filepath.Join(dir, "file"), filepath.Join(dir, "pipe"), filepath.Join(dir, "link")
	for _, err := range []error{os.WriteFile(file, []byte("text"), 0o600), syscall.Mkfifo(pipe, 0o600), os.Symlink(file, link)} {
		if err != nil {
			t.Fatal(err)
		}
	}
	for _, c := range []struct {
		path  string
		flags int
		want  error
	}{
		{file, 0, nil}, {link, 0, nil}, {link, NoFollow, syscall.ELOOP},
		{pipe, 0, ErrOther}, {dir, 0, ErrOther}, {filepath.Join(dir, "none"), 0, fs.ErrNotExist},
	} {
		f, info, err := Open(c.path, c.flags)
		if !errors.Is(err, c.want) || (err == nil) != (f != nil) {
			t.Errorf("%s: %v, want %v", c.path, err, c.want)
		}
		if err != nil {
			continue
		}
		if text, err := io.ReadAll(f); string(text) != "text" || err != nil || info.Size() != 4 {
			t.Errorf("%s holds %q: %v", c.path, text, err)
		}
		_ = f.Close()
	}
}

func TestReplacedWholeOrNotAtAll(t *testing.T) {
	dir := t.TempDir()
	path := filepath.Join(dir, "file")
	for _, text := range []string{"first", "second, which is longer", ""} {
		if err := Replace(path, []byte(text)); err != nil {
			t.Fatal(err)
		}
		got, err := os.ReadFile(path)
		info, _ := os.Stat(path)
		if string(got) != text || err != nil || info.Mode().Perm() != 0o600 {
			t.Errorf("%q (%v, %v), want %q", got, info.Mode(), err, text)
		}
	}
	if err := Replace(dir, []byte("text")); err == nil {
		t.Error("a folder was replaced")
	}
	if left, err := os.ReadDir(dir); len(left) != 1 || err != nil {
		t.Errorf("beside the file are %v (%v)", left, err)
	}
	if entries, err := os.ReadDir(filepath.Dir(dir)); len(entries) != 1 || err != nil {
		t.Errorf("beside the folder are %v (%v)", entries, err)
	}
}
