package app

import (
	"bytes"
	"encoding/json"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/farsight-console/farsight/riot/route"
	"github.com/farsight-console/farsight/riot/sim"
)

// scripted is a directory with what a sync leaves: an account, matches, one of which
// could not be had, and the command of an operator.
func scripted(t *testing.T) (dir, lost string) {
	t.Helper()
	who := player("Shell Script#CLI", 5)
	o := quick(who)
	lost = sim.New(o).MatchIDs(who.RiotID)[1]
	o.Faults = []sim.Fault{{Name: "gone", Kind: sim.NotFound, Match: sim.Match{Method: route.Match, ID: lost, Attempts: 1}}}
	s := startSim(t, o)
	dir = freshDir(t)
	s.sync(who.RiotID, dir).run(t).wants(t, exitIncomplete)
	in(dir, "pause", "report.weekly").asked(t).wants(t, exitDone)
	return dir, lost
}

// What the shell offers behind a word: accounts, jobs, classes, alerts, schedules,
// numbers of commands, hosts and methods, words of a filter; and no file where none
// could be meant.
func TestCompletion(t *testing.T) {
	t.Parallel()
	dir, lost := scripted(t)
	in(dir, "backup", "--no-payloads").asked(t).wants(t, exitDone)
	offers := func(t *testing.T, line string, begun string) []string {
		t.Helper()
		args := append([]string{"__complete"}, words(line)...)
		res := command{args: append(args, begun), env: map[string]string{"FARSIGHT_DATA_DIR": dir}}.asked(t).wants(t, exitDone)
		var list []string
		for _, l := range strings.Split(strings.TrimSuffix(res.stdout, "\n"), "\n") {
			word, _, _ := strings.Cut(l, "\t")
			list = append(list, word)
		}
		return list
	}
	const noFiles, filter, folders, files = ":4", ":6", ":16", ":0"
	for _, c := range []struct{ line, begun, word, how string }{
		{"sync", "Shell", "Shell Script#CLI", noFiles},
		{"forget", "", "Shell Script#CLI", noFiles},
		{"matches", "Shell", "Shell Script#CLI", noFiles},
		{"cancel --account", "", "Shell Script#CLI", noFiles},
		{"retry", "match:", "match:" + lost, noFiles},
		{"reclass --class", "404", "404:", noFiles},
		{"cancel --state", "retryable,dis", "retryable,discarded", noFiles},
		{"pause", "ingest.s", "ingest.summoner.full", noFiles},
		{"undo", "", "2", ":36"},
		{"schedules --run", "", "sweep", noFiles},
		{"silence", "key", "key-expires", noFiles},
		{"freeze", "eu", "europe", noFiles},
		{"freeze europe", "match", "match-v5.timeline", noFiles},
		{"freeze euw1", "", "league-v4.by-puuid", noFiles},
		{"restore", "20", "20", noFiles},
		{"jobs", "sta", "state:", filter},
		{"accounts", "state:fa", "state:failed", filter},
		{"sync --platform", "e", "euw1", noFiles},
		{"export matches --format", "", "csv", noFiles},
		{"export --format", "", "parquet", noFiles},
		{"collect --from", "", "Shell Script#CLI", noFiles},
		{"jobs --sort", "cr", "created", noFiles},
		{"jobs --classes --sort", "", "discarded", noFiles},
		{"schedules --columns", "name,n", "name,next", filter},
		{"queues -o", "", "json", noFiles},
		{"logs --level", "w", "warn", noFiles},
		{"sim --window", "", "sliding", noFiles},
		{"help", "for", "forget", noFiles},
		{"pager test", "nt", "ntfy", noFiles},
		{"pause", "", "webhooks", noFiles},
		{"collect --queue", "", "solo", noFiles},
		{"collections --pause", "", "", noFiles}, // it is no schedule
		{"completion", "z", "zsh", noFiles},
		{"check", "", "", noFiles},
		{"weekly", "", "", noFiles},
		{"audit --last", "", "", noFiles},
		{"backup --to", "", "", folders},
		{"export matches --out", "", "", files},
	} {
		list := offers(t, c.line, c.begun)
		for end := time.Now().Add(patience); c.word != "" && len(list) == 1 && time.Now().Before(end); {
			list = offers(t, c.line, c.begun) // a busy machine had nothing to offer in time
		}
		if how := list[len(list)-1]; how != c.how {
			t.Errorf("%s %q: directive %s, want %s", c.line, c.begun, how, c.how)
		}
		all := "\n" + strings.Join(list, "\n")
		if c.word != "" && !strings.Contains(all, "\n"+c.word) || c.word == "" && len(list) > 1 {
			t.Errorf("%s %q offers %q, want %q", c.line, c.begun, list, c.word)
		}
	}
	// A job is told by its player, whether it is a sync or one of its matches.
	res := command{args: []string{"__complete", "logs", "--job", ""}, env: map[string]string{"FARSIGHT_DATA_DIR": dir}}.asked(t)
	for _, job := range []string{"full:[^,]+", `match:\w+`} {
		if !regexp.MustCompile(job + ", Shell Script#CLI, COMPLETED").MatchString(res.stdout) {
			t.Errorf("no %s of a player: %s", job, res.stdout)
		}
	}
	for _, shell := range words("bash zsh fish powershell") {
		if res := (command{args: []string{"completion", shell}}).asked(t).wants(t, exitDone); !strings.Contains(res.stdout, "farsight") {
			t.Errorf("%s: %q", shell, res.stdout)
		}
	}
}

