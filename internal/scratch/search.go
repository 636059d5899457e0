package scratch

import (
	"bytes"
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
	err = filepath.WalkDir(dir, func(path string, e fs.DirEntry, err error) error {
		if err != nil || !e.Type().IsRegular() {
			return err
		}
		f, err := os.Open(path)
		if err != nil {
			return err
		}
		defer f.Close()
		raw.Reset()
		_, err = raw.ReadFrom(f)
		if bytes.Contains(raw.Bytes(), []byte(text)) {
			paths = append(paths, path)
		}
		return err
	})
	return paths, err
}
