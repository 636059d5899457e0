package shape

import (
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
)

// renames are calls after which a power cut may undo the change of a name.
var renames = regexp.MustCompile(`\bos\.(Rename|Link|Mkdir|MkdirAll)\(`)

// unsynced are the files that may make them: those of engine/regular sync, and the log's past is no stored data.
var unsynced = map[string]bool{
	"engine/regular/regular.go": true, "engine/regular/os_unix.go": true,
	"internal/logbook/file.go": true,
	// They make the folder of the data or the configuration, in which nothing lies yet.
	"internal/app/store.go": true, "internal/app/console.go": true, "internal/app/settings.go": true,
	"ui/saved/file.go": true,
	// Temporary folders.
	"internal/tempdir/tempdir.go": true, "internal/pgtest/cluster.go": true, "internal/scratch/search.go": true,
}

func TestB19a_StoredFilesAreRenamedDurably(t *testing.T) {
	root := filepath.Join("..", "..")
	for _, top := range []string{"engine", "storage", "internal", "ui"} {
		err := filepath.WalkDir(filepath.Join(root, top), func(path string, _ os.DirEntry, err error) error {
			name, _ := filepath.Rel(root, path)
			if err != nil || !strings.HasSuffix(name, ".go") || strings.HasSuffix(name, "_test.go") || unsynced[name] {
				return err
			}
			text, err := os.ReadFile(path)
			if call := renames.Find(text); call != nil {
				t.Errorf("%s calls %s): use engine/regular, which syncs the folder", name, call)
			}
			return err
		})
		if err != nil {
			t.Fatal(err)
		}
	}
}
