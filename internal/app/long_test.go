package app

import (
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"github.com/farsight-console/farsight/internal/scratch"
)

// longest leaves a test out of the usual run. .ci/run has a step for these, which names
// them: see TestEachLongRunIsRunByCI.
func longest(t *testing.T) {
	t.Helper()
	if !scratch.Whole {
		t.Skip("long: FARSIGHT_LONG=1 runs it")
	}
}

// TestEachLongRunIsRunByCI: a test that the usual run leaves out, or has a part of, is one that a long run of CI names.
func TestEachLongRunIsRunByCI(t *testing.T) {
	script, err := os.ReadFile(filepath.Join(top, ".ci", "run"))
	if err != nil {
		t.Fatal(err)
	}
	named := map[string]string{} // by package
	for _, run := range regexp.MustCompile(`(?m)^ +whole (\S+) "\$(\w+)"`).FindAllSubmatch(script, -1) {
		pattern := regexp.MustCompile(`(?m)^` + string(run[2]) + `='([^']+)'$`).FindSubmatch(script)
		if pattern == nil {
			t.Fatalf(".ci/run does not say which tests are %s", run[2])
		}
		named[string(run[1])] += "|" + string(pattern[1])
	}
	body := regexp.MustCompile(`(?ms)^func (Test\w+)\(t \*testing.*?^}`)
	part := regexp.MustCompile(`\blongest\(t\)|\bscratch\.(Sized\(|Whole\b)`)
	for dir, pattern := range named {
		run, found := regexp.MustCompile(pattern[1:]), 0
		for name, text := range testsIn(t, filepath.Join(top, dir), body) {
			if !part.MatchString(text) {
				continue
			}
			if found++; !run.MatchString(name) {
				t.Errorf("%s of %s is run by nobody in full", name, dir)
			}
		}
		if found == 0 {
			t.Errorf("no test of %s is long", dir)
		}
	}
	err = filepath.WalkDir(top, func(path string, e os.DirEntry, err error) error {
		if err != nil || e.IsDir() || !strings.HasSuffix(path, "_test.go") || strings.Contains(path, "scratch") {
			return err
		}
		raw, err := os.ReadFile(path)
		if dir, _ := filepath.Rel(top, filepath.Dir(path)); part.Match(raw) && named["./"+filepath.ToSlash(dir)] == "" {
			t.Errorf("%s asks for the whole size, and CI has no long run of its package", path)
		}
		return err
	})
	if err != nil || len(named) == 0 {
		t.Errorf("%d packages have long runs, %v", len(named), err)
	}
}

// testsIn are the tests of a folder, by name.
func testsIn(t *testing.T, dir string, body *regexp.Regexp) map[string]string {
	t.Helper()
	all := map[string]string{}
	paths, err := filepath.Glob(filepath.Join(dir, "*_test.go"))
	if err != nil {
		t.Fatal(err)
	}
	for _, path := range paths {
		raw, err := os.ReadFile(path)
		if err != nil {
			t.Fatal(err)
		}
		for _, f := range body.FindAllStringSubmatch(string(raw), -1) {
			all[f[1]] = f[0]
		}
	}
	return all
}
