package app

import (
	"net/http"
	"net/http/httptest"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/spf13/cobra"

	"github.com/farsight-console/farsight/internal/scratch"
)

// typed is a line that help or a page tells its reader to type, behind the exports of its block.
type typed struct{ where, line string }

// notRun are the lines that cannot run here, and why. One that no page shows any more fails the test.
var notRun = []struct{ line, why string }{
	{`^git clone |^cd farsight$|^go (build|run|test) |^\.ci/run`, "CI begins with it"},
	{`^export RIOT_API_KEY=RGAPI-…`, "a key of the reader's own"},
	{`^ssh |^install .*ssh HOST`, "another machine"},
	{`farsight\.example\.com|engine\.lan`, "another machine, behind a proxy with TLS"},
	{`^systemctl |^useradd |^sudo |^install .*/(local|etc|lib)/`, "systemd, and root"},
	{`db\.example|^createuser |^createdb |^psql |^farsight serve --no-(lead|work)`, "a PostgreSQL on another machine"},
	{`^farsight pager test$`, "asks somebody at a terminal"},
	{`^farsight completion powershell`, "PowerShell"},
	{`^farsight reresolve `, "a key of another project"},
	{`^npx |^go run github.com/oapi`, "packages from elsewhere: TestGeneratedClients runs it"},
	{`duckdb -c `, "DuckDB: TestL23_ asks it"},
	{`^\{ printf '%s\.'`, "a message that has come"},
}

var (
	// goesOn are the lines that end when they are interrupted, startsOne those of them that need a
	// directory to themselves.
	goesOn    = regexp.MustCompile(`^farsight( serve| sim| attach| demo|$)| --(watch|follow)`)
	startsOne = regexp.MustCompile(`^farsight( serve| demo|$)`)
	// didNothing is what a line says that fits nothing; in asksInVain are those that look for what is not
	// here, an account or a job that failed for good and a job of the one that is synced.
	didNothing = regexp.MustCompile(`no job fits|nothing fits|was not run`)
	asksInVain = regexp.MustCompile(`^farsight (cancel --account|reclass|accounts 'status:failed')`)
	undoHint   = regexp.MustCompile(`: farsight undo (\d+)`)
)

// shownLines are the lines of help, of which docs/commands.md and the manual page are made, and
// those of the pages' blocks for a shell; inline is what is named within a text.
func shownLines(t *testing.T) (lines []typed, inline []typed) {
	t.Helper()
	add := func(where, line string) {
		if !slices.ContainsFunc(lines, func(l typed) bool { return l.line == line }) {
			lines = append(lines, typed{where, line})
		}
	}
	eachCommand(newRoot(), func(c *cobra.Command) {
		for line := range strings.Lines(c.Example + "\n" + c.Long) {
			if text := strings.TrimSpace(line); strings.Contains(c.Example, text) && text != "" || regexp.MustCompile(`^ +(ssh|farsight) `).MatchString(line) {
				add(c.CommandPath()+" --help", text)
			}
		}
	})
	pages, err := filepath.Glob(filepath.Join(top, "docs", "*.md"))
	if err != nil {
		t.Fatal(err)
	}
	for _, name := range []string{"README.md", "README.ko.md", "CONTRIBUTING.md"} {
		pages = append(pages, filepath.Join(top, name))
	}
	span := regexp.MustCompile("`(farsight [^`…]*)`")
	for _, page := range pages {
		raw, err := os.ReadFile(page)
		if err != nil {
			t.Fatal(err)
		}
		name := filepath.Base(page)
		if name == "commands.md" || name == "sim.md" { // made of help; TestSimPage runs it
			continue
		}
		within, language, exports := false, "", ""
		for line := range strings.Lines(string(raw)) {
			line, _, _ = strings.Cut(strings.TrimSpace(line), "  #")
			line = strings.TrimSpace(line)
			switch {
			case strings.HasPrefix(line, "```"):
				within, language, exports = !within, strings.TrimPrefix(line, "```"), ""
			case !within:
				for _, m := range span.FindAllStringSubmatch(line, -1) {
					inline = append(inline, typed{name, m[1]})
				}
			case language != "sh":
				if language == "" && regexp.MustCompile(`^(farsight|curl|ssh) `).MatchString(line) {
					t.Errorf("%s: %q stands in a block that is not marked as one for a shell", name, line)
				}
			case line == "#!/bin/sh": // a script of several lines has a test of its own
				language = "script"
			case strings.HasPrefix(line, "export ") && !strings.HasSuffix(line, "…"):
				exports += line + "; "
			case line != "":
				add(name, exports+line)
			}
		}
	}
	return lines, inline
}

