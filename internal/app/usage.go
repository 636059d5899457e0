package app

import (
	"cmp"
	"errors"
	"fmt"
	"strconv"
	"strings"
	"sync/atomic"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"github.com/farsight-console/farsight/storage"
)

// flagFault says what is wrong with a flag in words of ours: pflag's own would
// show how Go reads a number.
func flagFault(cmd *cobra.Command, err error) error {
	help := cmd.CommandPath() + " --help"
	if bad, ok := errors.AsType[*pflag.InvalidValueError](err); ok {
		// pflag says: invalid argument "x" for "--count" flag: strconv.ParseInt: parsing "x": invalid
		// syntax.
		f := bad.GetFlag()
		return usagef("--%s %q is no %s: see `%s`", f.Name, bad.GetValue(), cmp.Or(valueWords[f.Value.Type()], f.Value.Type()), help)
	}
	if unknown, ok := errors.AsType[*pflag.NotExistError](err); ok {
		name := unknown.GetSpecifiedName()
		// `farsight undo -1` is no flag: -1 would be the flag 1.
		if _, err := strconv.ParseUint(name, 10, 64); err == nil {
			return usagef("%q is no flag: numbers are written without a dash: see `%s`", "-"+unknown.GetSpecifiedShortnames(), help)
		}
		// Cobra measures how far words are apart, for commands alone.
		flags := &cobra.Command{SuggestionsMinimumDistance: cmd.Root().SuggestionsMinimumDistance}
		cmd.Flags().VisitAll(func(f *pflag.Flag) {
			flags.AddCommand(&cobra.Command{Use: f.Name, Run: func(*cobra.Command, []string) {}})
		})
		if near := flags.SuggestionsFor(name); len(near) > 0 {
			return usagef("there is no flag --%s: did you mean --%s? See `%s`", name, near[0], help)
		}
	}
	return usagef("%w: see `%s`", err, help)
}

// valueWords name what a flag of pflag's types takes, behind "is no"; else it is pflag's own word.
var valueWords = map[string]string{
	"int": "whole number", "uint64": "whole number from 0 on", "float64": "number", "bool": "true or false",
	"duration": "length of time such as 90s, 10m or 2h",
}

// helpCommand is cobra's own, but for a topic that does not exist.
func helpCommand(root *cobra.Command) *cobra.Command {
	all := false
	c := &cobra.Command{
		Use: "help [command]", GroupID: groupSetup, Short: "Help about any command", Example: "farsight help sync",
		RunE: func(_ *cobra.Command, args []string) error {
			// Find stops at the first word that is no command, and gives the rest.
			cmd, rest, err := root.Find(args)
			if err != nil {
				return noArgs(root, args)
			}
			if len(rest) > 0 && cmd.HasAvailableSubCommands() {
				return noArgs(cmd, rest)
			}
			if cmd == root {
				showMain(root, all)
			} else {
				showHelp(root, cmd)
			}
			return nil
		},
		ValidArgsFunction: func(_ *cobra.Command, args []string, begun string) ([]cobra.Completion, cobra.ShellCompDirective) {
			cmd, _, err := root.Find(args)
			if err != nil {
				return nil, cobra.ShellCompDirectiveNoFileComp
			}
			var words []cobra.Completion
			for _, sub := range cmd.Commands() {
				if sub.IsAvailableCommand() && strings.HasPrefix(sub.Name(), begun) {
					words = append(words, cobra.CompletionWithDesc(sub.Name(), sub.Short))
				}
			}
			return words, cobra.ShellCompDirectiveNoFileComp
		},
	}
	c.Flags().BoolVar(&all, "all", false, "Every command")
	return c
}

// shellExamples are how the completion of each shell is taken into a session.
var shellExamples = map[string]string{
	"bash":       "source <(farsight completion bash)",
	"fish":       "farsight completion fish | source",
	"powershell": "farsight completion powershell | Out-String | Invoke-Expression",
	"zsh":        "source <(farsight completion zsh)",
}

// shells makes cobra's command for completion scripts name the shells that there are.
func shells(root *cobra.Command) {
	root.InitDefaultCompletionCmd()
	// Cobra has just made it, and tells it from no other but by its name.
	for _, c := range root.Commands() {
		if c.Name() != "completion" {
			continue
		}
		c.Args, c.Example = noArgs, shellExamples["bash"]
		c.RunE = func(*cobra.Command, []string) error {
			return usagef("say for which shell: farsight completion bash, zsh, fish or powershell")
		}
		for _, sub := range c.Commands() {
			sub.Args, sub.Example = noArgs, shellExamples[sub.Name()]
		}
	}
}

// Exit codes.
const (
	exitDone        = 0
	exitFailed      = 1
	exitUsage       = 2
	exitIncomplete  = 3 // some matches could not be had, some lines were rejected, or the store is damaged
	exitHeld        = 4 // the data directory belongs to another process
	exitCancelled   = 5 // an operator cancelled the sync
	exitInterrupted = 130
)

// coded is an error with an exit code of its own. A quiet one was told already.
type coded struct {
	code  int
	err   error
	quiet bool
}

// Error is that of the error inside.
func (c *coded) Error() string { return c.err.Error() }

// Unwrap gives what to look for with errors.Is and errors.AsType.
func (c *coded) Unwrap() error { return c.err }

// usage marks an error as the caller's: wrong words on the command line.
func usage(err error) error {
	if err == nil {
		return nil
	}
	return &coded{code: exitUsage, err: err}
}

// usagef makes such an error of a sentence: what is wrong, and what to write instead.
func usagef(format string, args ...any) error { return usage(fmt.Errorf(format, args...)) }

// isHeld reports whether an error says that another process has the directory.
func isHeld(err error) bool {
	_, held := errors.AsType[*storage.ErrHeld](err)
	return held
}

// opening counts the stores that are just being opened.
var opening atomic.Int32