// Nothing is offered, and nothing said, where there is nothing to ask or the
// configuration is wrong.
func TestCompletion_OfNothing(t *testing.T) {
	t.Parallel()
	for name, env := range map[string]map[string]string{
		"no directory": {"FARSIGHT_DATA_DIR": freshDir(t)},
		"bad settings": {"FARSIGHT_DATA_DIR": freshDir(t), "WORKER_CONCURRENCY": "many"},
	} {
		res := command{args: []string{"__complete", "cancel", ""}, env: env}.asked(t).wants(t, exitDone)
		if res.stdout != ":4\n" {
			t.Errorf("%s: %q", name, res.stdout)
		}
	}
}

// More wrong words, on a directory that holds something: each gets its sentence, and of
// several commands none is carried out when one makes no sense.
func TestBadInput_OnAFullDirectory(t *testing.T) {
	t.Parallel()
	dir, _ := scripted(t)
	for line, c := range map[string]struct {
		code int
		says string
	}{
		"pause ingest.summoner.full nope":            {exitUsage, "nope ingest.summoner.latest"},
		"cancel --queue nope":                        {exitUsage, "nope ingest.summoner.latest"},
		"cancel --account nope":                      {exitFailed, "nope accounts"},
		"cancel --state nope":                        {exitUsage, "--state nope pending discarded"},
		"freeze europe --for -5m":                    {exitUsage, "--for -5m"},
		"freeze europe --until 2020-01-01T00:00:00Z": {exitUsage, "--until 2020-01-01 passed"},
		"freeze europe --for 0s --dry-run":           {exitUsage, "--for passed"},
		"silence 429 --until 2020-01-01T00:00:00Z":   {exitUsage, "--until passed"},
		"reschedule match:X --in -5m":                {exitUsage, "--in -5m"},
		"undo 999":                                   {exitFailed, "999 audit"},
		"undo 1 2":                                   {exitUsage, "one command"},
		"restore a b":                                {exitUsage, "one backup"},
		"backup now":                                 {exitUsage, "now --help"},
		"compact now":                                {exitUsage, "now --help"},
		"help frobnicate":                            {exitUsage, "frobnicate --help"},
		"help export sandwiches":                     {exitUsage, "sandwiches export"},
		"completion":                                 {exitUsage, "bash zsh fish"},
		"completion tcsh":                            {exitUsage, "tcsh"},
		"metrics --window x":                         {exitUsage, "--window 10m"},
		"metrics -o csv":                             {exitUsage, "csv table json"},
		"logs --json -o table":                       {exitUsage, "two forms"},
		"accounts (tag:a)":                           {exitUsage, "parentheses"},
		"weekly":                                     {exitFailed, "no report schedules --run report.weekly"},
		"sync Shell#X --platform euw1 --data-dir=":   {exitUsage, "data_dir --data-dir directory"},
		"check --data-dir " + filepath.Join(dir, "state.db"): {exitIncomplete, "state.db directory"},
	} {
		res := in(dir, words(line)...)
		if strings.Contains(line, "--data-dir") {
			res = command{args: words(line)}
		}
		out := res.asked(t).wants(t, c.code)
		oneSentence(t, out.stderr, words(c.says)...)
		if out.stdout != "" {
			t.Errorf("%s: stdout %q", line, out.stdout)
		}
	}
	for line, says := range map[string]string{
		"queues nope":                       "nope",
		"jobs --classes nope":               "no job of queue nope",
		"joblog --kind nope":                "no job of that kind",
		"logs --job nope":                   "no record",
		"jobs " + strings.Repeat("x", 1000): "…",
		"freeze europe --for 5m --dry-run":  "would have bucket europe frozen",
		"thaw europe --dry-run":             "would have bucket europe open",
		"status":                            "no engine runs here",
	} {
		if out := in(dir, words(line)...).asked(t).wants(t, exitDone); !strings.Contains(out.stdout, says) || len(out.stdout) > 600 {
			t.Errorf("%s: %q", line, out.stdout)
		}
	}
	in(dir, "cancel", "--account", "Shell Script#CLI", "--dry-run").asked(t).wants(t, exitDone)
	if out := in(dir, "queues", "--json").asked(t).wants(t, exitDone); strings.Contains(out.stdout, `"ingest.summoner.full","paused":true`) {
		t.Errorf("a queue was paused by a command that makes no sense: %s", out.stdout)
	}
}