// What a text calls a command is one, with these flags.
func TestW13b_CommandsThatAreNamedExist(t *testing.T) {
	_, inline := shownLines(t)
	for _, l := range inline {
		fresh := newRoot()
		args := wordsOf(l.line)[1:]
		cmd, rest, err := fresh.Find(args)
		if err == nil && !slices.ContainsFunc(args, func(a string) bool { return a == "-h" || a == "--help" }) {
			err = cmd.ParseFlags(rest)
		}
		if err != nil {
			t.Errorf("%s: %s: %v", l.where, l.line, err)
		}
	}
	if len(inline) < 50 {
		t.Errorf("%d commands are named", len(inline))
	}
}

// typist types lines against an engine that works on a simulated Riot.
type typist struct {
	t    *testing.T
	env  []string
	held []string          // keys of jobs that wait for a retry, one for each line that names one
	undo string            // the newest command that can be undone
	ours *strings.Replacer // of names of another installation by those of this one
}

// run types a line in a folder of its own and tells what came of it. One that goes on is interrupted
// when it has said something.
func (w *typist) run(line string) (said string, code int) {
	w.t.Helper()
	shell := "bash -o pipefail -c"
	for _, other := range []string{"fish", "zsh"} {
		if strings.Contains(line, "completion "+other) {
			shell = other + " -c"
		}
	}
	const held, undo = "match:KR_7214550881", "undo 31"
	if strings.Contains(line, held) {
		if len(w.held) == 0 {
			w.t.Fatalf("%s: no job is left for it", line)
		}
		line, w.held = strings.Replace(line, held, w.held[0], 1), w.held[1:]
	}
	own := w.ours.Replace(strings.Replace(line, undo, "undo "+w.undo, 1))
	cmd := exec.Command(words(shell)[0], append(words(shell)[1:], own)...)
	cmd.Dir, cmd.Env = w.t.TempDir(), slices.Clone(w.env)
	if startsOne.MatchString(line) {
		cmd.Env = append(cmd.Env, "FARSIGHT_DATA_DIR="+filepath.Join(cmd.Dir, "data"))
	}
	write(w.t, filepath.Join(cmd.Dir, "accounts.csv"), "Name#TAG,euw1\n")
	var out lockedBuffer
	cmd.Stdout, cmd.Stderr = &out, &out
	cmd.SysProcAttr = &syscall.SysProcAttr{Setpgid: true}
	keyboard, err := cmd.StdinPipe()
	if err == nil {
		err = cmd.Start()
	}
	if err != nil {
		w.t.Fatal(err)
	}
	ended := make(chan struct{})
	go func() {
		defer close(ended)
		_ = cmd.Wait()
	}()
	if goesOn.MatchString(line) {
		eventually(w.t, "a word of "+line, func() bool {
			select {
			case <-ended:
				return true
			default:
				return out.String() != ""
			}
		})
		_ = syscall.Kill(-cmd.Process.Pid, syscall.SIGINT)
	} else {
		_, _ = keyboard.Write([]byte(canary + "\n")) // to `key set`
		_ = keyboard.Close()
	}
	select {
	case <-ended:
	case <-time.After(patience):
		_ = syscall.Kill(-cmd.Process.Pid, syscall.SIGKILL)
		why := exec.Command("bash", "-c", "farsight status; farsight jobs --limit 20; farsight logs --limit 20")
		why.Env = w.env
		state, _ := why.CombinedOutput()
		w.t.Fatalf("%s has not ended: %s\n%s", line, tail(out.String(), 600), state)
	}
	if m := undoHint.FindStringSubmatch(out.String()); m != nil {
		w.undo = m[1]
	}
	if strings.HasPrefix(own, "farsight undo ") { // of the last command: a queue may be paused by it
		w.must(`farsight resume ingest.summoner.full`)
	}
	return out.String(), cmd.ProcessState.ExitCode()
}

// must runs a line that prepares the others.
func (w *typist) must(line string) string {
	w.t.Helper()
	said, code := w.run(line)
	if code != exitDone {
		w.t.Fatalf("%s: exit %d\n%s", line, code, tail(said, 600))
	}
	return said
}

