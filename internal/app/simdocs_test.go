package app

import (
	"encoding/json"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"testing"

	"github.com/farsight-console/farsight/internal/scratch"
	"github.com/farsight-console/farsight/riot/sim"
)

// blocks are the commands of a page that a reader types, in order.
func blocks(t *testing.T, page string) (list []string) {
	t.Helper()
	raw, err := os.ReadFile(filepath.Join(top, "docs", page))
	if err != nil {
		t.Fatal(err)
	}
	for rest := string(raw); ; {
		var found bool
		if _, rest, found = strings.Cut(rest, "```sh\n"); !found {
			return list
		}
		var block string
		block, rest, _ = strings.Cut(rest, "```\n")
		list = append(list, block)
	}
}

// The commands of docs/sim.md take a naive client from 429s to none, as they are written:
// the simulator in one terminal, all others in another.
func TestSimPage_TakesAClientFrom429sToNone(t *testing.T) {
	t.Parallel()
	longest(t)
	needed(t, "curl")
	dir, addr := t.TempDir(), "127.0.0.1:"+freePort(t)
	typed := blocks(t, "sim.md")
	for i := range typed {
		typed[i] = strings.ReplaceAll(typed[i], "127.0.0.1:9000", addr) // others may have that port
	}
	first := strings.Fields(typed[0])
	if first[0] != "farsight" {
		t.Fatalf("the page begins with %q", typed[0])
	}
	s := command{args: first[1:], dir: dir}.start(t)
	if !s.says("simulated Riot API at") {
		t.Fatal(s.err.String())
	}

	// After each block stand the figures of that moment.
	var script strings.Builder
	for i, block := range typed[1:] {
		script.WriteString(block + "curl -s \"$SIM/sim/stats\" > stats." + strconv.Itoa(i) + "\n")
	}
	cmd := exec.Command("sh", "-e", "-c", script.String())
	cmd.Dir = dir
	cmd.Env = []string{"PATH=" + filepath.Dir(farsight(t)) + ":" + os.Getenv("PATH"), "HOME=" + home(t), "LANG=C", scratch.Mark()}
	out, err := cmd.CombinedOutput()
	if err != nil {
		t.Fatalf("the commands ended with %v: %s", err, tail(string(out), 2000))
	}
	figures := func(block int) (st sim.Stats) {
		raw, err := os.ReadFile(filepath.Join(dir, "stats."+strconv.Itoa(block)))
		if err == nil {
			err = json.Unmarshal(raw, &st)
		}
		if err != nil {
			t.Fatalf("after block %d: %v", block, err)
		}
		return st
	}
	answered := func(st sim.Stats) int { return st.ByMethod["lol-status-v4.platform-data"][200] }

	if st := figures(1); st.Calls != 40 || st.Violations == 0 {
		t.Errorf("the naive client: %+v", st)
	}
	if st := figures(3); answered(st) != 40 || st.Early != 0 {
		t.Errorf("a client that obeys: %+v", st)
	}
	if st := figures(4); answered(st) != 40 || st.Calls != 40 || st.Violations != 0 || st.Early != 0 {
		t.Errorf("a client that counts: %+v", st)
	}
	if st := figures(5); answered(st) != 40 || st.Calls == 40 || st.Violations != 0 || st.Early != 0 {
		t.Errorf("a client that counts, with faults: %+v", st)
	}
	if st := figures(6); st.Matches == 0 || st.Violations != 0 || st.Early != 0 || st.Repeated != 0 {
		t.Errorf("farsight: %+v", st)
	}
	if len(typed) != 8 {
		t.Errorf("the page has %d blocks: look at each of them here", len(typed))
	}
	if lines := s.out.String(); !strings.Contains(lines, " 429 euw1     lol-status-v4.platform-data application ") || !strings.Contains(lines, "BROKE THE LIMIT, ") || !strings.Contains(lines, "Retry-After ") {
		t.Errorf("the simulator prints\n%s", tail(lines, 2000))
	}
}
