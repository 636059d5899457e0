package shape

import (
	"os"
	"path/filepath"
	"regexp"
	"testing"
)

// goFile is a file that ARCHITECTURE.md points a reader to.
var goFile = regexp.MustCompile("`([a-z0-9/_]+/[a-z0-9_]+\\.go)`")

// Every file that ARCHITECTURE.md names is there.
func TestArchitectureNamesFilesThatExist(t *testing.T) {
	text, err := os.ReadFile(filepath.Join("..", "..", "ARCHITECTURE.md"))
	if err != nil {
		t.Fatal(err)
	}
	found := goFile.FindAllSubmatch(text, -1)
	if len(found) < 10 {
		t.Errorf("it names %d files", len(found))
	}
	for _, m := range found {
		if _, err := os.Stat(filepath.Join("..", "..", string(m[1]))); err != nil {
			t.Errorf("ARCHITECTURE.md names %s: %v", m[1], err)
		}
	}
}