// What help, the manual page, the README and the pages tell a reader to type runs as it stands
// there, but for names of jobs, weeks, folders and addresses, which are those of the test.
func TestW13a_EveryExampleRuns(t *testing.T) {
	t.Parallel()
	longest(t)
	for _, program := range []string{"bash", "fish", "zsh", "jq", "curl"} {
		needed(t, program)
	}
	lines, _ := shownLines(t)
	shown := len(lines)
	for _, n := range notRun {
		fits := regexp.MustCompile(n.line)
		if was := len(lines); len(slices.DeleteFunc(slices.Clone(lines), func(l typed) bool { return fits.MatchString(l.line) })) == was {
			t.Errorf("no page shows %s any more (%s): strike it off the list", n.line, n.why)
		}
		lines = slices.DeleteFunc(lines, func(l typed) bool { return fits.MatchString(l.line) })
	}

	riot := "127.0.0.1:" + freePort(t)
	s := command{args: []string{"sim", "--listen", riot, "--limits", "500:1,20000:10", "--latency", "0", "--quiet",
		"--player", "Name#TAG,euw1,40", "--player", "이름#KR1,kr,5", "--ladder", "kr,solo,20",
		"--ladder", "euw1,solo,5,diamond1", "--fault", "503,host=americas,method=match-v5.match,rate=0.4",
		"--fault", "429-application,host=asia,method=match-v5.match,count=1,retry_after=1"}}.start(t)
	s.says("simulated Riot API at")
	discord := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) { w.WriteHeader(http.StatusNoContent) }))
	t.Cleanup(discord.Close)
	_, env := switchboard(t, 0, nil, firstNumber)
	env["FARSIGHT_CALL_NUMBERS"], env["FARSIGHT_PAGER_DISCORD_URL"] = firstNumber+",+4930123456", discord.URL
	env["RIOT_API_KEY"], env["RIOT_BASE_URL"] = canary, "http://"+riot+"/{routing}"
	env["FARSIGHT_RETRY_MATCH"] = "10ms,10ms,1h" // what fails waits for those who act on it
	dir := freshDir(t)
	env["FARSIGHT_DATA_DIR"] = dir
	engine := command{args: []string{"serve", "--http", "127.0.0.1:0"}, env: env}.start(t)
	engine.says("farsight: ready: process " + strconv.Itoa(engine.cmd.Process.Pid))
	address := strings.TrimPrefix(program(t, engine, dir).base, "http://")
	w := &typist{t: t, ours: strings.NewReplacer(), env: []string{
		"PATH=" + filepath.Dir(farsight(t)) + ":" + os.Getenv("PATH"), "HOME=" + t.TempDir(), "TMPDIR=" + os.TempDir(), "USER=tester",
		"LANG=C.UTF-8", "TZ=UTC", scratch.Mark(),
	}}
	for name, value := range env {
		w.env = append(w.env, name+"="+value)
	}

	w.must(`farsight track 'Name#TAG' --platform euw1`)
	w.must(`farsight sync 'Name#TAG' --platform euw1`)
	w.must(`farsight sync '이름#KR1' --platform kr`)
	w.must(`farsight trigger 'Lost Pages#SIM' --platform na1`)
	w.must(`farsight schedules --run report.weekly`)
	w.must(`farsight backup`)
	engine.until("jobs that wait for a retry", func() bool {
		w.held = strings.Fields(w.must(`farsight jobs 'state:retryable try>2' -o csv --columns key --no-headers`))
		return len(w.held) > 6
	})
	firing := regexp.MustCompile(`"id":"429"[^{]*"state":"firing"`)
	engine.until("an unexpected 429", func() bool { return firing.MatchString(w.must(`farsight alerts --json`)) })
	var week string
	engine.until("a weekly report", func() (ok bool) {
		said, code := w.run(`farsight weekly`)
		if code == exitDone {
			week = words(said)[1]
		}
		return code == exitDone
	})
	limited := regexp.MustCompile(`"seq":(\d+)`).FindStringSubmatch(w.must(`farsight forensics --json`))
	if limited == nil {
		t.Fatal(w.must(`farsight forensics --json`))
	}
	w.ours = strings.NewReplacer("forensics 31", "forensics "+limited[1], "2026-11-16", week,
		"/run/farsight/control.sock", controlSocket(dir), "/run/farsight", dir, "DATA_DIR", dir, "/mnt/backup", t.TempDir(),
		"--http 127.0.0.1:7171", "--http 127.0.0.1:0", "127.0.0.1:7171", address, "127.0.0.1:9000", riot, "/tmp/simulated", t.TempDir(), "farsight sim ", "farsight sim --listen 127.0.0.1:0 ")

	var alone []typed
	for _, l := range lines {
		said, code := w.run(l.line)
		switch {
		case code == exitHeld: // such as compact: when the engine has ended
			alone = append(alone, l)
		case code != exitDone && (code != exitInterrupted || !goesOn.MatchString(l.line)):
			t.Errorf("%s: %s: exit %d\n%s", l.where, l.line, code, tail(said, 600))
		case didNothing.MatchString(said) && !asksInVain.MatchString(l.line):
			t.Errorf("%s: %s does nothing: %s", l.where, l.line, tail(said, 600))
		}
	}
	_ = engine.cmd.Process.Signal(syscall.SIGTERM)
	engine.wait()
	for _, l := range alone {
		if said, code := w.run(l.line); code != exitDone {
			t.Errorf("%s: %s: exit %d\n%s", l.where, l.line, code, tail(said, 600))
		}
	}
	t.Logf("%d lines, %d of them ran, %d without an engine", shown, len(lines), len(alone))
}
