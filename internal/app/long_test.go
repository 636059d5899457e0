package app

import (
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
)

// inFull is what FARSIGHT_LONG=1 asks for: runs that take minutes, and every case of what
// the usual run samples.
var inFull = os.Getenv("FARSIGHT_LONG") != ""

// often is how much of something a run does.
func often(sampled, whole int) int {
	if inFull {
		return whole
	}
	return sampled
}

// longest leaves a test out of the usual run. .ci/run has a step for these, which names
// them: see TestEachLongRunIsRunByCI.
func longest(t *testing.T) {
	t.Helper()
	if !inFull {
		t.Skip("long: FARSIGHT_LONG=1 runs it")
	}
}

// TestEachLongRunIsRunByCI: a test that the usual run leaves out is one that a long run of
// CI names.
func TestEachLongRunIsRunByCI(t *testing.T) {
	script, err := os.ReadFile(filepath.Join(top, ".ci", "run"))
	if err != nil {
		t.Fatal(err)
	}
	var runs []string
	for _, run := range regexp.MustCompile(`FARSIGHT_LONG=1 go test [^']*'([^']+)'`).FindAllSubmatch(script, -1) {
		runs = append(runs, string(run[1]))
	}
	if runs == nil {
		t.Fatal(".ci/run has no run with FARSIGHT_LONG=1")
	}
	named, found := regexp.MustCompile(strings.Join(runs, "|")), 0
	body := regexp.MustCompile(`(?ms)^func (Test\w+)\(.*?^}`)
	paths, err := filepath.Glob("*_test.go")
	if err != nil {
		t.Fatal(err)
	}
	for _, path := range paths {
		raw, err := os.ReadFile(path)
		if err != nil {
			t.Fatal(err)
		}
		for _, f := range body.FindAllSubmatch(raw, -1) {
			if !regexp.MustCompile(`(?m)^\tlongest\(t\)$`).Match(f[0]) {
				continue
			}
			if found++; !named.Match(f[1]) {
				t.Errorf("%s in %s is run by nobody", f[1], path)
			}
		}
	}
	if found == 0 {
		t.Error("no test is long")
	}
}
