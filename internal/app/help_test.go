package app

import (
	"strings"
	"testing"
	"unicode/utf8"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"
)

// eachCommand visits the commands that people see.
func eachCommand(c *cobra.Command, do func(*cobra.Command)) {
	do(c)
	for _, sub := range c.Commands() {
		if !sub.Hidden {
			eachCommand(sub, do)
		}
	}
}

// Each command shows an example that it takes, and each flag that takes a value says which.
func TestHelp_EveryCommandHasAnExampleThatWorks(t *testing.T) {
	root := newRoot()
	eachCommand(root, func(c *cobra.Command) {
		if strings.TrimSpace(c.Example) == "" {
			t.Errorf("%s has no example", c.CommandPath())
		}
		c.LocalFlags().VisitAll(func(f *pflag.Flag) {
			if word := valueName(c, f); !f.Hidden && word == strings.ToUpper(f.Value.Type()) {
				t.Errorf("%s: --%s does not say what it takes: %q", c.CommandPath(), f.Name, word)
			}
			// fang writes the first word small but for its first letter: NDJSON would be Ndjson.
			if first, _, _ := strings.Cut(f.Usage, " "); first != "" && first[1:] != strings.ToLower(first[1:]) {
				t.Errorf("%s: what --%s is begins with %q", c.CommandPath(), f.Name, first)
			}
		})
		for line := range strings.Lines(c.Example) {
			fresh := newRoot()
			cmd, rest, err := fresh.Find(wordsOf(line)[1:])
			if err == nil {
				err = cmd.ParseFlags(rest)
			}
			if err == nil && cmd.Args != nil {
				err = cmd.Args(cmd, cmd.Flags().Args())
			}
			if err != nil || cmd.CommandPath() != c.CommandPath() && !strings.HasPrefix(cmd.CommandPath(), c.CommandPath()+" ") {
				t.Errorf("%s: %q is taken by %s: %v", c.CommandPath(), line, cmd.CommandPath(), err)
			}
		}
	})
}

// wordsOf reads an example as a shell does, up to what is piped or substituted.
func wordsOf(line string) (words []string) {
	line = strings.TrimSuffix(strings.TrimPrefix(strings.TrimSpace(line), "source <("), ")")
	for i, part := range strings.Split(line, "'") {
		if i%2 == 1 {
			words = append(words, part)
			continue
		}
		for _, w := range strings.Fields(part) {
			if w == "|" || w == "&&" {
				return words
			}
			words = append(words, w)
		}
	}
	return words
}

// What goes into a pipe has 80 columns, and says which flags take a value.
func TestHelp_IsReadableInAPipe(t *testing.T) {
	t.Parallel()
	for _, args := range []string{"--help", "sync --help", "help jobs", "cancel -h", "export matches --help", "track --help", "schedules --help"} {
		out := command{args: words(args)}.asked(t).wants(t, exitDone).stdout
		for line := range strings.Lines(out) {
			if n := utf8.RuneCountInString(strings.TrimSuffix(line, "\n")); n > plainWidth || strings.HasSuffix(line, " \n") {
				t.Errorf("farsight %s: %d columns: %q", args, n, line)
			}
		}
		if !strings.Contains(out, "--data-dir DIR") || !strings.Contains(out, "EXAMPLES") {
			t.Errorf("farsight %s:\n%s", args, out)
		}
	}
	out := command{args: words("sync --help")}.asked(t).wants(t, exitDone).stdout
	for _, text := range []string{"--count N ", "--timelines WHICH", "--since SPAN", "--json  ", "farsight sync 'Name#TAG' --platform euw1"} {
		if !strings.Contains(out, text) {
			t.Errorf("no %q in:\n%s", text, out)
		}
	}
}

