package app

import (
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

// configured lets a command run with its configuration.
func configured(run func(cmd *cobra.Command, cfg config.Config, args []string) error) func(*cobra.Command, []string) error {
	return func(cmd *cobra.Command, args []string) error {
		cfg, err := configOf(cmd)
		if err != nil {
			return err
		}
		return run(cmd, cfg, args)
	}
}

// telling lets a command show what the console of the engine that runs, or else of what is stored, tells.
func telling(of func(args []string) (cli.List, error)) func(*cobra.Command, []string) error {
	return configured(func(cmd *cobra.Command, cfg config.Config, args []string) error {
		l, err := of(args)
		if err != nil {
			return err
		}
		return browse(cmd.Context(), cfg, func(c engine.Console) error { return l.Show(cmd.Context(), c, stdout(cmd)) })
	})
}

// engineConfig is configOf for a command that starts an engine: it names on the
// standard error what is configured and not needed.
func engineConfig(cmd *cobra.Command) (config.Config, error) {
	cfg, err := configOf(cmd)
	for _, sentence := range cfg.Unneeded {
		_, _ = fmt.Fprintln(cmd.ErrOrStderr(), "farsight: "+sentence)
	}
	return cfg, err
}

func flagBool(cmd *cobra.Command, name string) bool {
	v, err := cmd.Flags().GetBool(name)
	return err == nil && v
}

// addActFlags gives a command the flags of all that act. reason is where --reason goes; nil = nobody is asked for one, or
// the command has its own.
func addActFlags(cmd *cobra.Command, reason *string) {
	if reason != nil {
		cmd.Flags().StringVar(reason, "reason", "", "why; kept in the audit")
	}
	addDryRun(cmd)
	cmd.Flags().Bool("json", false, "the receipt as JSON")
}

func addDryRun(cmd *cobra.Command) {
	cmd.Flags().Bool("dry-run", false, "say what would be done, and do nothing")
}

// stdout is where a command prints, and how.
func stdout(cmd *cobra.Command) cli.Out {
	o := cli.Out{W: cmd.OutOrStdout(), JSON: flagBool(cmd, "json"), ASCII: themes.DetectASCII(os.Getenv)}
	if f, ok := o.W.(*os.File); ok && term.IsTerminal(int(f.Fd())) {
		if w, h, err := term.GetSize(int(f.Fd())); err == nil {
			o.Width = w
			if os.Getenv("TERM") != "dumb" {
				o.Height = h
			}
		}
	}
	return o
}

// stdoutPlain is standard output for a mode that was not started by its command.
func stdoutPlain() cli.Out { return cli.Out{W: os.Stdout} }

// operator is who runs a command.
func operator(via string) engine.Actor {
	user := os.Getenv("USER")
	if user == "" {
		user = fmt.Sprintf("uid %d", os.Getuid())
	}
	session := ""
	if from := os.Getenv("SSH_CONNECTION"); from != "" {
		_, _ = fmt.Sscan(from, &session)
	}
	return engine.Actor{User: user, Session: session, Via: via}
}

// defaultSeed is the demo's, unless told.
const defaultSeed = 7

// addSeed gives a command that has a simulator the flag of its world.
func addSeed(f *pflag.FlagSet, seed *uint64) {
	f.Uint64Var(seed, "seed", defaultSeed, "players, histories and faults follow from it")
}

// partHelp is for the short lists.
const partHelp = "The filter is a part of a name."

// nothingHidden is what --all says where it adds nothing: scripts may give it to
// every list.
const nothingHidden = "taken by every list; this one hides nothing"

// wordList writes words as a sentence has them: a, b or c.
func wordList(words []string, and string) string {
	last := len(words) - 1
	return strings.Join(words[:last], ", ") + " " + and + " " + words[last]
}
