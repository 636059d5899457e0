// Package sdnotify tells systemd how a service stands, as sd_notify(3) describes it, and
// its journal what the service logs: one datagram for each message.
package sdnotify

import (
	"context"
	"os"
	"strconv"
	"strings"
	"time"
)

// Notifier tells systemd, or nobody: the zero Notifier does, and one that was made
// without systemd.
type Notifier struct {
	path  string
	every time.Duration // of the watchdog; 0 = there is none
}

// New takes systemd's wishes out of the environment, so that no child
// believes them to be its own.
func New() Notifier {
	n := Notifier{path: os.Getenv("NOTIFY_SOCKET")}
	if usec, err := strconv.ParseInt(os.Getenv("WATCHDOG_USEC"), 10, 64); err == nil && usec > 0 && watchdogIsOurs() {
		n.every = time.Duration(usec) * time.Microsecond / 2
	}
	for _, name := range []string{"NOTIFY_SOCKET", "WATCHDOG_USEC", "WATCHDOG_PID"} {
		_ = os.Unsetenv(name)
	}
	if strings.HasPrefix(n.path, "@") { // an abstract address begins with a zero
		n.path = "\x00" + n.path[1:]
	}
	return n
}

func watchdogIsOurs() bool {
	pid := os.Getenv("WATCHDOG_PID")
	return pid == "" || pid == strconv.Itoa(os.Getpid())
}

// Tell sends lines such as READY=1. That nobody hears it is no reason to stop.
func (n Notifier) Tell(lines ...string) error {
	if n.path == "" {
		return nil
	}
	return send(n.path, []byte(strings.Join(lines, "\n")))
}

// Reloading are the lines that begin a reload; READY=1 ends it. systemd knows by the
// instant that this reload, and no earlier one, is what it has asked for.
func Reloading() []string {
	now, err := monotonic()
	if err != nil {
		return []string{"RELOADING=1"}
	}
	return []string{"RELOADING=1", "MONOTONIC_USEC=" + strconv.FormatInt(now.Microseconds(), 10)}
}

// Watch feeds the watchdog as long as the engine answers. One that hangs is not
// covered up: systemd ends and restarts it. It returns when ctx ends, or at once where
// there is no watchdog.
func (n Notifier) Watch(ctx context.Context, alive func(context.Context) bool) {
	if n.every <= 0 {
		return
	}
	tick := time.NewTicker(n.every)
	defer tick.Stop()
	for {
		select {
		case <-ctx.Done():
			return
		case <-tick.C:
		}
		asking, cancel := context.WithTimeout(ctx, n.every)
		if alive(asking) {
			_ = n.Tell("WATCHDOG=1")
		}
		cancel()
	}
}
