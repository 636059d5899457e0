package app

import (
	"cmp"
	"fmt"
	"os"
	"strings"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"
	"golang.org/x/term"

	"github.com/farsight-console/farsight/engine"
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
