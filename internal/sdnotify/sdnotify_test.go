package sdnotify

import (
	"context"
	"net"
	"os"
	"path/filepath"
	"strconv"
	"testing"
	"testing/synctest"
	"time"

	"go.uber.org/goleak"
)

// No goroutine outlives the tests.
func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

// What systemd wants is taken out of the environment, and one message is one datagram.
func TestTell(t *testing.T) {
	dir, err := os.MkdirTemp("", "sd") // a socket's path is short
	if err != nil {
		t.Fatal(err)
	}
	defer os.RemoveAll(dir)
	path := filepath.Join(dir, "n")
	c, err := net.ListenUnixgram("unixgram", &net.UnixAddr{Name: path, Net: "unixgram"})
	if err != nil {
		t.Skipf("no socket here: %v", err)
	}
	defer c.Close()
	t.Setenv("NOTIFY_SOCKET", path)
	t.Setenv("WATCHDOG_USEC", "3000000")
	t.Setenv("WATCHDOG_PID", strconv.Itoa(os.Getpid()))
	n := New()
	if n.every != 1500*time.Millisecond {
		t.Errorf("the watchdog is fed every %s", n.every)
	}
	for _, name := range []string{"NOTIFY_SOCKET", "WATCHDOG_USEC", "WATCHDOG_PID"} {
		if _, there := os.LookupEnv(name); there {
			t.Errorf("%s is left to children", name)
		}
	}
	if err := n.Tell("READY=1", "STATUS=well"); err != nil {
		t.Fatal(err)
	}
	buf := make([]byte, 100)
	k, err := c.Read(buf)
	if err != nil || string(buf[:k]) != "READY=1\nSTATUS=well" {
		t.Errorf("%q, %v", buf[:k], err)
	}
}

// Another process's watchdog is not fed, and without systemd nobody is told.
func TestNobodyToTell(t *testing.T) {
	t.Setenv("NOTIFY_SOCKET", "")
	t.Setenv("WATCHDOG_USEC", "3000000")
	t.Setenv("WATCHDOG_PID", "1")
	n := New()
	if err := n.Tell("READY=1"); err != nil || n.every != 0 {
		t.Errorf("%v, every %s", err, n.every)
	}
	n.Watch(context.Background(), nil) // returns at once
}

// The watchdog is fed only while the engine answers.
func TestWatch(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		ctx, stop := context.WithTimeout(t.Context(), 10*time.Second)
		defer stop()
		asked := 0
		Notifier{every: time.Second}.Watch(ctx, func(asking context.Context) bool {
			asked++
			if _, limited := asking.Deadline(); !limited {
				t.Error("an engine that hangs is waited for")
			}
			return true
		})
		if asked < 9 {
			t.Errorf("asked %d times", asked)
		}
	})
}
