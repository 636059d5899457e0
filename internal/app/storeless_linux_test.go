package app

import (
	"fmt"
	"net"
	"os"
	"path/filepath"
	"regexp"
	"strconv"
	"strings"
	"syscall"
	"testing"
)

// serverSide are the packages that are at work for a database only.
var serverSide = regexp.MustCompile(`jackc/|riverqueue/|farsight/storage/(pg|fleet|river)\b|farsight/engine/remote\b`)

// kernels are files that any Go program may have open.
var kernels = regexp.MustCompile(`^/(dev|proc|sys)/`)

// inits are the lines that GODEBUG=inittrace=1 makes a program write:
// init net/http @2.7 ms, 0.033 ms clock, 4712 bytes, 49 allocs
var inits = regexp.MustCompile(`(?m)^init (\S+) @.* (\d+) allocs$`)

// Without --store nothing of the server's side is at work, even where a server could be found:
// no goroutine, no file, no connection, and next to nothing at the start of the program.
func TestShow12_WithoutAStore(t *testing.T) {
	t.Parallel()
	const who = "Storeless#EUW"
	long(t)
	s, dir := startSim(t, quick(player(who, 5))), freshDir(t)
	server, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	came := make(chan struct{})
	go func() {
		defer close(came)
		if c, err := server.Accept(); err == nil {
			_ = c.Close()
			t.Error("somebody has connected to the server")
		}
	}()
	_, port, _ := net.SplitHostPort(server.Addr().String())
	p := s.serving(t, dir, map[string]string{"PGHOST": "127.0.0.1", "PGPORT": port, "PGUSER": "farsight", "PGDATABASE": "farsight", "GODEBUG": "inittrace=1"})
	here := map[string]string{"FARSIGHT_DATA_DIR": dir}
	command{args: []string{"trigger", who, "--platform", "euw1"}, env: here}.run(t).wants(t, exitDone)
	p.until("five matches", func() bool {
		r := command{args: []string{"export", "matches"}, env: here}.run(t)
		return strings.Count(r.stdout, `"status":"success"`) == 5
	})

	at := fmt.Sprintf("/proc/%d/fd", p.cmd.Process.Pid)
	files, err := os.ReadDir(at)
	if err != nil {
		t.Fatal(err)
	}
	for _, f := range files {
		to, _ := os.Readlink(filepath.Join(at, f.Name()))
		if strings.HasPrefix(to, "/") && !strings.HasPrefix(to, dir) && !kernels.MatchString(to) {
			t.Errorf("%s is open", to)
		}
	}

	_ = p.cmd.Process.Signal(syscall.SIGQUIT) // it tells what all of its goroutines do
	said := p.wait().stderr
	_ = server.Close()
	<-came
	_, stacks, _ := strings.Cut(said, "SIGQUIT")
	if strings.Count(stacks, "\ngoroutine ") < 10 || !strings.Contains(stacks, "farsight/storage.") {
		t.Fatalf("these are no goroutines of an engine: %s", tail(said, 2000))
	}
	for line := range strings.Lines(stacks) {
		if serverSide.MatchString(line) {
			t.Errorf("at work: %s", line)
		}
	}
	sum := 0
	for _, m := range inits.FindAllStringSubmatch(said, -1) {
		if n, _ := strconv.Atoi(m[2]); serverSide.MatchString(m[1]) {
			sum += n
			if strings.Contains(m[1], "farsight") && n > 600 {
				t.Errorf("package %s allocates %d times at the start", m[1], n)
			}
		}
	}
	if sum == 0 || sum > 1500 { // River's own are 600: the expressions of its statements' templates
		t.Errorf("the packages of the server's side allocate %d times at the start", sum)
	}
}
