package app

import (
	"strings"

	"github.com/spf13/cobra"
)

// noArgs is for commands that take none.
func noArgs(cmd *cobra.Command, args []string) error {
	switch {
	case len(args) == 0:
		return nil
	case !cmd.HasAvailableSubCommands():
		return usagef("`%s` takes no %q: see `%s --help`", cmd.CommandPath(), args[0], cmd.CommandPath())
	}
	near := ""
	if names := cmd.SuggestionsFor(args[0]); len(names) > 0 {
		near = "did you mean " + strings.Join(names, " or ") + "? "
	}
	return usagef("there is no command %q: %ssee `%s --help`", args[0], near, cmd.CommandPath())
}

// oneAccount is for commands about one account.
func oneAccount(cmd *cobra.Command, args []string) error {
	if len(args) == 1 {
		return nil
	}
	return usagef("name one account, in quotes: %s 'Name#TAG' --platform euw1", cmd.CommandPath())
}

// oneFilter is for lists.
func oneFilter(cmd *cobra.Command, args []string) error {
	if len(args) <= 1 {
		return nil
	}
	return usagef("give one filter at most, in quotes if it holds spaces: %s 'some text'", cmd.CommandPath())
}

// oneAtMost is for commands about one thing that has a usual choice; what names it in
// a sentence, such in an example.
func oneAtMost(what, such string) cobra.PositionalArgs {
	return func(cmd *cobra.Command, args []string) error {
		if len(args) <= 1 {
			return nil
		}
		return usagef("name one %s at most: %s %s", what, cmd.CommandPath(), such)
	}
}