// The program's own help is what a newcomer needs, and ends with what Riot asks for.
func TestHelp_BeginsWithAFewCommands(t *testing.T) {
	t.Parallel()
	out := command{args: words("--help")}.asked(t).wants(t, exitDone).stdout
	shown := 0
	for _, c := range newRoot().Commands() {
		if strings.Contains(out, "\n    "+c.Name()+" ") {
			shown++
		}
	}
	if shown != len(common) || shown != 12 || !strings.Contains(out, "\n    collect ") || !strings.Contains(out, "farsight help --all") {
		t.Errorf("%d commands in:\n%s", shown, out)
	}
	if !strings.HasSuffix(out, "Riot Games, Inc.\n") {
		t.Errorf("the notice is not at its end:\n%s", out)
	}
	all := command{args: words("help --all")}.asked(t).wants(t, exitDone).stdout
	if !strings.Contains(all, "\n    forensics ") {
		t.Errorf("not all commands:\n%s", all)
	}
}

// Those of commands that have commands below them were listed twice.
func TestHelp_ListsEachFlagOnce(t *testing.T) {
	t.Parallel()
	for _, line := range []string{"export", "pager", "config", "schedules"} {
		shown := map[string]int{}
		_, list, _ := strings.Cut(command{args: words(line + " --help")}.asked(t).wants(t, exitDone).stdout, "FLAGS\n")
		for row := range strings.Lines(list) {
			if name := strings.TrimSpace(row); strings.HasPrefix(name, "--") {
				shown[strings.Fields(name)[0]]++
			}
		}
		for name, n := range shown {
			if n > 1 {
				t.Errorf("%s lists %s %d times", line, name, n)
			}
		}
		if shown["--data-dir"] == 0 {
			t.Errorf("%s: %v", line, shown)
		}
	}
}

func TestHelp_AFlagThatIsNearIsNamed(t *testing.T) {
	t.Parallel()
	for line, want := range map[string]string{
		"jobs --colums id": "did you mean --columns?", "jobs --lmit 3": "did you mean --limit?", "jobs --xyzzy": "there is no flag --xyzzy: see",
		"serve --htpp 127.0.0.1:7171": "did you mean --http?", // --help is two letters off
		"log --limit 3":               "no command \"log\": did you mean logs?", "pager tst --yes": "no command \"tst\": did you mean test?", "config int": "did you mean init?", "hlep": "did you mean help?",
		"syn --force": "no command \"syn\": did you mean sync?", "sync --force-network": "--force-network: see", // that is hidden
		"jobs --state dead": "the filter tells it, as 'state:…'", "jobs -n 5": "there is no flag -n: see", "jobs -o": "--output needs a value",
		"--json jobs": "there is no flag --json: those of a command stand behind it. See",
	} {
		if got := (command{args: words(line)}).asked(t).wants(t, exitUsage).stderr; !strings.Contains(got, want) {
			t.Errorf("farsight %s: %s", line, got)
		}
	}
}

// Help asks the terminal nothing: one that does not answer would hold it up for seconds, and what
// another answers late would be typed into the shell.
func TestB16c_HelpAsksTheTerminalNothing(t *testing.T) {
	t.Parallel()
	for _, args := range []string{"--help", "sync --help", "--data-dir x -h", "help jobs"} {
		p, _, seen := onTerminal(t, words(args), map[string]string{})
		p.wait().wants(t, exitDone)
		p.until("the help", func() bool { return strings.Contains(seen.String(), "EXAMPLES") })
		if out := seen.String(); strings.Contains(out, "\x1b]11") || strings.Contains(out, "\x1b[c") {
			t.Errorf("farsight %s asks the terminal: %.200q", args, out)
		}
	}
}

// A program that `go install` has made is of the same version as the release's: else it is told for another.
func TestVersion_IsOneHoweverItIsBuilt(t *testing.T) {
	for module, want := range map[string]string{"v0.1.0": "0.1.0", "(devel)": "development", "": "development"} {
		if got := released(module); got != want {
			t.Errorf("%q is %q, want %q", module, got, want)
		}
	}
}
