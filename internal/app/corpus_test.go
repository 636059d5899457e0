package app

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// crashCorpus is testdata/crash: golden data directories with one thing wrong in
// each (`go test ./storage -run TestCrashCorpus -corpus ../internal/app/testdata/crash` makes
// all but the older schema, which its own program wrote). What each command of a
// script ends with, and the file that must be named.
var crashCorpus = map[string]struct {
	file  string // of the directory
	opens bool   // a part of it can be read: only check refuses it
}{
	"state-truncated":      {file: "state.db"},
	"state-cut-by-a-page":  {file: "state.db"},
	"state-meta0-zeroed":   {file: "state.db"},
	"state-meta1-zeroed":   {file: "state.db"},
	"state-pages-swapped":  {file: "state.db"},
	"state-empty":          {file: "state.db"},
	"state-text":           {file: "state.db"},
	"state-newer":          {file: "state.db"},
	"older-schema1":        {file: "state.db"},
	"state-record-flipped": {opens: true},
	"shard-truncated":      {file: "payload/2026-03.db", opens: true},
	"shard-text":           {file: "payload/2026-03.db", opens: true},
	"shard-missing":        {opens: true},
	"payload-flipped":      {opens: true},
}

// TestShow4_CrashCorpus runs the real binary on each: exit 3, the path named, and
// the files as they were, byte by byte.
func TestShow4_CrashCorpus(t *testing.T) {
	t.Parallel()
	entries, err := os.ReadDir(filepath.Join("testdata", "crash"))
	if err != nil {
		t.Fatal(err)
	}
	seen := 0
	for _, e := range entries {
		if !e.IsDir() {
			continue
		}
		want, ok := crashCorpus[e.Name()]
		if !ok {
			t.Errorf("nobody says what becomes of testdata/crash/%s", e.Name())
			continue
		}
		seen++
		t.Run(e.Name(), func(t *testing.T) {
			t.Parallel()
			dir := copied(t, filepath.Join("testdata", "crash", e.Name()))
			before := sums(t, dir)
			named := filepath.Join(dir, want.file)
			res := in(dir, "check").asked(t).wants(t, exitIncomplete)
			if said := res.stdout + res.stderr; !strings.Contains(said, named) {
				t.Errorf("check does not name %s: %s", named, said)
			}
			refused(t, dir, named, want.opens)
			unchanged(t, dir, before)
		})
	}
	if seen != len(crashCorpus) {
		t.Errorf("%d of %d damaged stores are there", seen, len(crashCorpus))
	}
}

// refused tries the commands that read, and those that write.
func refused(t *testing.T, dir, named string, opens bool) {
	t.Helper()
	reads := [][]string{{"status"}, {"jobs"}, {"matches"}}
	writes := [][]string{{"sync", "A#1", "--platform", "euw1"}, {"track", "A#1", "--platform", "euw1"}, {"compact"}}
	for _, args := range reads {
		res := in(dir, args...).asked(t)
		// A store that an older schema wrote is refused for that, until it is made anew.
		if opens && !strings.Contains(res.stderr, "an earlier Farsight wrote it") {
			res.wants(t, exitDone)
			continue
		}
		res.wants(t, exitIncomplete)
		oneSentence(t, res.stderr, named)
	}
	if opens {
		return
	}
	for _, args := range writes {
		c := in(dir, args...)
		c.env = map[string]string{"RIOT_API_KEY": canary, "RIOT_BASE_URL": "http://127.0.0.1:1/{routing}"}
		oneSentence(t, c.asked(t).wants(t, exitIncomplete).stderr, named)
	}
}

func unchanged(t *testing.T, dir string, before map[string][32]byte) {
	t.Helper()
	after := sums(t, dir)
	for path, sum := range before {
		if after[path] != sum {
			t.Errorf("%s was changed", path)
		}
	}
	if len(after) != len(before) {
		t.Errorf("%d files before, %d after", len(before), len(after))
	}
}
