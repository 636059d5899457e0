package app

import (
	"bufio"
	"cmp"
	"errors"
	"fmt"
	"os"
	"strings"
	"time"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"
	"golang.org/x/term"

	"github.com/farsight-console/farsight/engine"
	"github.com/farsight-console/farsight/engine/safe"
	"github.com/farsight-console/farsight/internal/config"
	"github.com/farsight-console/farsight/themes"
	"github.com/farsight-console/farsight/ui/cli"
)

// configOf is the configuration that a command runs with.
func configOf(cmd *cobra.Command) (config.Config, error) {
	return config.Load(config.Inputs{Flags: cmd.Flags(), Getenv: os.LookupEnv})
}

// flagBool reads a flag that not every command has; false where there is none.
func flagBool(cmd *cobra.Command, name string) bool {
	v, err := cmd.Flags().GetBool(name)
	return err == nil && v
}

// stdout is where a command prints, and how.
func stdout(cmd *cobra.Command) cli.Out {
	o := cli.Out{W: cmd.OutOrStdout(), JSON: flagBool(cmd, "json"), ASCII: themes.DetectASCII(os.Getenv)}
	if f, ok := o.W.(*os.File); ok && term.IsTerminal(int(f.Fd())) {
		// Without a width lines are not cut; without a height nothing is drawn over.
		if w, h, err := term.GetSize(int(f.Fd())); err == nil {
			o.Width = w
			if os.Getenv("TERM") != "dumb" {
				o.Height = h
			}
		}
	}
	if !o.JSON && term.IsTerminal(int(os.Stderr.Fd())) {
		o.Wait = func(text string) { _, _ = fmt.Fprint(os.Stderr, "\r\x1b[K", text) }
	}
	return o
}

// stdoutPlain is standard output for a mode that was not started by its command.
func stdoutPlain() cli.Out { return cli.Out{W: os.Stdout} }

// operator is who runs a command.
func operator(via string) engine.Actor {
	// A service has no USER. "uid 998" is what `ls -n` shows of its files.
	user := cmp.Or(os.Getenv("USER"), os.Getenv("USERNAME"), fmt.Sprintf("uid %d", os.Getuid()))
	// "192.0.2.7 51234 192.0.2.1 22": the first word is where somebody sits.
	session, _, _ := strings.Cut(os.Getenv("SSH_CONNECTION"), " ")
	return engine.Actor{User: user, Session: session, Via: via}
}

// defaultSeed is the demo's, unless told.
const defaultSeed = 7

// addSeed gives a command that has a simulator the flag of its world.
func addSeed(f *pflag.FlagSet, seed *uint64) {
	f.Uint64Var(seed, "seed", defaultSeed, "players, histories and faults follow from it")
}

// texts are names of a type of their own, such as platforms, as plain text.
func texts[T ~string](names []T) []string {
	out := make([]string, len(names))
	for i, name := range names {
		out[i] = string(name)
	}
	return out
}

// wordList writes words as a sentence has them: a, b or c.
func wordList(words []string, and string) string {
	last := len(words) - 1
	return strings.Join(words[:last], ", ") + " " + and + " " + words[last]
}

// flagged is what a flag was given.
type flagged struct{ flag, value string }

// instant reads a flag for an instant or one for a time from now; exactly one of them.
func instant(at, in flagged, now time.Time) (time.Time, error) {
	switch {
	// both, or none
	case (at.value == "") == (in.value == ""):
		return time.Time{}, usagef("say when: --%[1]s 18:30, --%[1]s 2026-11-21T18:30:00Z or --%[2]s 10m", at.flag, in.flag)
	case in.value != "":
		d, err := time.ParseDuration(in.value)
		if err != nil || d < 0 {
			return time.Time{}, usagef("--%s %q is no time from now: use 90s, 10m or 2h", in.flag, in.value)
		}
		return now.Add(d), nil
	}
	return clock(at.value, now)
}

// ahead is an instant that is still to come.
// An instant that has passed would freeze nothing and look as if it had; [instant] takes one,
// because a job that is due in the past is merely due.
func ahead(at, in flagged, now time.Time) (time.Time, error) {
	t, err := instant(at, in, now)
	if err != nil || t.After(now) {
		return t, err
	}
	if at.value == "" {
		at = in
	}
	return t, usagef("--%s %q has passed: give an instant in the future", at.flag, at.value)
}

// clock reads an instant: RFC 3339, or a time of day, the next one to come.
func clock(s string, now time.Time) (time.Time, error) {
	if t, err := time.Parse(time.RFC3339, s); err == nil {
		return t, nil
	}
	// 23:50 typed at 00:10 is tonight, 00:05 is tomorrow: nobody who plans ahead means a time that
	// has gone by. The date is put together from its fields, so that a change of the clocks between
	// now and then does not move the hour.
	for _, layout := range []string{"15:04", "15:04:05"} {
		d, err := time.ParseInLocation(layout, s, now.Location())
		if err != nil {
			continue
		}
		at := time.Date(now.Year(), now.Month(), now.Day(), d.Hour(), d.Minute(), d.Second(), 0, now.Location())
		if !at.After(now) {
			at = at.AddDate(0, 0, 1)
		}
		return at, nil
	}
	return time.Time{}, usagef("%q is no instant: use 18:30 or 2026-11-21T18:30:00Z", s)
}

// asks reports whether somebody can be asked. With --json nobody reads the question, even on a terminal.
func (g given) asks() bool { return term.IsTerminal(int(os.Stdin.Fd())) && !g.out.JSON }

// confirm asks before what cannot be undone, unless --yes was said: it shows what would be done and wants the word. does
// says it to those who cannot be asked; undone, to those who type something else, that nothing was.
func (g given) confirm(word, would, does, undone string) error {
	// What is typed is compared with what is shown: a name with signs that a terminal cannot show
	// could never be typed otherwise.
	shown := strings.TrimSpace(safe.Text(word))
	switch {
	case g.yes:
		return nil
	case !g.asks():
		return usagef("%s: say --yes, or see --dry-run", does)
	}
	_, _ = fmt.Fprintf(g.out.W, "%s\ntype %s to go on: ", safe.Text(would), shown)
	// The end of the input is an empty answer, which is not the word.
	line, _ := bufio.NewReader(g.cmd.InOrStdin()).ReadString('\n')
	if !strings.EqualFold(strings.TrimSpace(line), shown) {
		return usagef("%s: %s was not typed", undone, shown)
	}
	return nil
}

// yesNo shows what would be done and wants the word yes, typed whole. Unlike [given.confirm] it
// takes any other answer for a change of mind, which is no wrong usage.
func (g given) yesNo(does, undone string, show func() error) error {
	switch {
	case g.yes:
		return nil
	case !g.asks():
		return usagef("%s: say --yes, or see --dry-run", does)
	}
	if err := show(); err != nil {
		return err
	}
	_, _ = fmt.Fprint(g.out.W, "type yes to go on: ")
	var answer string
	if _, _ = fmt.Scanln(&answer); answer != "yes" {
		return errors.New(undone)
	}
	return nil
}
