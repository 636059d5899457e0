package storage

import (
	"errors"
	"os"
	"path/filepath"
	"strings"

	"github.com/farsight-console/farsight/engine"
	"github.com/farsight-console/farsight/storage/internal/disk"
)

// movedFile says in a data directory that another store has taken its place, and which.
const movedFile = "moved-to"

// refuseMoved refuses a directory whose place another store has taken.
func refuseMoved(dir string) error {
	path := filepath.Join(dir, movedFile)
	to, err := os.ReadFile(path)
	if errors.Is(err, os.ErrNotExist) {
		return nil
	}
	if err != nil {
		return disk.Unusable(path, err)
	}
	return engine.Problemf(engine.ErrRefused, "name that with --store; or, to go on with what was here then, delete "+path,
		"everything in %s was moved to %s", dir, strings.TrimSpace(string(to)))
}
