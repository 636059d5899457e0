package sdnotify

import (
	"context"
	"fmt"
	"net"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"testing/synctest"
	"time"

	"github.com/farsight-console/farsight/internal/leak"
)

// No goroutine outlives the tests.
func TestMain(m *testing.M) { leak.Main(m) }

// What systemd wants is taken out of the environment, and one message is one datagram.
func TestTell(t *testing.T) {
	path, next := listen(t)
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
	if got := next(); got != "READY=1\nSTATUS=well" {
		t.Errorf("%q", got)
	}
}

// listen is systemd's end of a socket: where it is, and what it hears next.
func listen(t *testing.T) (path string, next func() string) {
	t.Helper()
	dir, err := os.MkdirTemp("", "sd") // a socket's path is short
	if err != nil {
		t.Fatal(err)
	}
	path = filepath.Join(dir, "n")
	c, err := net.ListenUnixgram("unixgram", &net.UnixAddr{Name: path, Net: "unixgram"})
	if err != nil {
		t.Skipf("no socket here: %v", err)
	}
	t.Cleanup(func() { _, _ = c.Close(), os.RemoveAll(dir) })
	return path, func() string {
		buf := make([]byte, 1000)
		n, err := c.Read(buf)
		if err != nil {
			t.Fatal(err)
		}
		return string(buf[:n])
	}
}

// A reload is told with an instant that lies between two readings of the clock.
func TestReloading(t *testing.T) {
	first, second := Reloading(), Reloading()
	usec := func(lines []string) int {
		n, err := strconv.Atoi(strings.TrimPrefix(lines[1], "MONOTONIC_USEC="))
		if err != nil || lines[0] != "RELOADING=1" {
			t.Errorf("%q: %v", lines, err)
		}
		return n
	}
	if a, b := usec(first), usec(second); a <= 0 || b < a || b-a > 60_000_000 {
		t.Errorf("%d, then %d", a, b)
	}
}

// A record is one datagram of the journal's protocol: a value of several lines goes with
// its length.
func TestLog(t *testing.T) {
	path, next := listen(t)
	was := journalSocket
	journalSocket = path
	defer func() { journalSocket = was }()
	if err := Log(Warning, "attempt failed", JournalField{"FARSIGHT_JOB", "17"}, JournalField{"FARSIGHT_STACK", "a\nb"}); err != nil {
		t.Fatal(err)
	}
	want := "MESSAGE=attempt failed\nPRIORITY=4\nSYSLOG_IDENTIFIER=farsight\nFARSIGHT_JOB=17\nFARSIGHT_STACK\n\x03\x00\x00\x00\x00\x00\x00\x00a\nb\n"
	if got := next(); got != want {
		t.Errorf("%q, want %q", got, want)
	}
	journalSocket = path + "-nobody"
	if err := Log(Info, "unheard"); err == nil {
		t.Error("a journal that is not there takes a record")
	}
}

// The journal is written to only where systemd says that the standard error is it.
func TestJournals(t *testing.T) {
	info, err := os.Stderr.Stat()
	if err != nil {
		t.Fatal(err)
	}
	st := info.Sys().(*syscall.Stat_t)
	for stream, want := range map[string]bool{"": false, "nonsense": false, "1:2": false, fmt.Sprintf("%d:%d", st.Dev, st.Ino): true} {
		t.Setenv("JOURNAL_STREAM", stream)
		if Journals() != want {
			t.Errorf("%q: %v", stream, !want)
		}
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
