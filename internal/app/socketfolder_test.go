package app

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// TestBadInput_AFolderOfOthersHoldsNoSocket: who may write to the folder could put a
// socket of their own in the place of the engine's, and be told what consoles type.
func TestBadInput_AFolderOfOthersHoldsNoSocket(t *testing.T) {
	for mode, says := range map[os.FileMode]string{0o700: "", 0o750: "", 0o755: "", 0o770: "chmod g-w", 0o777: "everybody may write", os.ModeSticky | 0o777: "everybody may write"} {
		dir := t.TempDir()
		if err := os.Chmod(dir, mode); err != nil {
			t.Fatal(err)
		}
		err := groupFolder(filepath.Join(dir, "control.sock"))
		if says == "" && err != nil || says != "" && (err == nil || !strings.Contains(err.Error(), says)) {
			t.Errorf("%v: %v, want %q", mode, err, says)
		}
	}
	if os.Geteuid() != 0 {
		return // only root can give a folder away
	}
	dir := t.TempDir()
	if err := os.Chown(dir, 4300, -1); err != nil {
		t.Skip(err)
	}
	if err := groupFolder(filepath.Join(dir, "control.sock")); err == nil || !strings.Contains(err.Error(), "another user's") {
		t.Errorf("another's folder: %v", err)
	}
}
