package scratch

import (
	"bytes"
	"errors"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"sync"
)

var searched = sync.Pool{New: func() any { return new(bytes.Buffer) }}

// Holding are the files below dir that hold a text.
func Holding(dir, text string) (paths []string, err error) {
	raw := searched.Get().(*bytes.Buffer) // a new one for each file costs more than the search
	defer searched.Put(raw)
	err = eachFile(dir, func(path string, f *os.File) error {
		holds := false
		err := eachStretch(f, func(at, n int64) error {
			raw.Reset()
			_, err := raw.ReadFrom(io.NewSectionReader(f, at, n))
			holds = holds || bytes.Contains(raw.Bytes(), []byte(text))
			return err
		})
		if holds {
			paths = append(paths, path)
		}
		return err
	})
	return paths, err
}

// Copy copies the files below a folder into another one, for nobody but their owner. On Linux holes stay holes.
func Copy(from, to string) error {
	return eachFile(from, func(path string, f *os.File) error {
		rel, err := filepath.Rel(from, path)
		if err != nil {
			return err
		}
		path = filepath.Join(to, rel)
		if err := os.MkdirAll(filepath.Dir(path), 0o700); err != nil {
			return err
		}
		w, err := os.OpenFile(path, os.O_WRONLY|os.O_CREATE|os.O_TRUNC, 0o600)
		if err != nil {
			return err
		}
		size, err := f.Seek(0, io.SeekEnd)
		return errors.Join(err, w.Truncate(size), eachStretch(f, func(at, n int64) error {
			_, err1 := f.Seek(at, io.SeekStart)
			_, err2 := w.Seek(at, io.SeekStart)
			if err := errors.Join(err1, err2); err != nil {
				return err
			}
			_, err := io.CopyN(w, f, n)
			return err
		}), w.Close())
	})
}

func eachFile(dir string, do func(path string, f *os.File) error) error {
	return filepath.WalkDir(dir, func(path string, e fs.DirEntry, err error) error {
		if err != nil || !e.Type().IsRegular() {
			return err
		}
		f, err := os.Open(path)
		if err != nil {
			return err
		}
		defer f.Close()
		return do(path, f)
	})
}

func eachStretch(f *os.File, do func(at, n int64) error) error {
	for end := int64(0); ; {
		at, next, err := stretch(f, end)
		if err == io.EOF {
			return nil
		}
		if err == nil {
			err = do(at, next-at)
		}
		if err != nil {
			return err
		}
		end = next
	}
}
