package app

import (
	"context"
	"encoding/csv"
	"errors"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/farsight-console/farsight/engine"
	"github.com/farsight-console/farsight/engine/league"
	"github.com/farsight-console/farsight/internal/config"
	"github.com/farsight-console/farsight/storage"
)

// S4-9 through the real binary: everything that a sync stored is exported once,
// under the same cursors when the sync has run again, and after any line comes
// exactly the rest.
func TestS4_9_ExportsOfARepeatedSyncAreTheSame(t *testing.T) {
	t.Parallel()
	who := player("Feeder#S49", 6)
	s := startSim(t, quick(who))
	dir := freshDir(t)
	s.sync(who.RiotID, dir).run(t).wants(t, exitDone)
	export := func(args ...string) []string {
		t.Helper()
		r := command{args: append([]string{"export", "--data-dir", dir}, args...)}.asked(t).wants(t, exitDone)
		return slices.Collect(strings.Lines(r.stdout))
	}
	before := map[string][]string{}
	for _, what := range []string{"matches", "timelines", "participants", "ranks"} {
		lines := export(what)
		before[what] = lines
		seen := map[string]bool{}
		for i, line := range lines {
			var l struct {
				ID     string `json:"match_id"`
				Index  int    `json:"index"`
				Cursor string `json:"cursor"`
			}
			unmarshal(t, line, &l)
			if id := l.ID + "/" + string(rune('a'+l.Index)); seen[id] {
				t.Errorf("%s: %s stands twice", what, id)
			} else {
				seen[id] = true
			}
			if i != len(lines)/2 {
				continue
			}
			if rest := export(what, "--after", l.Cursor); !slices.Equal(rest, lines[i+1:]) {
				t.Errorf("%s after line %d: %d lines, want %d", what, i, len(rest), len(lines)-i-1)
			}
		}
		rows, err := csv.NewReader(strings.NewReader(strings.Join(export(what, "--format", "csv"), ""))).ReadAll()
		if err != nil || len(rows) != len(lines)+1 {
			t.Errorf("%s: %d rows of CSV, %d lines: %v", what, len(rows), len(lines), err)
		}
	}
	if len(before["matches"]) != 6 || len(before["timelines"]) != 6 || len(before["participants"]) < 30 {
		t.Errorf("%d matches, %d timelines, %d participants", len(before["matches"]), len(before["timelines"]), len(before["participants"]))
	}
	if lines := export("timelines", "--payload"); !strings.Contains(lines[0], `"payload":{`) {
		t.Errorf("a timeline without its payload: %s", tail(lines[0], 300))
	}
	jobs := export("jobs")
	s.sync(who.RiotID, dir, "--force").run(t).wants(t, exitDone)
	for what, lines := range before {
		if again := export(what); !slices.Equal(again, lines) {
			t.Errorf("%s: another export after a sync that brought nothing", what)
		}
	}
	if again := export("jobs"); len(again) <= len(jobs) || !slices.Equal(again[:len(jobs)], jobs) {
		t.Errorf("%d jobs, then %d, and they are not the same at first", len(jobs), len(again))
	}
}

func TestExportRefusesWhatMakesNoSense(t *testing.T) {
	t.Parallel()
	who := player("Feeder#BAD", 2)
	s := startSim(t, quick(who))
	dir := freshDir(t)
	s.sync(who.RiotID, dir).run(t).wants(t, exitDone)
	old := filepath.Join(t.TempDir(), "old")
	write(t, old, "cut")
	for _, w := range []struct {
		args string
		code int
		says string
	}{
		{"", exitUsage, "participants"},
		{"matches --format xml", exitUsage, "csv"},
		{"matches --format csv --payload", exitUsage, "ndjson"},
		{"participants --payload", exitUsage, "payload"},
		{"matches --after EUW1_1", exitUsage, "EUW1_1"},
		{"jobs --after m1-00000000", exitUsage, "jobs"},
		{"matches --follow --out " + old, exitFailed, "--after"},
		{"matches --follow --after m1-00000000 --out " + old, exitFailed, "last line"},
		{"matches --follow --after m1-00000000 --out " + filepath.Dir(old), exitFailed, "regular file"},
	} {
		args := append([]string{"export"}, strings.Fields(w.args)...)
		r := command{args: append(args, "--data-dir", dir)}.asked(t).wants(t, w.code)
		oneSentence(t, r.stderr, w.says)
		if r.stdout != "" {
			t.Errorf("%s: printed %q", w.args, r.stdout)
		}
	}
	if raw, _ := os.ReadFile(old); string(raw) != "cut" {
		t.Errorf("the file was changed: %q", raw)
	}
}