// A directory that lets nobody in is told as that, and not as an empty one or as a
// setting that is wrong.
func TestBadInput_AClosedDirectory(t *testing.T) {
	t.Parallel()
	base, err := os.MkdirTemp("", "farsight-closed-")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = os.RemoveAll(base) })
	farsight(t)
	dir := filepath.Join(base, "data")
	write(t, filepath.Join(dir, "config.toml"), "log_level = \"info\"\n")
	for path, mode := range map[string]fs.FileMode{base: 0o755, built.dir: 0o755, dir: 0} {
		if err := os.Chmod(path, mode); err != nil {
			t.Fatal(err)
		}
	}
	t.Cleanup(func() { _ = os.Chmod(dir, 0o700) })
	for _, line := range []string{"status", "check", "logs", "pause ingest.summoner.full", "export matches"} {
		cmd := in(dir, words(line)...)
		if os.Getuid() == 0 { // root may go anywhere
			cmd.dir = "/"
			cmd.as = func(c *exec.Cmd) {
				c.SysProcAttr = &syscall.SysProcAttr{Credential: &syscall.Credential{Uid: 65534, Gid: 65534}}
			}
		}
		oneSentence(t, cmd.asked(t).wants(t, exitIncomplete).stderr, dir, "permission", "owner")
	}
}

// Errors of flags, of arguments and of commands never pass through fang, which asks the
// terminal for its colours first.
func TestErrorsAskTheTerminalNothing(t *testing.T) {
	t.Parallel()
	for _, line := range []string{"jobs --nope", "jobs a b", "sync", "frobnicate", "help frobnicate", "completion tcsh", "demo --speed x", "export", "undo 1 2"} {
		root := newRoot()
		root.SilenceErrors, root.SilenceUsage = true, true
		var failed error
		keepErrors(root, &failed)
		root.SetArgs(words(line))
		if err := root.ExecuteContext(t.Context()); err != nil || exitCode(failed) != exitUsage {
			t.Errorf("%s: fang gets %v, kept is %v", line, err, failed)
		}
	}
}

// A dumb terminal gets help and errors without a control character.
func TestDumbTerminal(t *testing.T) {
	t.Parallel()
	env := map[string]string{"TERM": "dumb"}
	for line, code := range map[string]int{"--help": exitDone, "help sync": exitDone, "--version": exitDone, "frobnicate": exitUsage} {
		out := command{args: words(line), env: env}.asked(t).wants(t, code)
		if text := out.stdout + out.stderr; strings.Contains(text, "\x1b") || !strings.Contains(text, "farsight") {
			t.Errorf("%s: %q", line, text)
		}
	}
}

var snake = regexp.MustCompile(`^[a-z0-9]+(_[a-z0-9]+)*$`)

