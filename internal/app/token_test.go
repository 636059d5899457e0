package app

import (
	"os"
	"path/filepath"
	"syscall"
	"testing"

	"github.com/farsight-console/farsight/engine"
	"github.com/farsight-console/farsight/engine/api"
)

// TestHTTP_ANewTokenBySIGHUP: the token whose file was deleted is refused from the
// reload on, on connections that were let in by it, too; the new one is let in. A file
// that others can read changes nothing.
func TestHTTP_ANewTokenBySIGHUP(t *testing.T) {
	t.Parallel()
	s, dir := startSim(t, quick()), freshDir(t)
	p := s.serving(t, dir, nil, "--http", "127.0.0.1:0")
	old, w := program(t, p, dir), attached(t, dir)
	w.until(t, "a snapshot", func(u engine.Update) bool { return u.Snapshot }) // what is said before it, it does not hear
	var hello api.Hello
	old.ask(t, "GET", "/v1/hello", "", 200, &hello)

	file := filepath.Join(dir, api.TokenName)
	if err := os.Chmod(file, 0o644); err != nil {
		t.Fatal(err)
	}
	_ = p.cmd.Process.Signal(syscall.SIGHUP)
	w.note(t, "others can read "+file)
	old.ask(t, "GET", "/v1/hello", "", 200, &hello)

	if err := os.Remove(file); err != nil {
		t.Fatal(err)
	}
	_ = p.cmd.Process.Signal(syscall.SIGHUP)
	w.note(t, "the token for programs is another now")
	old.ask(t, "GET", "/v1/hello", "", 401, nil)
	program(t, p, dir).ask(t, "GET", "/v1/hello", "", 200, &hello)
}
