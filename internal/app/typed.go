package app

import (
	"context"
	"fmt"
	"io"
	"slices"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"github.com/farsight-console/farsight/engine"
	"github.com/farsight-console/farsight/internal/config"
	"github.com/farsight-console/farsight/riot/route"
)

// Command lines that are typed in a console of lines. They are those of the program, carried out by that console.

type (
	typedKey struct{}
	// typedAt is what a command line that was typed has of its console.
	typedAt struct {
		on  engine.Console
		cfg config.Config
	}
	// treeKey is the key of a function that makes the command tree. It comes by the context, since commands of
	// the tree itself open the console.
	treeKey struct{}
)

// typedIn is the console in which the command line was typed; nil = it was typed in a shell.
func typedIn(ctx context.Context) engine.Console {
	if ctx == nil { // of a command that is not carried out
		return nil
	}
	t, _ := ctx.Value(typedKey{}).(typedAt)
	return t.on
}

// typedBy gives what carries out command lines in a console that was opened with a configuration.
func typedBy(cfg config.Config) func(context.Context, engine.Console, []string, io.Reader, io.Writer) error {
	return func(ctx context.Context, on engine.Console, args []string, in io.Reader, out io.Writer) error {
		return typedLine(context.WithValue(ctx, typedKey{}, typedAt{on, cfg}), args, in, out)
	}
}

// config is the console's own configuration, with the platform of the line.
func (t typedAt) config(f *pflag.FlagSet) (config.Config, error) {
	if p := f.Lookup("platform"); p != nil && p.Changed {
		platform, err := route.ParsePlatform(p.Value.String())
		if err != nil {
			return t.cfg, usagef("--platform: %v", err)
		}
		t.cfg.Platform = string(platform)
	}
	return t.cfg, nil
}

// refuseLocal refuses flags that are about the machine and not the engine: who types may sit at another one.
func refuseLocal(cmd *cobra.Command) (err error) {
	settings := cmd.Root().PersistentFlags()
	cmd.Flags().Visit(func(f *pflag.Flag) {
		switch {
		case f.Name == "file":
			err = usagef("--file is for a shell, since it reads and writes files: name each account alone here, such as track 'Name#TAG'")
		case f.Name == "players":
			err = usagef("--players is for a shell, since it reads a file: name a player by --from 'Name#TAG' here")
		case f.Name != "platform" && settings.Lookup(f.Name) != nil:
			err = usagef("--%s is for a shell: here the settings hold with which the console was opened", f.Name)
		}
	})
	return err
}

// typedLine carries out a command line by the console of ctx.
func typedLine(ctx context.Context, args []string, in io.Reader, out io.Writer) error {
	root := ctx.Value(treeKey{}).(func() *cobra.Command)()
	root.Long = "" // which is about the shell
	refuse := func(c *cobra.Command, instead string) {
		c.Hidden, c.DisableFlagParsing, c.Args = true, true, cobra.ArbitraryArgs
		c.RemoveCommand(c.Commands()...)
		c.RunE = func(*cobra.Command, []string) error {
			return usagef("`%s` is for a shell: %s", c.CommandPath(), instead)
		}
	}
	for _, c := range root.Commands() {
		switch {
		case c.Name() == "sync":
			refuse(c, "trigger 'Name#TAG' starts a sync, and how far it is will be told here")
		case c.Name() == "key":
			refuse(c, "a key that is typed here would stay on the screen")
		case !asksEngine(c):
			refuse(c, "here is what an engine can be asked for, see help")
		}
	}
	root.PersistentPreRunE = func(cmd *cobra.Command, _ []string) error {
		if cmd == root || flagBool(cmd, "watch") || flagBool(cmd, "follow") {
			return usagef("what changes is told here as it comes: name a command alone, such as jobs")
		}
		return refuseLocal(cmd)
	}
	root.SilenceErrors, root.SilenceUsage = true, true
	root.SetArgs(args)
	root.SetIn(in)
	root.SetOut(out)
	root.SetErr(out)
	if slices.Equal(args, []string{"help"}) {
		for _, c := range root.Commands() {
			if !c.Hidden {
				_, _ = fmt.Fprintf(out, "%s: %s.\n", c.Use, c.Short)
			}
		}
		return nil
	}
	return root.ExecuteContext(ctx)
}

// asksEngine reports whether a command asks an engine and nobody else, and does not wait for long.
func asksEngine(c *cobra.Command) bool {
	switch c.Name() {
	case "help", "forget", "collect":
		return true
	case "doctor", "bundle", "pager":
		return false
	}
	return slices.Contains([]string{groupAccounts, groupSee, groupWhy, groupAct}, c.GroupID)
}