// --follow writes whole lines at once, names its cursor when it is interrupted,
// and goes on at the end of its file.
func TestExportFollowGoesOnInItsFile(t *testing.T) {
	t.Parallel()
	who := player("Feeder#FOLLOW", 5)
	more := player("Feeder2#FOLLOW", 3)
	s := startSim(t, quick(who, more))
	dir := freshDir(t)
	s.sync(who.RiotID, dir).run(t).wants(t, exitDone)
	out := filepath.Join(t.TempDir(), "out.csv")
	args := []string{"export", "matches", "--format", "csv", "--data-dir", dir, "--follow", "--out", out}
	has := func(lines int) func() bool {
		return func() bool {
			raw, _ := os.ReadFile(out)
			return strings.Count(string(raw), "\n") >= lines
		}
	}
	p := command{args: args}.start(t)
	p.until("six lines", has(6))
	_ = p.cmd.Process.Signal(syscall.SIGINT)
	r := p.wait().wants(t, exitInterrupted)
	_, cursor, ok := strings.Cut(strings.TrimSpace(r.stderr), "--after ")
	if !ok {
		t.Fatalf("it does not say how to go on: %q", r.stderr)
	}
	first, _ := os.ReadFile(out)
	s.sync(more.RiotID, dir).run(t).wants(t, exitDone)
	p = command{args: append(args, "--after", cursor)}.start(t)
	p.until("nine lines", has(9))
	_ = p.cmd.Process.Signal(syscall.SIGTERM)
	p.wait().wants(t, exitInterrupted)
	raw, _ := os.ReadFile(out)
	rows, err := csv.NewReader(strings.NewReader(string(raw))).ReadAll()
	if err != nil || len(rows) != 9 || !strings.HasPrefix(string(raw), string(first)) || rows[6][0] == "match_id" {
		t.Errorf("%d rows, %v", len(rows), err)
	}
}

func TestExportEndsQuietlyWhenNobodyReads(t *testing.T) {
	t.Parallel()
	who := player("Feeder#PIPE", 3)
	s := startSim(t, quick(who))
	dir := freshDir(t)
	s.sync(who.RiotID, dir).run(t).wants(t, exitDone)
	for _, flags := range [][]string{nil, {"--follow"}} {
		r, w, err := os.Pipe()
		if err != nil {
			t.Fatal(err)
		}
		_ = r.Close()
		p := command{args: append([]string{"export", "matches", "--data-dir", dir}, flags...), as: func(c *exec.Cmd) { c.Stdout = w }}.start(t)
		_ = w.Close()
		if res := p.wait().wants(t, exitDone); res.stderr != "" {
			t.Errorf("%v: said %q", flags, res.stderr)
		}
	}
}

// While --follow waits, the directory is free for others; what they store is
// read when they have ended.
func TestStoreFeedTakesTurns(t *testing.T) {
	dir := filepath.Join(t.TempDir(), "data")
	change := func(id string, during func()) { storing(t, dir, during, league.Match{ID: id}) }
	change("EUW1_1", func() {})
	held := make(chan error, 1)
	src := &storeFeed{cfg: config.Config{DataDir: dir}, every: time.Millisecond, held: func(err error) { held <- err }}
	if err := src.open(t.Context()); err != nil {
		t.Fatal(err)
	}
	page, err := src.Feed(t.Context(), engine.FeedQuery{Kind: engine.FeedMatches})
	if err != nil || len(page.Rows) != 1 {
		t.Fatalf("%+v %v", page, err)
	}
	if err := src.close(); err != nil {
		t.Fatal(err)
	}
	waited := make(chan error, 1)
	go func() { waited <- src.wait(t.Context()) }()
	change("EUW1_2", func() {
		if _, ok := errors.AsType[*storage.ErrHeld](<-held); !ok {
			t.Error("it does not say who holds the directory")
		}
	})
	if err := <-waited; err != nil {
		t.Fatal(err)
	}
	page, err = src.Feed(t.Context(), engine.FeedQuery{Kind: engine.FeedMatches, Page: engine.Page{After: page.Next}})
	if err != nil || len(page.Rows) != 1 || page.Rows[0].ID != "EUW1_2" {
		t.Errorf("%+v %v", page, err)
	}
	// With nothing new it ends with its context.
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	if err := src.wait(ctx); !errors.Is(err, context.Canceled) {
		t.Error(err)
	}
}
