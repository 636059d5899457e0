package app

import (
	"bufio"
	"fmt"
	"maps"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/creack/pty"

	"github.com/farsight-console/farsight/internal/scratch"
)

// tabShells are the shells that complete by tab: how each is started
// without anybody's settings, and where it asks farsight. What is run in the end is told
// instead, as ran <sync><Shell Script#CLI>.
var tabShells = map[string]struct {
	args []string
	set  string
}{
	"bash": {[]string{"--norc", "--noprofile"}, `farsight() { if [ "$1" = __complete ]; then %[1]s "$@"; else printf 'ran '; printf '<%%s>' "$@"; echo; fi; }`},
	"zsh":  {[]string{"-f"}, `autoload -U compinit; compinit -u -D; farsight() { if [ "$1" = __complete ]; then %[1]s "$@"; else printf 'ran '; printf '<%%s>' "$@"; echo; fi; }`},
	"fish": {[]string{"--no-config"}, `function farsight; if test "$argv[1]" = __complete; %[1]s $argv; else; printf 'ran '; printf '<%%s>' $argv; echo; end; end`},
}

// A real shell completes by tab a name within a quote that is still open, as every example
// writes it, and one without; a command, a flag, and what a flag takes.
func TestCompletion_ByTabInARealShell(t *testing.T) {
	t.Parallel()
	dir, _ := scripted(t)
	for at, shell := range slices.Sorted(maps.Keys(tabShells)) { // each of what is typed in one of them, in full in all
		how := tabShells[shell]
		t.Run(shell, func(t *testing.T) {
			script := (command{args: []string{"completion", shell}}).run(t).wants(t, exitDone).stdout
			file := filepath.Join(t.TempDir(), "complete")
			if err := os.WriteFile(file, []byte(fmt.Sprintf(how.set, shellWord(farsight(t)))+"\n"+script), 0o600); err != nil {
				t.Fatal(err)
			}
			cmd := exec.Command(needed(t, shell), how.args...)
			cmd.Env = []string{"PATH=/usr/bin:/bin", "TERM=xterm", "HOME=" + t.TempDir(), "LANG=C.UTF-8", "FARSIGHT_DATA_DIR=" + dir, scratch.Mark()}
			tty, err := pty.Start(cmd)
			if err != nil {
				t.Fatal(err)
			}
			t.Cleanup(func() {
				_ = cmd.Process.Kill()
				_ = tty.Close()
				_ = cmd.Wait()
			})
			p := &prompt{t: t, tty: tty, ran: ranIn(tty)}
			fmt.Fprintf(tty, ". '%s'\r", file)
			p.until("ready", "")
			all := map[string]string{
				`sync 'Sh`:                 "<sync><Shell Script#CLI>",
				`sync "Shell S`:            "<sync><Shell Script#CLI>",
				`sync '`:                   "<sync><Shell Script#CLI>",
				`sync Sh`:                  "<sync><Shell Script#CLI>",
				`sync --platform=euw1 'Sh`: "<sync><--platform=euw1><Shell Script#CLI>",
				`pau`:                      "<pause>",
				`jobs --sort crea`:         "<jobs><--sort><created>",
				`jobs --sort=crea`:         "<jobs><--sort=created>",
				`jobs --columns job,crea`:  "<jobs><--columns><job,created>",
				`queues -o j`:              "<queues><-o><json>",
				`queues --wat`:             "<queues><--watch>",
				`queues --no-h`:            "<queues><--no-headers>",
			}
			for i, typed := range slices.Sorted(maps.Keys(all)) {
				if scratch.Whole || i%len(tabShells) == at {
					p.completes(typed, all[typed])
				}
			}
		})
	}
}

// ranIn are what farsight was run with in a terminal.
func ranIn(tty *os.File) <-chan string {
	ran := make(chan string, 100)
	go func() {
		defer close(ran)
		for lines := bufio.NewScanner(tty); lines.Scan(); {
			if _, words, ok := strings.Cut(lines.Text(), "ran <"); ok {
				ran <- "<" + strings.TrimSpace(words)
			}
		}
	}()
	return ran
}

// prompt is where somebody types.
type prompt struct {
	t    *testing.T
	tty  *os.File
	ran  <-chan string
	asks int
}

// unanswered is how long a prompt is looked at before something is typed again.
const unanswered = 3 * completeWait

// completes types the begin of a line, a tab and enter, until the line that is run is as wanted:
// on a busy machine a shell is offered nothing in time now and then, and a quote stays open.
func (p *prompt) completes(typed, want string) {
	p.t.Helper()
	for end := time.Now().Add(patience); ; {
		fmt.Fprintf(p.tty, "farsight %s\t\r", typed)
		got := p.runs()
		if got == want {
			return
		}
		if time.Now().After(end) {
			p.t.Fatalf("%s ran %q, want %s", typed, got, want)
		}
		p.asks++
		// Ctrl+c gives up what is typed. Within a quote that was left open, zsh drops with it the key that
		// comes next: that may be enter, not the line's first letter.
		p.until(fmt.Sprint("again", p.asks), "\x03\r")
	}
}

// until types a line until it is run, each time behind what is typed first.
func (p *prompt) until(line, first string) {
	p.t.Helper()
	for end := time.Now().Add(patience); time.Now().Before(end); {
		fmt.Fprintf(p.tty, "%sfarsight %s\r", first, line)
		for got := p.runs(); got != ""; got = p.runs() {
			if got == "<"+line+">" {
				return
			}
		}
	}
	p.t.Fatal("the shell takes no line")
}

// runs is what is run next; "" = nothing for a while.
func (p *prompt) runs() string {
	select {
	case words := <-p.ran:
		return words
	case <-time.After(unanswered):
		return ""
	}
}
