package app

import (
	"errors"
	"strings"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"
)

// flagFault says what is wrong with a flag in words of ours: pflag's own would
// show how Go reads a number.
func flagFault(cmd *cobra.Command, err error) error {
	help := cmd.CommandPath() + " --help"
	if bad, ok := errors.AsType[*pflag.InvalidValueError](err); ok {
		f := bad.GetFlag()
		return usagef("--%s %q is no %s: see `%s`", f.Name, bad.GetValue(), valueWord(f), help)
	}
	return usagef("%w: see `%s`", err, help)
}

// valueWords name what a flag of pflag's types takes.
var valueWords = map[string]string{
	"int": "whole number", "uint64": "whole number from 0 on", "float64": "number", "bool": "true or false",
}

func valueWord(f *pflag.Flag) string {
	if word, ok := valueWords[f.Value.Type()]; ok {
		return word
	}
	return f.Value.Type()
}

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