// Every list and report as JSON: names in snake case, times in RFC 3339 and never the
// zero one, lists of nothing as [].
func TestJSONOfEveryCommand(t *testing.T) {
	t.Parallel()
	full, _ := scripted(t)
	empty := freshDir(t)
	in(empty, "track", "Nobody Yet#CLI", "--platform", "euw1").asked(t).wants(t, exitDone)
	for _, line := range []string{"metrics", "logs"} {
		if out := in(full, line, "-o", "json").asked(t).wants(t, exitDone); !strings.HasPrefix(out.stdout, "{") {
			t.Errorf("%s -o json: %s", line, out.stdout)
		}
	}
	for _, dir := range []string{full, empty} {
		for _, line := range []string{
			"status", "status --all", "queues", "jobs --all", "jobs --classes", "retries", "accounts", "matches", "limits", "reports", "schedules",
			"alerts", "metrics", "joblog", "logs", "audit", "freshness", "config", "version", "check", "doctor", "prune --dry-run",
			"compact --dry-run", "backup --list", "pause ingest.rank.daily --dry-run", "cancel --class 404 --dry-run", "freeze europe --dry-run",
		} {
			out := in(dir, append(words(line), "--json")...).asked(t).wants(t, exitDone)
			d := json.NewDecoder(bytes.NewReader([]byte(out.stdout)))
			for d.More() {
				var v any
				if err := d.Decode(&v); err != nil {
					t.Fatalf("%s: %v", line, err)
				}
				wellFormed(t, line, "", v)
			}
		}
	}
}

// listMembers are members that hold one, whatever is in it.
var listMembers = regexp.MustCompile(`^(queues|syncing|next_retries|regions|late|findings|buckets|waiting|checks|months|modules|sample|next)$`)

// freeMembers are members below which names are data.
var freeMembers = regexp.MustCompile(`^(args|skipped|statuses|waiting|rows|classes|failed)$`)

func wellFormed(t *testing.T, line, name string, v any) {
	t.Helper()
	switch v := v.(type) {
	case nil:
		if listMembers.MatchString(name) {
			t.Errorf("%s: %s is null", line, name)
		}
	case string:
		if at, err := time.Parse(time.RFC3339, v); err == nil && at.Year() < 2000 {
			t.Errorf("%s: %s is %s", line, name, v)
		}
	case []any:
		for _, e := range v {
			wellFormed(t, line, name, e)
		}
	case map[string]any:
		for key, e := range v {
			if !freeMembers.MatchString(name) && !snake.MatchString(key) {
				t.Errorf("%s: a member is called %q", line, key)
			}
			wellFormed(t, line, key, e)
		}
	}
}

// TestVersion_IsOneLine: the modules and the notice are there for whoever asks.
func TestVersion_IsOneLine(t *testing.T) {
	t.Parallel()
	if text := (command{args: []string{"version"}}).run(t).wants(t, exitDone).stdout; strings.Count(text, "\n") != 1 || !strings.HasPrefix(text, "farsight ") {
		t.Error(text)
	}
	if text := (command{args: []string{"version", "--modules"}}).run(t).wants(t, exitDone).stdout; !strings.Contains(text, "go.etcd.io/bbolt") || !strings.Contains(text, "not endorsed by Riot Games") {
		t.Error(text)
	}
}

// A list that is watched ends with its reader, and on Ctrl-C; the directory is free for others
// in between, and what they do there is shown.
func TestLists_AreWatched(t *testing.T) {
	t.Parallel()
	dir, _ := scripted(t)
	shown := in(dir, "queues", "--watch", "-o", "csv", "--columns", "queue,state").start(t)
	shown.says("report.weekly,PAUSED by")
	in(dir, "resume", "report.weekly").asked(t).wants(t, exitDone)
	in(dir, "pause", "ingest.rank.daily").asked(t).wants(t, exitDone)
	shown.says("ingest.rank.daily,PAUSED by")
	_ = shown.cmd.Process.Signal(syscall.SIGINT)
	if res := shown.wait().wants(t, exitDone); strings.Count(res.stdout, "queue,state") != 1 || res.stderr != "" {
		t.Errorf("%s%s", res.stdout, res.stderr)
	}
	r, w, err := os.Pipe()
	if err != nil {
		t.Fatal(err)
	}
	piped := in(dir, "jobs", "--all", "--watch")
	piped.as = func(cmd *exec.Cmd) { cmd.Stdout = w }
	p := piped.start(t)
	w.Close()
	if _, err := r.Read(make([]byte, 10)); err != nil {
		t.Fatal(err)
	}
	r.Close()
	p.wait().wants(t, exitDone)
}
