package regular_test

import (
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	. "github.com/farsight-console/farsight/engine/regular"
	"github.com/farsight-console/farsight/internal/scratch"
)

// TestMain is the traced child, too.
func TestMain(m *testing.M) {
	if dir := os.Getenv("REGULAR_DURABLE_DIR"); dir != "" {
		if err := changeAll(dir); err != nil {
			_, _ = os.Stderr.WriteString(err.Error())
			os.Exit(1)
		}
		os.Exit(0)
	}
	os.Exit(scratch.OnDisk(m).Run())
}

func changeAll(dir string) error {
	for _, do := range []func() error{
		func() error { return Mkdir(dir + "/made") },
		func() error { return Replace(dir+"/replaced", []byte("text")) },
		func() error { return Link(dir+"/replaced", dir+"/made/linked") },
		func() error { return Rename(dir+"/replaced", dir+"/made/renamed") },
	} {
		if err := do(); err != nil {
			return err
		}
	}
	return nil
}

var syncCall = regexp.MustCompile(`(fsync|rename|link|mkdir)\w*\(.*`)

// What is made, replaced, linked or renamed is synced before it has its name, and its folder after.
func TestB19a_EachChangeOfANameIsSynced(t *testing.T) {
	strace, err := exec.LookPath("strace")
	if err != nil {
		if os.Getenv("CI") != "" {
			t.Fatal("strace is missing")
		}
		t.Skip("needs strace to see what reaches the disk")
	}
	dir, err := filepath.EvalSymlinks(t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	log := filepath.Join(t.TempDir(), "calls")
	cmd := exec.Command(strace, "-f", "-qq", "-y", "-e", "signal=none", "-o", log, "-e",
		"trace=/^(fsync|fdatasync|rename.*|link.*|mkdir.*)$", os.Args[0])
	cmd.Env = append(os.Environ(), "REGULAR_DURABLE_DIR="+dir)
	if out, err := cmd.CombinedOutput(); err != nil {
		t.Fatalf("%v: %s", err, out)
	}
	text, err := os.ReadFile(log)
	if err != nil {
		t.Fatal(err)
	}
	var got []string
	for line := range strings.Lines(string(text)) {
		m := syncCall.FindStringSubmatch(line)
		if m == nil || !strings.Contains(line, dir) {
			continue
		}
		call := m[1]
		if call == "fsync" {
			_, path, _ := strings.Cut(m[0], "<"+dir)
			path, _, _ = strings.Cut(path, ">")
			if strings.Contains(path, ".replaced-") {
				path = "/file"
			}
			call += " " + path
		}
		got = append(got, call)
	}
	want := []string{
		"mkdir", "fsync ", "fsync /file", "rename", "fsync ", "link", "fsync /made", "rename", "fsync /made", "fsync ",
	}
	if strings.Join(got, ",") != strings.Join(want, ",") {
		t.Errorf("the calls are %q, not %q\n%s", got, want, text)
	}
}
