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
	// A word below a command that has commands of its own is a mistyped command, not an argument.
	near := ""
	// Of a word of two or three letters every other one is near: one letter may be wrong.
	cmd.SuggestionsMinimumDistance = min(cmd.SuggestionsMinimumDistance, len(args[0])/2)
	if names := cmd.SuggestionsFor(args[0]); len(names) > 0 {
		near = "did you mean " + strings.Join(names, " or ") + "? "
	}
	return usagef("there is no command %q: %ssee `%s --help`", args[0], near, cmd.CommandPath())
}

// exactlyOne refuses any other number of arguments in a sentence that has the command at its %s, as
// does atMostOne.
func exactlyOne(sentence string) cobra.PositionalArgs {
	return func(cmd *cobra.Command, args []string) error {
		if len(args) == 1 {
			return nil
		}
		return usagef(sentence, cmd.CommandPath())
	}
}

// atMostOne refuses more than one argument, in a sentence like that of [exactlyOne].
func atMostOne(sentence string) cobra.PositionalArgs {
	return func(cmd *cobra.Command, args []string) error {
		if len(args) <= 1 {
			return nil
		}
		return usagef(sentence, cmd.CommandPath())
	}
}

var (
	// oneAccount is for commands about one account.
	oneAccount = exactlyOne("name one account, in quotes: %s 'Name#TAG' --platform euw1")
	// oneFilter is for lists.
	oneFilter = atMostOne("give one filter at most, in quotes if it holds spaces: %s 'some text'")
)

// oneAtMost is for commands about one thing that has a usual choice; what names it in
// a sentence, such in an example.
func oneAtMost(what, such string) cobra.PositionalArgs {
	return atMostOne("name one " + what + " at most: %s " + such)
}
