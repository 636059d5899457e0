package keyring

import (
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"

	"github.com/farsight-console/farsight/riot"
)

// canary is the key of these tests.
const canary = "RGAPI-0a1b2c3d-4e5f-6789-abcd-ef0123456789"

func canaryKey(t *testing.T) riot.Key {
	t.Helper()
	k, err := riot.ParseKey(canary)
	if err != nil {
		t.Fatal(err)
	}
	return k
}

func TestAKeyFromAFile(t *testing.T) {
	dir := t.TempDir()
	path := filepath.Join(dir, "key")
	if err := os.WriteFile(path, []byte(canary+"\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	if k, err := FromFile(path); err != nil || !k.Equal(canaryKey(t)) {
		t.Errorf("%v %v", k, err)
	}
	for _, mode := range []os.FileMode{0o640, 0o604, 0o660, 0o601} {
		if err := os.Chmod(path, mode); err != nil {
			t.Fatal(err)
		}
		if _, err := FromFile(path); err == nil || !strings.Contains(err.Error(), "chmod 600") {
			t.Errorf("mode %o: %v", mode, err)
		}
	}
	empty := filepath.Join(dir, "empty")
	if err := os.WriteFile(empty, nil, 0o600); err != nil {
		t.Fatal(err)
	}
	pipe := filepath.Join(dir, "pipe") // nobody writes to it: who waits for that waits for ever
	if err := syscall.Mkfifo(pipe, 0o600); err != nil {
		t.Fatal(err)
	}
	for path, want := range map[string]string{dir: "not a regular file", pipe: "not a regular file", empty: "is empty", filepath.Join(dir, "none"): "no such file"} {
		if _, err := FromFile(path); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%s: %v, want %q", path, err, want)
		}
	}
}

func TestAKeyFromTheEnvironmentIsTakenOut(t *testing.T) {
	t.Setenv("FARSIGHT_TEST_KEY", canary)
	k, err := fromEnv("FARSIGHT_TEST_KEY")
	if _, still := os.LookupEnv("FARSIGHT_TEST_KEY"); err != nil || !k.Equal(canaryKey(t)) || still {
		t.Errorf("%v %v, still set: %v", k, err, still)
	}
	if k, err := fromEnv("FARSIGHT_TEST_KEY"); err != nil || !k.IsZero() {
		t.Errorf("unset: %v %v", k, err)
	}
	t.Setenv("FARSIGHT_TEST_KEY", "a b")
	if _, err := fromEnv("FARSIGHT_TEST_KEY"); err == nil || strings.Contains(err.Error(), "a b") {
		t.Errorf("bad key: %v", err)
	}
}
