package app

import (
	"context"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/farsight-console/farsight/engine"
	"github.com/farsight-console/farsight/engine/api"
	"github.com/farsight-console/farsight/ui/cli"
)

// copying is an engine whose backup is half done until seen is closed. Somebody else's
// is under way as well.
type copying struct {
	engine.Console
	me   chan engine.Actor
	seen chan struct{}
}

func (c copying) Do(_ context.Context, cmd engine.Command) (engine.Receipt, error) {
	c.me <- cmd.By
	<-c.seen
	return engine.Receipt{Backup: &engine.BackupDone{Path: "/kept/1"}}, nil
}

func (c copying) Find(context.Context, engine.Query) (engine.Answer, error) {
	me := <-c.me
	c.me <- me
	return engine.UpkeepAnswer{Running: []engine.UpkeepRun{
		{Op: engine.OpBackup, By: engine.Actor{User: "somebody else"}, Began: time.Now(), Done: 9 << 20, Total: 9 << 20},
		{Op: engine.OpBackup, By: me, Began: time.Now().Add(-10 * time.Second), Done: 2 << 20, Total: 8 << 20},
	}}, nil
}

// TestBackupOfARunningEngine_ShowsABarWithItsEnd: the bar is that of the engine's work
// for this process, and it is gone when the backup is there.
func TestBackupOfARunningEngine_ShowsABarWithItsEnd(t *testing.T) {
	t.Parallel()
	con := copying{me: make(chan engine.Actor, 1), seen: make(chan struct{})}
	path := filepath.Join(t.TempDir(), api.SocketName)
	l, err := api.Listen(path, -1)
	if err != nil {
		t.Fatal(err)
	}
	server := api.NewServer(api.Options{Console: con, Who: api.NewDoor(api.Access{Owner: uint32(os.Geteuid())}).Who})
	ctx, stop := context.WithCancel(context.Background())
	served := make(chan error, 1)
	go func() { served <- server.Serve(ctx, l) }()
	c := api.NewClient(path)
	defer func() {
		c.Close()
		stop()
		if err := <-served; err != nil {
			t.Error(err)
		}
	}()
	if _, err := c.Hello(t.Context()); err != nil {
		t.Fatal(err)
	}
	var drawn lockedBuffer
	bar := newByteBar(cli.Out{ASCII: true}, "backup")
	bar.w = &drawn
	arrived := bar.follow(t.Context(), c)
	done := make(chan error, 1)
	go func() {
		_, err := c.Do(t.Context(), engine.Command{Op: engine.OpBackup})
		arrived()
		done <- err
	}()
	for end := time.Now().Add(patience); !strings.Contains(drawn.String(), "backup [######------------------] 2.0 MB of 8.3 MB, 30 s left"); time.Sleep(10 * time.Millisecond) {
		if time.Now().After(end) {
			t.Fatalf("no bar: %q", drawn.String())
		}
	}
	close(con.seen)
	if err := <-done; err != nil {
		t.Error(err)
	}
	if text := drawn.String(); !strings.HasSuffix(text, "\r\x1b[K") || strings.Contains(text, "9.4 MB") {
		t.Errorf("afterwards stands %q", text)
	}
}
