package app

import (
	"github.com/farsight-console/farsight/internal/config"
	"path/filepath"
	"slices"
	"testing"
)

// TestAttach_TheEngineTellsItsFolderWhole: who asks from elsewhere, or takes over, has
// another working directory.
func TestAttach_TheEngineTellsItsFolderWhole(t *testing.T) {
	t.Chdir(t.TempDir())
	whole, err := filepath.Abs("data")
	if err != nil {
		t.Fatal(err)
	}
	cfg := config.Config{DataDir: "data"}
	if cfg.Folder() != whole || !slices.Contains(flagsOf(cfg), "--data-dir="+whole) {
		t.Errorf("%q, %q, want %q", cfg.Folder(), flagsOf(cfg), whole)
	}
}
