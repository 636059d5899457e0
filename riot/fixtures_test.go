package riot

import (
	"os"
	"path/filepath"
	"testing"
)

// fixture reads one recorded payload. The recordings lie outside of the repository; a test that needs one
// is skipped where there are none, and no test of the core needs them.
func fixture(t testing.TB, name string) []byte {
	t.Helper()
	text, err := os.ReadFile(filepath.Join(fixturesDir(t), name))
	if err != nil {
		t.Fatal(err)
	}
	return text
}

// fixtures lists the recorded payloads that fit a pattern such as "matches/*.json", by name.
func fixtures(t testing.TB, pattern string) map[string][]byte {
	t.Helper()
	dir := fixturesDir(t)
	paths, err := filepath.Glob(filepath.Join(dir, pattern))
	if err != nil || len(paths) == 0 {
		t.Fatalf("no recordings %s in %s: %v", pattern, dir, err)
	}
	all := map[string][]byte{}
	for _, path := range paths {
		name, _ := filepath.Rel(dir, path)
		all[name] = fixture(t, name)
	}
	return all
}

// fixturesDir is $FARSIGHT_FIXTURES, else ../shared/fixtures/riot seen from the folder of go.mod.
func fixturesDir(t testing.TB) string {
	t.Helper()
	dir := os.Getenv("FARSIGHT_FIXTURES")
	if dir == "" {
		dir = filepath.Join(moduleDir(t), "..", "shared", "fixtures", "riot")
	}
	if _, err := os.Stat(dir); err != nil {
		t.Skipf("no recordings: set FARSIGHT_FIXTURES (%v)", err)
	}
	return dir
}

func moduleDir(t testing.TB) string {
	t.Helper()
	dir, err := os.Getwd()
	if err != nil {
		t.Fatal(err)
	}
	for ; dir != filepath.Dir(dir); dir = filepath.Dir(dir) {
		if _, err := os.Stat(filepath.Join(dir, "go.mod")); err == nil {
			return dir
		}
	}
	t.Fatal("no go.mod above the test")
	return ""
}
