package app

import (
	"context"
	"fmt"
	"io"
	"slices"

	"github.com/spf13/cobra"

	"github.com/farsight-console/farsight/engine"
)

// Command lines that are typed in a console of lines. They are those of the program, carried out by that console.

type (
	typedKey struct{}
	// treeKey is of what makes the command tree. Main gives it along, since commands of the tree open the console.
	treeKey struct{}
)

// typedIn is the console in which the command line was typed; nil = it was typed in a shell.
func typedIn(ctx context.Context) engine.Console {
	if ctx == nil { // of a command that is not carried out
		return nil
	}
	on, _ := ctx.Value(typedKey{}).(engine.Console)
	return on
}

// typedLine carries out a command line by a console.
func typedLine(ctx context.Context, on engine.Console, args []string, in io.Reader, out io.Writer) error {
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
		return nil
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
	return root.ExecuteContext(context.WithValue(ctx, typedKey{}, on))
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
