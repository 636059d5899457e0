package shape

import (
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// walkGo visits every Go file of the program, tests among them. A folder with a go.mod
// of its own is a tool beside the program and is left out.
func walkGo(t *testing.T, visit func(path string)) {
	t.Helper()
	files := 0
	err := filepath.WalkDir(top, func(path string, d fs.DirEntry, err error) error {
		switch {
		case err != nil:
			return err
		case d.IsDir() && path != top && (strings.HasPrefix(d.Name(), ".") || ownModule(path)):
			return filepath.SkipDir
		case !d.IsDir() && strings.HasSuffix(path, ".go"):
			files++
			visit(path)
		}
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	if files < 500 {
		t.Errorf("only %d files were looked at", files)
	}
}

func ownModule(dir string) bool {
	_, err := os.Stat(filepath.Join(dir, "go.mod"))
	return err == nil
}

// relative is a path below the repository.
func relative(t *testing.T, path string) string {
	t.Helper()
	rel, err := filepath.Rel(top, path)
	if err != nil {
		t.Fatal(err)
	}
	return filepath.ToSlash(rel)
}
