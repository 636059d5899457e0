package app

import (
	"fmt"
	"path/filepath"

	"github.com/farsight-console/farsight/engine/api"
	"github.com/farsight-console/farsight/internal/config"
	"github.com/farsight-console/farsight/storage"
)

// controlSocket is the owner's socket of a data directory.
func controlSocket(dir string) string { return filepath.Join(dir, api.SocketName) }

// wakeIt says what to do about a process that has a data directory and does not answer on its socket;
// "" = there is none. Ask it only after nobody has answered: a process that stands still lets others
// connect.
func wakeIt(cfg config.Config, pid int) string {
	if !api.Listens(controlSocket(cfg.DataDir)) {
		return ""
	}
	return fmt.Sprintf("it does not answer; if it was stopped, `kill -CONT %d` lets it go on; else `kill -9 %d` ends it, and what is stored stays", pid, pid)
}

// silent is that of whoever has a data directory, with its name.
func silent(cfg config.Config) string {
	if held := standsStill(cfg); held != nil {
		return held.Error()
	}
	return ""
}

// standsStill is that of whoever has a data directory as an error; nil = there is none.
func standsStill(cfg config.Config) *storage.ErrHeld {
	if wakeIt(cfg, 0) == "" {
		return nil
	}
	h, _, _ := storage.HolderOf(cfg.DataDir) // of one that cannot be read the socket tells enough
	return &storage.ErrHeld{PID: h.PID, Host: h.Host, Since: h.Since, Store: "data directory " + cfg.DataDir, Do: wakeIt(cfg, h.PID)}
}
